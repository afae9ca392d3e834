import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { execa } from 'execa'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Summary } from '../../lab/evaluation/summary.js'
import { checkout } from '../support/checkout.js'
import { writeDemoTasks } from '../support/demo-tasks.js'
import { PATIENCE_MS, patience } from '../support/patience.js'
import { stated } from '../support/stated.js'
import { withServedModel } from './served-model.js'

const test = suite<{ folder: string }>('measuring of policies')
const model = join(checkout, 'models', 'demo', 'prove-demo-base-f16.gguf')

test.before(
  stated(async (context) => {
    context.folder = await mkdtemp(join(tmpdir(), 'prove-eval-'))
    await writeDemoTasks(join(context.folder, 'tasks'), 2, 12)
  }),
)
test.after(({ folder }) => rm(folder, { recursive: true }))

const lab = (cwd: string, ...args: readonly string[]) =>
  execa(process.execPath, [join(checkout, 'dist', 'lab', 'main.js'), ...args], {
    ...{ cwd, stdin: 'ignore', reject: false, timeout: PATIENCE_MS },
    env: { NO_COLOR: '1', FORCE_COLOR: undefined, OPENAI_API_KEY: undefined },
  })

/** Two policies, 18 rollouts each, in parts of four. */
const COMPARISON = [
  ...['eval', '--model', model, '--merged', `again=${model}`, '--dataset', 'tasks', '--tasks', '6'],
  ...['--samples', '2', '--slots', '4', '--workers', '1'],
]

/** Runs the comparison until there are more results than before, then sends a signal. */
async function interrupted(folder: string, signal: 'SIGINT' | 'SIGKILL') {
  const file = join(folder, 'stopped', 'results.jsonl')
  const lines = async (): Promise<number> => (await readFile(file, 'utf8').catch(() => '')).split('\n').length
  const before = await lines()
  const child = lab(folder, ...COMPARISON, '--out', 'stopped')
  for (const within = patience(); (await lines()) < before + 3; await sleep(10)) within.throwIfAborted()
  child.kill(signal)
  return child
}

test('an interrupted evaluation says how to resume, and ends with the bytes of an uninterrupted one', async ({
  folder,
}) => {
  const asked = await interrupted(folder, 'SIGINT')
  assert.is(asked.exitCode, 130, asked.stderr)
  assert.match(asked.stderr, /interrupted: run the same command again to resume$/)
  assert.is((await interrupted(folder, 'SIGKILL')).signal, 'SIGKILL')
  const resumed = await lab(folder, ...COMPARISON, '--out', 'stopped')
  assert.is(resumed.exitCode, 0, resumed.stderr)
  const whole = await lab(folder, ...COMPARISON, '--out', 'whole')
  assert.equal([whole.exitCode, whole.stdout], [0, resumed.stdout])
  for (const name of ['results.jsonl', 'summary.json', 'report.md', 'solved.svg', 'environments.svg'])
    assert.is(
      await readFile(join(folder, 'stopped', name), 'utf8'),
      await readFile(join(folder, 'whole', name), 'utf8'),
    )
  const { policies, tasks } = JSON.parse(await readFile(join(folder, 'whole', 'summary.json'), 'utf8')) as Summary
  assert.is(tasks, 6)
  const [base, again] = policies
  assert.equal(again!.overall.greedy, base!.overall.greedy, 'the same file plays the same')
  assert.equal(again!.overall.difference!.sampled!.solved, { mean: 0, stderr: 0 })
  const other = await lab(folder, ...COMPARISON, '--seed', '1', '--out', 'whole')
  assert.equal([other.exitCode, /other_work/.test(other.stderr)], [1, true])
})

test('a served policy is measured in the same episodes, next to its own file', async ({ folder }) => {
  const serve = { cwd: folder, env: {} }
  await withServedModel(['--model', model, '--slots', '4'], serve, async (url) => {
    const settings = ['--dataset', 'tasks', '--tasks', '4', '--samples', '1', '--workers', '1', '--json']
    const run = await lab(folder, 'eval', '--model', model, '--url', url, ...settings)
    assert.is(run.exitCode, 0, run.stderr)
    const { policies } = JSON.parse(run.stdout) as Summary
    const [local, served] = policies
    assert.equal([served!.kind, served!.label === served!.model, served!.backend], ['endpoint', true, undefined])
    const { solved, calls } = served!.overall.greedy!
    // The server's prompts are nearly those of training, so the model can do there what it can do here.
    assert.ok(local!.overall.greedy!.solved!.mean > 0.5)
    assert.ok(solved!.mean > 0.5, run.stdout)
    assert.ok(calls!.mean > 0)
    assert.ok(served!.overall.sampled)
    const profile = await lab(folder, 'profile', '--url', url, '--label', 'served', ...settings.slice(0, -1))
    assert.is(profile.exitCode, 0, profile.stderr)
    assert.match(profile.stdout, /\| served \| 4 \| 1 \| 1 \|/)
  })
})

test('a profile is written into the card, and replaced when the policy is measured again', async ({ folder }) => {
  const profile = (label: string, ...more: readonly string[]) =>
    lab(
      ...([folder, 'profile', '--model', model, '--dataset', 'tasks', '--label', label, '--samples', '0'] as const),
      ...['--tasks', '4', '--workers', '1', ...more],
    )
  const first = await profile('demo base')
  assert.is(first.exitCode, 0, first.stderr)
  assert.is((await profile('demo', '--environments', 'banking,email')).exitCode, 0)
  const card = await readFile(join(folder, 'tasks', 'README.md'), 'utf8')
  const rows = card.split('\n').filter((line) => /^\| demo/.test(line))
  assert.equal([rows.length, rows[0]!.startsWith('| demo | ')], [1, true])
  const verified = await lab(folder, 'dataset', 'verify', 'tasks')
  assert.equal([verified.exitCode, verified.stderr], [0, ''])
})

test.run()
