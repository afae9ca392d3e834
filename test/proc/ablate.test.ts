// needs: python

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { execa } from 'execa'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import '../../swarm/polyfill.js'
import { checkout } from '../support/checkout.js'
import { writeDemoTasks } from '../support/demo-tasks.js'
import { PATIENCE_MS } from '../support/patience.js'
import { demoModel, machinesOf } from '../support/programs.js'

/** `prove-lab ablate` with the real engine and the real trainer. */

const test = suite('prove-lab ablate')
const machine = machinesOf(test)

test('ablate trains a policy per variant and compares them; after a stop the same command resumes without repeated work', async () => {
  const { folder } = await machine()
  await writeDemoTasks(join(folder, 'tasks'), 24, 4)
  const args = [
    ...['ablate', '--model', demoModel(), '--dataset', 'tasks', '--out', 'out', '--variants', 'no-name'],
    ...['--seeds', '1', '--steps', '1', '--batch-groups', '2', '--group-size', '4', '--tasks', '4', '--samples', '1'],
    ...['--workers', '1'],
  ]
  const ablate = (...more: string[]) =>
    execa(process.execPath, [join(checkout, 'dist', 'lab', 'main.js'), ...args, ...more], {
      ...{ cwd: folder, reject: false, timeout: PATIENCE_MS, stdin: 'ignore' },
      env: { NO_COLOR: '1', FORCE_COLOR: undefined },
    })
  const first = ablate()
  // The base's row is there; a training has begun.
  first.stderr.on('data', (text) => {
    if (/0 of 1 steps of no-name-seed-0/.test(String(text))) first.kill('SIGINT')
  })
  const stopped = await first
  assert.is(stopped.exitCode, 130, stopped.stderr)
  assert.match(stopped.stderr, /1 of 2: base, seed 0/)
  assert.match(stopped.stderr, /interrupted: run the same command again to resume/)
  const done = await ablate()
  assert.is(done.exitCode, 0, done.stderr)
  assert.match(done.stdout, /\| no-name \| 1 \|/)
  assert.equal(await readdir(join(folder, 'out', 'adapters')), ['no-name-seed-0.gguf'])
  assert.equal(await readdir(join(folder, 'out', 'training')), [], 'nothing is left of a spool')
  const again = await ablate()
  assert.is(again.stdout, done.stdout)
  assert.not.match(again.stderr, /steps of/)
  const lines = (await readFile(join(folder, 'out', 'results.jsonl'), 'utf8')).trim().split('\n')
  assert.is(lines.length, 3)
  const other = await ablate('--steps', '2')
  assert.is(other.exitCode, 1)
  assert.match(other.stderr, /results\.jsonl belongs to another/)
})

test.run()
