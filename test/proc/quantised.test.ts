import '../../swarm/polyfill.js'
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { suite } from 'uvu'
import { type CacheType, openEngine } from '../../engine/index.js'
import { parseCalibration } from '../../judging/index.js'
import { checkout } from '../support/checkout.js'
import { writeDemoTasks } from '../support/demo-tasks.js'
import { patience } from '../support/patience.js'
import { createMachine, demoModel } from '../support/programs.js'
import { told } from '../support/told.js'
import { LENIENT } from './lenient-calibration.js'
import { readLog, settled, startRun, stop } from './runs.js'

/** Bases and caches of machines with little memory: what the engine says with them, beside the trainer over the same file. */

const TYPES = ['f16', 'q8_0', 'q4_k_m'] as const
type FileType = (typeof TYPES)[number]

interface Scores {
  readonly tokens: readonly number[]
  readonly from: number
  readonly scores: Readonly<Record<FileType, readonly number[]>>
}

const python = join(checkout, '.venv', 'bin', 'python')
const trainer = join(checkout, 'coordinator', 'trainer')
const env = { PYTHONPATH: trainer, OMP_NUM_THREADS: '1' }
const test = suite<{ folder: string; trained: Scores }>('quantised')

test.before(
  told(async (context) => {
    context.folder = await mkdtemp(join(tmpdir(), 'prove-quantised-'))
    await execa(python, [join(trainer, 'tests', 'test_quantised.py'), context.folder], { env })
    context.trained = JSON.parse(await readFile(join(context.folder, 'scores.json'), 'utf8'))
  }),
)
test.after(({ folder }) => rm(folder, { recursive: true, force: true }))

const fileOf = (folder: string, type: FileType): string => join(folder, type === 'f16' ? 'base.gguf' : `${type}.gguf`)

/** Mean of a model that is as unsure as random ones are; 0.058 of four bits beside a cache of q8_0. */
const CLOSE_NATS = 0.1

const meanGap = (these: readonly number[], those: readonly number[]): number =>
  these.reduce((sum, logprob, i) => sum + Math.abs(logprob - those[i]!), 0) / these.length

for (const cacheType of ['f16', 'q8_0'] satisfies CacheType[])
  test(`with a cache of ${cacheType} the engine is nearer to the trainer over its own file than to that over any other`, async ({
    folder,
    trained,
  }) => {
    for (const type of TYPES) {
      const engine = await openEngine({
        ...{ modelPath: fileOf(folder, type), threads: 1, contextSize: 256, lanes: 1, gpu: false },
        cacheType,
      })
      try {
        assert.equal(engine.build.backend, cacheType === 'f16' ? 'cpu' : 'cpu-flash-q8_0')
        const said = await engine.score(trained.tokens, trained.from, patience())
        const gaps = TYPES.map((other) => meanGap(said, trained.scores[other]))
        const own = gaps[TYPES.indexOf(type)]!
        assert.ok(own < CLOSE_NATS, `${type}: ${own} nats from the trainer`)
        // Weights of eight bits are off by as much as an engine rounds itself, those of four by more.
        for (const [i, other] of TYPES.entries())
          if ((other === 'q4_k_m') !== (type === 'q4_k_m'))
            assert.ok(gaps[i]! > 2 * own, `${type}: ${own} nats from its own, ${gaps[i]} from ${other}`)
      } finally {
        await engine.close()
      }
    }
  })

/** Of too few groups to say how far the worst honest one is off, so its thresholds are made lenient; all else is as it comes. */
async function calibrate(out: string, settings: Readonly<Record<string, string | number>>): Promise<void> {
  const flags = Object.entries({ ...settings, out }).flatMap(([name, value]) => [`--${name}`, String(value)])
  await execa(process.execPath, [join(checkout, 'dist', 'lab', 'main.js'), 'calibrate', ...flags])
  const calibration = parseCalibration(await readFile(out, 'utf8'))
  await writeFile(out, JSON.stringify({ ...calibration, ...LENIENT }))
}

test('a run of a q8_0 base with caches of q8_0: calibrated, leased, audited, trained, published, and loaded by its volunteer', async () => {
  const on = await createMachine()
  try {
    const [model, dataset] = [join(on.folder, 'demo-q8_0.gguf'), join(on.folder, 'tasks')]
    const calibration = join(on.folder, 'calibration.json')
    await execa(python, [join(trainer, 'tests', 'engine_library.py'), demoModel(), model, 'q8_0'], { env })
    await writeDemoTasks(dataset, 50, 1)
    const limits = { maxTurnTokens: 64, maxRolloutTokens: 512, maxAssistantTurns: 4 }
    await calibrate(calibration, {
      ...{ model, dataset, quantisation: 'q8_0', 'cache-type': 'q8_0', groups: 4, 'group-size': 4 },
      ...{ 'turn-tokens': limits.maxTurnTokens, 'rollout-tokens': limits.maxRolloutTokens },
    })
    const run = await startRun(on, 'run', {
      model,
      writeTasks: async () => undefined,
      config: {
        base: { path: model, name: 'prove-demo-base', quantisation: 'q8_0' },
        ...{ cacheType: 'q8_0', versions: 1, batchGroups: 1, tasks: { dataset }, limits },
        audit: { calibrations: [calibration] },
      },
    })
    const ann = run.node('ann')
    const { backend } = await ann.until('the caches that the run asks for', ({ type }) => type === 'refitted')
    assert.equal(backend, 'cpu-flash-q8_0')
    await ann.until('the last version', ({ type, version }) => type === 'policy' && version === 1)
    await ann.until('nothing left to do', settled)
    await stop(ann, run.coordinator)
    const { events } = await readLog(run.dataDir)
    const leased = events.filter((event) => event.type === 'leased')
    assert.ok(leased.length > 0 && leased.every((lease) => lease.backend.startsWith('cpu-flash-q8_0@')))
    const judged = events.filter((event) => event.type === 'judged')
    assert.ok(judged.length > 0)
    assert.deepEqual(
      judged.filter(({ accepted, audit }) => !accepted || audit !== 'passed'),
      [],
    )
    assert.equal(events.filter((event) => event.type === 'published').length, 2)
  } finally {
    await on.close()
  }
})

test.run()
