// needs: python

import '../../swarm/polyfill.js'
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { suite } from 'uvu'
import { hashFile } from '../../rollout/engine/hash-file.js'
import { openEngine } from '../../rollout/engine/index.js'
import { nameTask } from '../../rollout/episode/index.js'
import type { Example } from '../../tasks/dataset/index.js'
import { checkout } from '../support/checkout.js'
import { writeDemoTasks } from '../support/demo-tasks.js'
import { patience } from '../support/patience.js'
import { createMachine } from '../support/programs.js'
import { stated } from '../support/stated.js'
import { readLog, settled, startRun, stop } from './runs.js'

/**
 * What the trainer says of a random model of each architecture and of its variants in files, and of a random adapter over it, beside llama.cpp over the very
 * same files: how rows are permuted and where multipliers act is written down on either side.
 */

/** llama.cpp's cache is float16: 0.004 nats on models as unsure as these. */
const CLOSE_NATS = 0.02

const ARCHITECTURES = ['qwen3', 'qwen2', 'llama', 'llama3', 'granite', 'granite4'] as const

const python = join(checkout, '.venv', 'bin', 'python')
const trainer = join(checkout, 'coordinator', 'trainer')
const test = suite<{ folder: string }>('architectures')

test.before(
  stated(async (context) => {
    context.folder = await mkdtemp(join(tmpdir(), 'prove-architectures-'))
    const env = { PYTHONPATH: trainer, OMP_NUM_THREADS: '1' }
    await execa(python, [join(trainer, 'tests', 'test_architectures.py'), context.folder], { env })
  }),
)
test.after(({ folder }) => rm(folder, { recursive: true, force: true }))

for (const architecture of ARCHITECTURES)
  test(`llama.cpp says of a ${architecture} and its adapter what the trainer says`, async ({ folder }) => {
    const own = join(folder, architecture)
    const scores = JSON.parse(await readFile(join(own, 'scores.json'), 'utf8'))
    const path = join(own, 'adapter.gguf')
    const modelPath = join(own, 'base.gguf')
    const engine = await openEngine({ modelPath, threads: 1, contextSize: 256, slots: 1, gpu: false })
    try {
      const base = await engine.score(scores.tokens, scores.from, patience())
      await engine.usePolicy({ path, sha256: await hashFile(path) }, patience())
      const adapter = await engine.score(scores.tokens, scores.from, patience())
      const apart = (these: readonly number[], those: readonly number[]): number =>
        Math.max(...these.map((logprob, i) => Math.abs(logprob - those[i]!)))
      assert.equal(base.length, scores.base.length)
      assert.ok(apart(base, scores.base) < CLOSE_NATS, `the base is off by ${apart(base, scores.base)} nats`)
      assert.ok(apart(adapter, scores.adapter) < CLOSE_NATS, `with the adapter ${apart(adapter, scores.adapter)} nats`)
      assert.ok(apart(base, adapter) > 20 * CLOSE_NATS, 'the adapter says something')
    } finally {
      await engine.close()
    }
  })

test('a quantised cache whose blocks do not divide the head length is refused with the reason', async ({ folder }) => {
  const modelPath = join(folder, 'granite', 'base.gguf')
  await assert.rejects(
    openEngine({ modelPath, threads: 1, contextSize: 256, slots: 1, gpu: false, cacheType: 'q8_0' }),
    /model_refused: .*a cache of type q8_0 needs heads whose length is a multiple of 32, and this one is 16: use the type f16/,
  )
})

test('the table in the documents has these bounds for every architecture', async () => {
  const text = await readFile(join(checkout, 'docs', 'reference', 'trainer.md'), 'utf8')
  const rows = text
    .split('## Architectures')[1]!
    .split('\n## ')[0]!
    .split('\n')
    .filter((line) => line.startsWith('| `'))
  const named = rows.map((row) => row.split('|').map((cell) => cell.trim()))
  assert.deepEqual(
    named.map((cells) => [cells[1], ...cells.slice(-3, -1).map(Number)]),
    ARCHITECTURES.map((name) => [`\`${name}\``, CLOSE_NATS, CLOSE_NATS]),
  )
})

/** The same request with nothing to call: whoever makes no call earns 1, who tries one 0, and a random model does now one and now the other. */
function declined(example: Example): Example {
  const { id, ...body } = example.task
  const task = nameTask({ ...body, kind: 'abstention', turns: [body.turns[0]!], groundTruth: [] })
  return { ...example, task, exchanges: [{ ...example.exchanges[0]!, calls: [] }], origins: [] }
}

for (const [name, toolCallFormat] of [
  ['llama', 'hermes'],
  ['granite4', 'granite'],
] as const)
  test(`a ${name} model plays in its tool-call format, is verified, trained and published, and its volunteer loads the new version`, async ({
    folder,
  }) => {
    const on = await createMachine()
    try {
      const run = await startRun(on, 'run', {
        model: join(folder, name, 'base.gguf'),
        writeTasks: (tasks) => writeDemoTasks(tasks, 20, 1, declined),
        config: {
          base: { path: join(folder, name, 'base.gguf'), name: `random-${name}`, toolCallFormat },
          ...{ versions: 1, batchGroups: 1 },
          limits: { maxTurnTokens: 256, maxRolloutTokens: 3072, maxAssistantTurns: 2 },
        },
      })
      const ann = run.node('ann')
      await ann.until('the last version', ({ type, version }) => type === 'policy' && version === 1)
      await ann.until('nothing left to do', settled)
      await stop(ann, run.coordinator)
      const { events } = await readLog(run.dataDir)
      const of = (type: string) => events.filter((event) => event.type === type)
      assert.deepEqual(
        events.filter((event) => event.type === 'judged' && !event.accepted),
        [],
      )
      assert.equal(of('published').length, 2)
    } finally {
      await on.close()
    }
  })

test.run()
