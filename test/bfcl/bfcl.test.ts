// needs: pypi

import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { execa } from 'execa'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { BfclSummary } from '../../lab/bfcl/report.js'
import { checkout } from '../support/checkout.js'
import { PATIENCE_MS, patience } from '../support/patience.js'
import { stated } from '../support/stated.js'

// The real package against the real server. The first run installs the package into `.cache/`.
const test = suite<{ folder: string }>('BFCL')
const model = join(checkout, 'models', 'demo', 'prove-demo-base-f16.gguf')

test.before(
  stated(async (context) => {
    context.folder = await mkdtemp(join(tmpdir(), 'prove-bfcl-'))
  }),
)
test.after(({ folder }) => rm(folder, { recursive: true }))

const CATEGORIES = ['simple_python', 'irrelevance', 'multi_turn_base']
const MEASURED = [
  ...['bfcl', '--model', model, '--category', ...CATEGORIES, '--cases', '3', '--seed', '5'],
  ...['--max-tokens', '48', '--cpu', '--threads', '1'],
]

const lab = (cwd: string, ...args: readonly string[]) =>
  execa(process.execPath, [join(checkout, 'dist', 'lab', 'main.js'), ...args], {
    ...{ cwd, stdin: 'ignore', reject: false, timeout: 10 * PATIENCE_MS },
    env: { NO_COLOR: '1', FORCE_COLOR: undefined },
  })

const answersIn = async (out: string): Promise<string[]> => {
  const names = await readdir(out, { recursive: true }).catch(() => [])
  const files = names.filter((name) => /\/result\/.*_result\.json$/.test(name))
  const texts = await Promise.all(files.map((name) => readFile(join(out, name), 'utf8')))
  return texts.flatMap((text) => text.split('\n').filter((line) => line.endsWith('}')))
}

test('a killed measurement continues with the missing cases, and scores like an uninterrupted one', async ({
  folder,
}) => {
  const whole = await lab(folder, ...MEASURED, '--out', 'whole', '--json')
  assert.is(whole.exitCode, 0, whole.stderr)
  const summary = JSON.parse(whole.stdout) as BfclSummary
  assert.equal(
    [summary.version, summary.all],
    ['2026.3.23', { simple_python: 400, irrelevance: 240, multi_turn_base: 200 }],
  )
  assert.equal(
    summary.policies.map(({ label, categories }) => [
      label,
      categories.map(({ category, cases }) => [category, cases]),
    ]),
    [['base', CATEGORIES.map((category) => [category, 3])]],
  )

  const out = join(folder, 'killed')
  const killed = lab(folder, ...MEASURED, '--out', 'killed')
  for (const within = patience(); (await answersIn(out)).length < 2; await sleep(20)) within.throwIfAborted()
  killed.kill('SIGKILL')
  await killed
  const before = await answersIn(out)
  assert.ok(before.length < 9, 'the kill came too late')
  const resumed = await lab(folder, ...MEASURED, '--out', 'killed', '--json')
  assert.is(resumed.exitCode, 0, resumed.stderr)
  assert.equal(JSON.parse(resumed.stdout), summary)
  const after = new Set(await answersIn(out))
  assert.is(after.size, 9)
  assert.ok(
    before.every((line) => after.has(line)),
    'a case was asked again',
  )
  assert.equal(JSON.parse(await readFile(join(out, 'summary.json'), 'utf8')), summary)
})

test('an unknown category and a server that cannot start are named', async ({ folder }) => {
  const unknown = await lab(folder, 'bfcl', '--model', model, '--category', 'web_search_base')
  assert.is(unknown.exitCode, 2)
  assert.match(unknown.stderr, /Allowed choices are simple_python, simple_java/)
  const adapter = ['--adapter', join(checkout, 'package.json'), '--no-base', '--cases', '1']
  const broken = await lab(folder, 'bfcl', '--model', model, ...adapter, '--category', 'multiple', '--out', 'broken')
  assert.is(broken.exitCode, 1)
  assert.match(broken.stderr, /server_failed: prove-node serve ended with status 1: /)
})

test.run()
