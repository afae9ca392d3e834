// needs: python

import '../../swarm/polyfill.js'
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { suite } from 'uvu'
import { type CacheType, openEngine } from '../../rollout/engine/index.js'
import { checkout } from '../support/checkout.js'
import { patience } from '../support/patience.js'
import { stated } from '../support/stated.js'

/** Bases and caches of machines with little memory: the engine's scores with them, compared with the trainer's over the same file. */

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
const test = suite<{ folder: string; trained: Scores; said: Map<FileType, readonly number[]> }>('quantised')

test.before(
  stated(async (context) => {
    context.said = new Map()
    context.folder = await mkdtemp(join(tmpdir(), 'prove-quantised-'))
    await execa(python, [join(trainer, 'tests', 'test_quantised.py'), context.folder], { env })
    context.trained = JSON.parse(await readFile(join(context.folder, 'scores.json'), 'utf8'))
  }),
)
test.after(({ folder }) => rm(folder, { recursive: true, force: true }))

const fileOf = (folder: string, type: FileType): string => join(folder, type === 'f16' ? 'base.gguf' : `${type}.gguf`)

/** Mean for a model as uncertain as random ones; 0.058 for four bits with a cache of q8_0. */
const CLOSE_NATS = 0.1

const meanGap = (these: readonly number[], those: readonly number[]): number =>
  these.reduce((sum, logprob, i) => sum + Math.abs(logprob - those[i]!), 0) / these.length

for (const cacheType of ['f16', 'q8_0'] satisfies CacheType[])
  test(`with a cache of ${cacheType} the engine is nearer to the trainer over its own file than to that over any other`, async ({
    folder,
    trained,
    said: before,
  }) => {
    for (const type of TYPES) {
      const engine = await openEngine({
        ...{ modelPath: fileOf(folder, type), threads: 1, contextSize: 256, slots: 1, gpu: false },
        cacheType,
      })
      try {
        assert.equal(engine.build.backend, cacheType === 'f16' ? 'cpu' : 'cpu-flash-q8_0')
        const said = await engine.score(trained.tokens, trained.from, patience())
        // The cache before this one, of the same weights.
        const other = before.get(type)
        assert.ok(other === undefined || meanGap(said, other) > 1e-4, `a cache of ${cacheType} says what another does`)
        before.set(type, said)
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

test.run()
