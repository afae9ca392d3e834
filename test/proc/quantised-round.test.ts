// needs: python

import '../../swarm/polyfill.js'
import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type ExecaError, execa } from 'execa'
import { suite } from 'uvu'
import type { RunEvent } from '../../coordinator/ledger/events.js'
import type { Recorder } from '../../coordinator/ledger/recorder.js'
import { RunReducer } from '../../coordinator/ledger/run-reducer.js'
import type { RunState } from '../../coordinator/ledger/run-state.js'
import { dryRun } from '../../coordinator/service/dry-run.js'
import { heldOutTasks, scoreVersions } from '../../coordinator/service/held-out.js'
import { readConfig } from '../../coordinator/settings/config.js'
import { readTaskSet } from '../../coordinator/settings/task-set.js'
import type { Summary } from '../../lab/evaluation/summary.js'
import { type EngineOptions, openEngine, openTokenizer } from '../../rollout/engine/index.js'
import { createEpisodeRuntime, DEFAULT_RULES, rulesNamed } from '../../rollout/episode/index.js'
import { type Calibration, parseCalibration } from '../../rollout/verification/index.js'
import { createBlobStore, systemClock } from '../../swarm/index.js'
import { checkout } from '../support/checkout.js'
import { writeDemoTasks } from '../support/demo-tasks.js'
import { patience } from '../support/patience.js'
import { createMachine, demoModel, type Machine, type Program } from '../support/programs.js'
import { stated } from '../support/stated.js'
import { LENIENT } from './lenient-calibration.js'
import { readLog, settled, startRun, stop } from './runs.js'

/** A run over a quantised base with caches of q8_0, and everything else that computes with such caches. */

/** Of the base: `q8_0`, or another one that llama.cpp quantises to, such as `q4_k_m`. */
const TYPE = process.env.PROVE_TEST_QUANTISATION ?? 'q8_0'
const BACKEND = 'cpu-flash-q8_0'
const LIMITS = { maxTurnTokens: 64, maxRolloutTokens: 512, maxAssistantTurns: 4 }

interface Round {
  readonly on: Machine
  readonly model: string
  readonly dataset: string
  readonly calibration: string
  readonly config: string
  readonly dataDir: string
  readonly ann: Program
  readonly events: readonly RunEvent[]
  readonly state: RunState
}

const test = suite<Round>(`a run over a base of ${TYPE}`)

const lab = (command: string, flags: Readonly<Record<string, string | number>>, ...more: readonly string[]) =>
  execa(process.execPath, [
    join(checkout, 'dist', 'lab', 'main.js'),
    command,
    ...Object.entries(flags).flatMap(([name, value]) => [`--${name}`, String(value)]),
    ...more,
  ])

const changed = async (
  calibration: string,
  to: string,
  change: (before: Calibration) => Calibration,
): Promise<string> => {
  await writeFile(to, JSON.stringify(change(parseCalibration(await readFile(calibration, 'utf8')))))
  return to
}

test.before(
  stated(async (context) => {
    const on = await createMachine()
    const [model, dataset] = [join(on.folder, `demo-${TYPE}.gguf`), join(on.folder, 'tasks')]
    const calibration = join(on.folder, 'calibration.json')
    Object.assign(context, { on, model, dataset, calibration })
    const trainer = join(checkout, 'coordinator', 'trainer')
    await execa(
      join(checkout, '.venv', 'bin', 'python'),
      [join(trainer, 'tests', 'engine_library.py'), demoModel(), model, TYPE],
      { env: { PYTHONPATH: trainer, OMP_NUM_THREADS: '1' } },
    )
    await writeDemoTasks(dataset, 50, 2)
    await lab('calibrate', {
      ...{ model, dataset, quantisation: TYPE, 'cache-type': 'q8_0', groups: 4, 'group-size': 4, out: calibration },
      ...{ 'turn-tokens': LIMITS.maxTurnTokens, 'rollout-tokens': LIMITS.maxRolloutTokens },
    })
    // Of too few groups to say how far the worst honest one is off, so its thresholds are made lenient; all else is as it comes.
    await changed(calibration, calibration, (before) => ({ ...before, ...LENIENT }))
    const run = await startRun(on, 'run', {
      model,
      writeTasks: async () => undefined,
      config: {
        base: { path: model, name: 'prove-demo-base', quantisation: TYPE },
        ...{ cacheType: 'q8_0', versions: 1, batchGroups: 1, tasks: { dataset }, limits: LIMITS },
        audit: { calibrations: [calibration] },
      },
    })
    const ann = run.node('ann')
    await ann.until('the last version', ({ type, version }) => type === 'policy' && version === 1)
    await ann.until('nothing left to do', settled)
    await stop(ann, run.coordinator)
    const config = join(on.folder, 'run', 'run.yaml')
    Object.assign(context, { ann, config, dataDir: run.dataDir, ...(await readLog(run.dataDir)) })
  }),
)
test.after(({ on }) => on?.close())

test('it is leased, audited, trained, published, and loaded by its volunteer', ({ ann, events }) => {
  assert.equal(ann.lines.find(({ type }) => type === 'refitted')?.backend, BACKEND)
  const leased = events.filter((event) => event.type === 'leased')
  assert.ok(leased.length > 0 && leased.every(({ backend }) => backend.startsWith(`${BACKEND}@`)))
  const judged = events.filter((event) => event.type === 'judged')
  assert.ok(judged.length > 0)
  assert.deepEqual(
    judged.filter(({ accepted, audit }) => !accepted || audit !== 'passed'),
    [],
  )
  assert.equal(events.filter((event) => event.type === 'published').length, 2)
})

test('`prove-node verify-group` verifies its group with the caches of the run, and not with thresholds for others', async (round) => {
  const { on, model, calibration } = round
  const verify = (file: string) => {
    const args = ['verify-group', '--data-dir', join(on.folder, 'run', 'ann'), '--model', model, '--calibration', file]
    return execa(process.execPath, [join(checkout, 'dist', 'node', 'main.js'), ...args, '--cpu', '--json'])
  }
  const { checks } = JSON.parse((await verify(calibration)).stdout) as { checks: { outcome: string }[] }
  assert.ok(checks.every(({ outcome }) => outcome !== 'failed'))
  // What the engine says of log-probabilities, draws and ends of turns.
  assert.deepEqual(
    checks.slice(-3).map(({ outcome }) => outcome),
    ['ok', 'ok', 'ok'],
  )
  const others = await changed(calibration, join(on.folder, 'others.json'), (before) => ({
    ...before,
    subject: { ...before.subject, backend: 'cpu' },
  }))
  const refused = await verify(others).catch((error: ExecaError) => error)
  assert.match(String(refused.stderr), /the calibration is for another .*backend/)
})

test('`prove-lab eval` takes them from the run, says so, and compares with others when it is asked to', async (round) => {
  const { config, model, dataset, dataDir, state } = round
  const adapter = (await createBlobStore(join(dataDir, 'blobs'))).path(state.current!.adapterSha256)
  const evaluate = async (...more: readonly string[]): Promise<{ tasks: number; backends: string[] }> => {
    const settings = { model, adapter, dataset, config, tasks: 2, workers: 1, slots: 2, samples: 0 }
    const { tasks, policies } = JSON.parse((await lab('eval', settings, '--json', ...more)).stdout) as Summary
    return { tasks, backends: policies.map(({ backend }) => backend!) }
  }
  const { tasks, backends } = await evaluate()
  assert.equal(tasks, 2)
  assert.deepEqual([backends.length, backends.every((backend) => backend.startsWith(`${BACKEND}@`))], [2, true])
  for (const backend of (await evaluate('--cache-type', 'f16')).backends) assert.match(backend, /^cpu@/)
})

/** Opens engines as the programs do, on the CPU, and remembers what they say of themselves. */
function watched() {
  const backends: string[] = []
  return {
    backends,
    open: async (options: EngineOptions) => {
      const engine = await openEngine({ ...options, gpu: false })
      backends.push(engine.build.backend)
      return engine
    },
  }
}

test('the coordinator scores its versions, and plays before the first one, with them', async (round) => {
  const state = new RunReducer()
  for (const event of round.events) state.apply(event)
  const config = readConfig(round.config)
  const taskSet = await readTaskSet([round.dataset], 'train', 1)
  const tokenizer = await openTokenizer(round.model)
  try {
    const runtime = createEpisodeRuntime(taskSet.environments, tokenizer, rulesNamed(DEFAULT_RULES))
    const recorded: string[] = []
    const record: Recorder['record'] = async (decide) => {
      const event = decide(state)
      if (event) state.apply(event)
      if (event) recorded.push(event.type)
      return event
    }
    const shared = {
      config: { ...config, heldOut: { ...config.heldOut, tasks: 2 } },
      clock: systemClock,
      recorder: { state, record },
    }
    const onProgress = ({ type, why }: { readonly type: string; readonly why?: string }): void =>
      assert.equal(why, undefined, type)
    const [playing, scoring] = [watched(), watched()]
    await dryRun({ ...shared, taskSet, runtime, adapter: null, onProgress, open: playing.open }, patience())
    assert.deepEqual([recorded, playing.backends], [['rehearsed'], [BACKEND]])
    const tasks = await heldOutTasks(shared.config, runtime)
    const blobs = await createBlobStore(join(round.dataDir, 'blobs'))
    await scoreVersions(
      { ...shared, tasks, runtimeOf: () => runtime, blobs, onProgress, open: scoring.open },
      patience(),
    )
    assert.deepEqual([recorded, scoring.backends], [['rehearsed', 'scored'], [BACKEND]])
  } finally {
    await tokenizer.close()
  }
})

test.run()
