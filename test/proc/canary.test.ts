// needs: python

import '../../swarm/polyfill.js'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { execa } from 'execa'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { checkCanary, distance } from '../../node/policy/canary.js'
import { openManifest } from '../../proto/index.js'
import { openEngine } from '../../rollout/engine/index.js'
import { nameTask } from '../../rollout/episode/index.js'
import type { Example } from '../../tasks/dataset/index.js'
import { checkout } from '../support/checkout.js'
import { writeDemoTasks } from '../support/demo-tasks.js'
import { patience } from '../support/patience.js'
import { createMachine, type Machine } from '../support/programs.js'
import { stated } from '../support/stated.js'
import { readLog, settled, startRun, stop } from './runs.js'

/** A short run of a tiny random model whose trainer computes in bfloat16. */
const test = suite<{ on: Machine; runId: string; data: string; model: string }>('canaries of a run in bfloat16')

const VERSIONS = 2
const trainer = join(checkout, 'coordinator', 'trainer')

/** The same request with nothing to call: a random model now makes a call and now does not, so groups have variance. */
function declined(example: Example): Example {
  const { id, ...body } = example.task
  const task = nameTask({ ...body, kind: 'abstention', turns: [body.turns[0]!], groundTruth: [] })
  return { ...example, task, exchanges: [{ ...example.exchanges[0]!, calls: [] }], origins: [] }
}

test.before(
  stated(async (context) => {
    context.on = await createMachine()
    const models = join(context.on.folder, 'models')
    await execa(join(checkout, '.venv', 'bin', 'python'), [join(trainer, 'tests', 'test_architectures.py'), models], {
      env: { PYTHONPATH: trainer, OMP_NUM_THREADS: '1' },
    })
    context.model = join(models, 'llama', 'base.gguf')
    const run = await startRun(context.on, 'run', {
      model: context.model,
      writeTasks: (tasks) => writeDemoTasks(tasks, 20, 1, declined),
      config: {
        base: { path: context.model, name: 'random-llama' },
        ...{ versions: VERSIONS, batchGroups: 1 },
        limits: { maxTurnTokens: 256, maxRolloutTokens: 3072, maxAssistantTurns: 2 },
        trainer: {
          settings: {
            precision: 'bfloat16',
            maxDeltaNorm: 100,
            lora: { rank: 4, alpha: 8 },
            optimizer: { lr: 0.05, warmupSteps: 0 },
            // A random model in bfloat16 is far from its sampler, and this test is about what is published.
            loss: { guard: 20, drift: 20 },
          },
        },
      },
    })
    context.runId = run.runId
    context.data = run.dataDir
    const ann = run.node('ann')
    await ann.until('the last version', ({ type, version }) => type === 'policy' && version === VERSIONS)
    await ann.until('nothing left to do', settled)
    await stop(ann, run.coordinator)
  }),
)
test.after(({ on }) => on.close())

test('a volunteer stays through all versions', async ({ data }) => {
  const { events } = await readLog(data)
  assert.equal(
    events.filter(({ type }) => type === 'left'),
    [],
  )
  assert.is(events.filter(({ type }) => type === 'published').length, VERSIONS + 1)
})

test('what is published is nearer to the engine than what training computes, and a missing adapter is found', async ({
  data,
  model,
  runId,
}) => {
  const engine = await openEngine({ modelPath: model, threads: 1, contextSize: 3072, slots: 1, gpu: false })
  const bare: string[] = []
  try {
    for (let step = 1; step <= VERSIONS; step++) {
      const { checks, skipped } = JSON.parse(
        await readFile(join(data, 'jobs', 'steps', `step-${step}`, 'step.json'), 'utf8'),
      )
      assert.is(skipped, null)
      const { manifest } = await manifestOf(data, runId, step)
      const { sha256 } = manifest.policy.adapter!
      await engine.usePolicy({ path: join(data, 'blobs', sha256), sha256 }, patience())
      await checkCanary(engine, manifest, patience())
      for (const { promptTokens, continuationTokens, policyLogprobs } of manifest.canary) {
        const scored = await engine.score([...promptTokens, ...continuationTokens], promptTokens.length, patience())
        const off = distance(scored, policyLogprobs)
        assert.ok(off.max < checks.publishedGap, `step ${step}: ${off.max} and ${checks.publishedGap} in training`)
      }
      await engine.usePolicy(null, patience())
      bare.push(
        await checkCanary(engine, manifest, patience()).then(
          () => 'passed',
          (error: Error) => error.message,
        ),
      )
    }
    for (const [i, message] of bare.entries()) assert.match(message, /the adapter is not applied/, `version ${i + 1}`)
  } finally {
    await engine.close()
  }
})

/** Returns the manifest of the first round of a version. */
async function manifestOf(data: string, runId: string, version: number) {
  const { events } = await readLog(data)
  const { round } = events.find((event) => event.type === 'published' && event.version === version) as { round: number }
  return openManifest(await readFile(join(data, 'manifests', `${String(round).padStart(6, '0')}.manifest`)), runId)
}

test.run()
