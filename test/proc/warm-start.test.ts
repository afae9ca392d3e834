// needs: python

import '../../swarm/polyfill.js'
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { suite } from 'uvu'
import { stringify } from 'yaml'
import { hashFile } from '../../rollout/engine/hash-file.js'
import { openEngine } from '../../rollout/engine/index.js'
import { nameTask } from '../../rollout/episode/index.js'
import type { Example } from '../../tasks/dataset/index.js'
import { checkout } from '../support/checkout.js'
import { writeDemoTasks } from '../support/demo-tasks.js'
import { patience } from '../support/patience.js'
import { createMachine, type Machine } from '../support/programs.js'
import { stated } from '../support/stated.js'
import { type EventOf, readLog, settled, startRun, stop } from './runs.js'

/** The warm start of a tiny random llama: from demonstrations to a published version, with the real programs. */

interface Context {
  folder: string
  model: string
  on: Machine
}

const test = suite<Context>('warm start')

const LIMITS = { maxTurnTokens: 256, maxRolloutTokens: 3072, maxAssistantTurns: 6 }
const STEPS = 4

test.before(
  stated(async (context) => {
    context.folder = await mkdtemp(join(tmpdir(), 'prove-warm-start-'))
    context.on = await createMachine()
    const trainer = join(checkout, 'coordinator', 'trainer')
    const env = { PYTHONPATH: trainer, OMP_NUM_THREADS: '1' }
    await execa(
      join(checkout, '.venv', 'bin', 'python'),
      [join(trainer, 'tests', 'test_architectures.py'), context.folder],
      { env },
    )
    context.model = join(context.folder, 'llama', 'base.gguf')
  }),
)
test.after(async ({ folder, on }) => {
  await on.close()
  await rm(folder, { recursive: true, force: true })
})

const warmStart = (file: string, ...flags: readonly string[]) =>
  execa(
    process.execPath,
    [join(checkout, 'dist', 'coordinator', 'main.js'), ...['warm-start', '--config', file, ...flags]],
    { reject: false, timeout: 10 * 60_000, cancelSignal: patience() },
  )

const FEW_STEPS = ['--steps', String(STEPS), '--tokens-per-step', '800']

/** A task without calls: a random model makes calls or not, so rewards differ. */
function declined(example: Example): Example {
  const { id, ...body } = example.task
  const task = nameTask({ ...body, kind: 'abstention', turns: [body.turns[0]!], groundTruth: [] })
  return { ...example, task, exchanges: [{ ...example.exchanges[0]!, calls: [] }], origins: [] }
}

const configOf = (model: string) => ({
  base: { path: model, name: 'random-llama' },
  ...{ versions: 1, batchGroups: 1, limits: LIMITS },
  trainer: { settings: { lora: { rank: 4, alpha: 8 }, maxDeltaNorm: 100, loss: { klCoefficient: 0.1 } } },
})

test('demonstrations become version 0, volunteers continue from it, and the provenance describes it', async ({
  model,
  on,
}) => {
  let said = ''
  const run = await startRun(on, 'run', {
    model,
    writeTasks: (tasks) => writeDemoTasks(tasks, 60, 1, declined),
    config: configOf(model),
    async beforeStart(file) {
      const { stdout, stderr, exitCode } = await warmStart(file, ...FEW_STEPS)
      assert.equal(exitCode, 0, stderr)
      said = stdout
    },
  })
  assert.match(said, /^60 of 60 reference solutions played$/m)
  assert.match(said, /^training needs about \d+\.\d GiB of memory/m)
  assert.match(said, new RegExp(`^${STEPS} steps over \\d+ tokens from 57 demonstrations$`, 'm'))
  assert.match(said, /^Version 0 is ready\. prove-coordinator start --config \S+run\.yaml publishes it\.$/m)
  const ann = run.node('ann')
  await ann.until('the last version', ({ type, version }) => type === 'policy' && version === 1)
  await ann.until('nothing left to do', settled)
  await stop(ann, run.coordinator)
  const { events } = await readLog(run.dataDir)
  assert.deepEqual(
    events.filter((event) => event.type === 'judged' && !event.accepted),
    [],
  )
  const published = events.filter((event): event is EventOf<'published'> => event.type === 'published')
  const [first] = published
  const step = JSON.parse(await readFile(join(run.dataDir, 'jobs', 'steps', 'step-0', 'step.json'), 'utf8'))
  assert.equal(first!.adapterSha256, step.files['adapter.gguf'])
  assert.ok(step.checks.adapterGap > 0.001, 'the adapter of version 0 changes the model')
  const { demonstrations, settings, losses } = step.warmStart
  assert.equal(demonstrations.sha256, await hashFile(join(run.dataDir, 'warm-start', 'demonstrations.safetensors')))
  assert.equal(demonstrations.count, 57)
  assert.equal(settings.steps, STEPS)
  assert.ok(losses.at(-1).heldOutLoss < losses[0].heldOutLoss)
  const next = JSON.parse(await readFile(join(run.dataDir, 'jobs', 'steps', 'step-1', 'step.json'), 'utf8'))
  assert.deepEqual(next.warmStart, step.warmStart)
})

test('a finished warm start begins another run, and full tuning writes a new base', async ({ folder, model, on }) => {
  const own = join(folder, 'saved')
  await writeDemoTasks(join(own, 'tasks'), 30, 1)
  const write = async (name: string): Promise<string> => {
    const file = join(own, `${name}.yaml`)
    await writeFile(file, stringify({ dataDir: name, tasks: { dataset: 'tasks' }, ...configOf(model) }))
    return file
  }
  const stepOf = async (name: string) =>
    JSON.parse(await readFile(join(own, name, 'jobs', 'steps', 'step-0', 'step.json'), 'utf8'))
  const saved = join(own, 'finished')
  const made = await warmStart(await write('first'), ...FEW_STEPS, '--out', saved)
  assert.equal(made.exitCode, 0, made.stderr)
  const adopted = await warmStart(await write('second'), '--reuse', saved)
  assert.equal(adopted.exitCode, 0, adopted.stderr)
  const [first, second] = [await stepOf('first'), await stepOf('second')]
  assert.deepEqual(second.warmStart, first.warmStart)
  assert.equal(second.files['adapter.gguf'], first.files['adapter.gguf'])
  const merged = join(own, 'merged.gguf')
  const full = await warmStart(await write('third'), ...FEW_STEPS, '--full', merged, '--lr', '1e-3')
  assert.equal(full.exitCode, 0, full.stderr)
  const record = JSON.parse(await readFile(`${merged}.json`, 'utf8'))
  assert.equal(record.sha256, await hashFile(merged))
  assert.equal(record.baseSha256, await hashFile(model))
  const engine = await openEngine({ modelPath: merged, threads: 1, contextSize: 64, slots: 1, gpu: false })
  await engine.close()
  assert.equal((await warmStart(await write('fourth'), '--reuse', on.folder)).exitCode, 2)
  await writeFile(join(saved, 'record.json'), '{"schema":1,"warmStart":null}')
  const damaged = await warmStart(await write('fifth'), '--reuse', saved)
  assert.equal(damaged.exitCode, 2)
  assert.match(
    damaged.stderr,
    /record\.json: [\s\S]*warmStart[\s\S]*name a folder that prove-coordinator warm-start --out/,
  )
})

test('a warm start that cannot be made says what to type', async ({ folder, model, on }) => {
  const own = join(folder, 'refused')
  await writeDemoTasks(join(own, 'tasks'), 30, 1)
  const write = async (name: string, config: object): Promise<string> => {
    const file = join(own, `${name}.yaml`)
    await writeFile(file, stringify({ dataDir: name, tasks: { dataset: 'tasks' }, ...configOf(model), ...config }))
    return file
  }
  const refusal = async (file: string, ...flags: readonly string[]): Promise<string> => {
    const { exitCode, stderr } = await warmStart(file, ...flags)
    assert.ok(exitCode === 1 || exitCode === 2, stderr)
    return stderr
  }
  const file = await write('plain', {})
  assert.match(
    await refusal(file, '--environments', 'banking,shopping=3'),
    /no task of shopping: choose from banking, /,
  )
  assert.match(await refusal(file, '--environments', 'Banking!'), /such as banking or crm=20/)
  assert.match(await refusal(file, '--count', '5'), /5 demonstrations are too few: .*Raise --count/)
  const template = await refusal(await write('format', { base: { path: model, name: 'x', toolCallFormat: 'granite' } }))
  assert.match(template, /base\.toolCallFormat does not fit the chat template/)
  const begun = join(on.folder, 'run', 'run.yaml')
  assert.match(await refusal(begun), /has its version 0 already.*Name another dataDir/)
})

test.run()
