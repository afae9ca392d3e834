import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { completionScript, SHELLS, withCommands } from '../../../common/cli/index.js'
import { allPrograms } from '../../support/program-trees.js'

const programs = (await allPrograms()).filter(({ name }) => name !== 'prove-swarm')
const trees = await Promise.all(programs.map((program) => withCommands(program)))

/** Returns what bash offers after the words, of which the last one is unfinished. */
function offered(...words: string[]): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'prove-completion-'))
  try {
    writeFileSync(join(folder, 'notes.txt'), '')
    writeFileSync(join(folder, 'prove.bash'), completionScript('bash', trees, 'prove-swarm'))
    const ask = `source ./prove.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _prove_complete; printf "%s\\n" "\${COMPREPLY[@]}"`
    const { stdout, stderr } = spawnSync('bash', ['-c', ask, 'bash', ...words], { cwd: folder, encoding: 'utf8' })
    assert.is(stderr, '')
    return stdout.split('\n').filter((line) => line !== '')
  } finally {
    rmSync(folder, { recursive: true })
  }
}

test('bash offers commands, subcommands, options, values and files', () => {
  assert.equal(offered('prove-node', 'ad'), ['adapters'])
  assert.equal(offered('/usr/bin/prove-node', 'adapters', 'pu'), ['pull', 'push'])
  assert.equal(offered('prove-coordinator', 'start', '--exit'), ['--exit-when-complete'])
  assert.equal(offered('prove-lab', 'eval', '--split', ''), ['train', 'validation', 'held-out'])
  assert.equal(offered('prove-coordinator', 'start', '--config', 'no'), ['notes.txt'])
  assert.equal(offered('prove-node', 'bench', '--group-size', ''), [], 'nothing for a number')
})

test('bash completes the programs under prove-swarm like the programs themselves', () => {
  assert.equal(offered('prove-swarm', ''), ['node', 'coordinator', 'server', 'lab', 'completion'])
  assert.equal(offered('prove-swarm', 'node', 'adapters', 'pu'), ['pull', 'push'])
  assert.equal(offered('prove-swarm', 'completion', ''), [...SHELLS])
})

test('the scripts of all shells name all programs and options', () => {
  for (const shell of SHELLS) {
    const script = completionScript(shell, trees, 'prove-swarm')
    for (const word of ['prove-swarm', 'prove-server', '--max-temperature', 'prove-lab dataset verify'])
      assert.ok(script.includes(word), `${shell}: ${word}`)
  }
})

test.run()
