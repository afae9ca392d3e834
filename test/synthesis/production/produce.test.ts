import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createSeedStateCache } from '../../../servers/kernel/index.js'
import { nodeName, toolGraph } from '../../../servers/kernel/tool-graph.js'
import { jaccard } from '../../../tasks/dataset/diversity.js'
import { DEMO_PROFILE, type Example, PAPER_PROFILE } from '../../../tasks/dataset/index.js'
import {
  compositionOf,
  contextFor,
  contextOf,
  openFinishedBatches,
  PAPER_COMPOSITION,
  produce,
  SynthesisError,
  streamExamples,
} from '../../../tasks/synthesis/index.js'
import { splitOf } from '../../../tasks/synthesis/making/split.js'
import { IDLE_ROUNDS, plansFor } from '../../../tasks/synthesis/production/assignments.js'
import { MAX_JACCARD, traitsOf } from '../../../tasks/synthesis/production/duplicates.js'
import { createTargets } from '../../../tasks/synthesis/production/targets.js'
import { sampleExamples } from '../../support/sample-examples.js'
import { CATALOGUE } from '../../support/spoken-catalogue.js'
import { planOf, runPlan } from '../../support/synthesis-samples.js'

const test = suite('making a data set')
/** Three batches. */
const PLAN = planOf(24)
let made: ReturnType<typeof runPlan> | undefined
const onTwoThreads = (): ReturnType<typeof runPlan> => {
  made ??= runPlan(PLAN, { threads: 2 })
  return made
}
const bytes = (examples: readonly Example[]): string => JSON.stringify(examples)

test('the paper’s composition is kept at its size and scaled to others', () => {
  assert.equal(compositionOf(13_517), PAPER_COMPOSITION)
  for (const total of [1, 7, 100, 1234]) {
    assert.is(
      Object.values(compositionOf(total)).reduce((a, b) => a + b, 0),
      total,
    )
  }
})

test('plans have exact counts, and every tool that has a chain takes its turn', () => {
  const context = contextFor([...CATALOGUE.values()], PAPER_PROFILE, 1, createSeedStateCache())
  const targets = createTargets(context.graph, PAPER_PROFILE, new Set(), 1)
  const plans = plansFor(compositionOf(1000), { validation: 0.05, 'held-out': 0.1 }, context, targets.able)
  const count = (kind: string, split: string) =>
    plans.filter((plan) => plan.kind === kind && plan.split === split).length
  const { 'multi-turn': calling } = compositionOf(1000)
  assert.is(count('multi-turn', 'held-out'), Math.round(calling * 0.1))
  assert.is(count('multi-turn', 'validation'), Math.round(calling * 0.05))
  const chosen = new Set(plans.map((plan, index) => nodeName(targets.assign(plan, index, 0).target)))
  assert.ok(chosen.size > 335, `${chosen.size} tools`)
})

test('the same plan gives the same examples on one thread and on two, and another seed gives others', async () => {
  const [one, two] = [await runPlan(PLAN, { threads: 1 }), await onTwoThreads()]
  assert.is(bytes(one.examples), bytes(two.examples))
  assert.equal(one.drops, two.drops)
  const other = await runPlan(planOf(8, 6), { threads: 1 })
  const ids = new Set(one.examples.map(({ task }) => task.id))
  assert.not(other.examples.some(({ task }) => ids.has(task.id)))
})

test('a stopped synthesis resumes and gives the same bytes', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'prove-resume-'))
  try {
    const stop = new AbortController()
    const stopped = await runPlan(PLAN, {
      folder,
      threads: 1,
      signal: stop.signal,
      onKept: () => stop.abort(new Error('enough')),
    }).catch((error: Error) => error)
    assert.instance(stopped, Error)
    const kept = readdirSync(folder).filter((name) => name !== 'plan.json').length
    assert.ok(kept >= 1)
    const resumed = await runPlan(PLAN, { folder })
    assert.is(bytes(resumed.examples), bytes((await onTwoThreads()).examples))
    const refused = await openFinishedBatches(folder, planOf(25)).catch((error: Error) => error)
    assert.instance(refused, SynthesisError)
    assert.match((refused as Error).message, /other_plan/)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('missing examples are reported, and a synthesis without any example fails', async () => {
  const samples = (await sampleExamples()).filter(({ split }) => split === 'train')
  const folder = mkdtempSync(join(tmpdir(), 'prove-missing-'))
  try {
    const plan = planOf(20)
    const run = async (name: string, gives: (split: string) => boolean) =>
      produce(plan, {
        threads: 1,
        finished: await openFinishedBatches(join(folder, name), plan),
        signal: new AbortController().signal,
        onProgress: () => {},
        workers: {
          run: async ({ assignments }) =>
            assignments.map(({ index, split }) => ({
              index,
              rejected: [{ by: 'no_walk' }],
              example: gives(split) ? { ...samples[index]!, index, split } : null,
            })),
          close: async () => {},
        },
      })
    const { missing, examples, drops } = await run('some', (split) => split === 'train')
    assert.equal(missing, [
      { kind: 'multi-turn', split: 'validation', count: 2 },
      { kind: 'multi-turn', split: 'held-out', count: 2 },
    ])
    const made: Example[] = []
    for await (const example of examples()) made.push(example)
    assert.is(made.length, 16)
    assert.is(drops.no_walk, 20 + IDLE_ROUNDS * 4)
    const refused = await run('none', () => false).catch((error: Error) => error)
    assert.instance(refused, SynthesisError)
    assert.match((refused as Error).message, /no_yield: none of 20 examples/)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('no two examples are alike beyond the threshold', async () => {
  const traits = (await sampleExamples()).map(traitsOf)
  for (const [i, one] of traits.entries())
    for (const other of traits.slice(i + 1)) assert.ok(jaccard(one, other) <= MAX_JACCARD)
})

test('no chain and no environment seed occurs in two splits', async () => {
  const bySplit = new Map<string, { chains: Set<string>; seeds: Set<string> }>()
  for (const { split, task } of await sampleExamples()) {
    const known = bySplit.get(split) ?? { chains: new Set(), seeds: new Set() }
    known.chains.add(task.chain)
    for (const { environment, seed } of task.environments) known.seeds.add(`${environment} ${seed}`)
    bySplit.set(split, known)
  }
  const splits = [...bySplit.values()]
  assert.is(splits.length, 3)
  for (const [i, one] of splits.entries()) {
    for (const other of splits.slice(i + 1)) {
      assert.not([...one.chains].some((chain) => other.chains.has(chain)))
      assert.not([...one.seeds].some((seed) => other.seeds.has(seed)))
    }
  }
})

test('no training chain runs through a chain of another split', async () => {
  const graph = toolGraph([...CATALOGUE.values()])
  const nodes = new Map(graph.nodes.map((node) => [nodeName(node), node]))
  for (const { split, task } of await sampleExamples()) {
    if (split !== 'train' || task.chain.startsWith('small-talk')) continue
    let environmentName = ''
    const chain = task.chain.split('>').map((name) => {
      const [environment, tool] = name.includes(':') ? (name.split(':') as [string, string]) : [environmentName, name]
      environmentName = environment
      return nodes.get(`${environmentName}:${tool}`)!
    })
    for (const [from] of chain.entries())
      for (let to = from + 2; to <= chain.length; to++) assert.is(splitOf(chain.slice(from, to)), 'train', task.chain)
  }
})

test('held-out environments occur in the held-out split only', async () => {
  const plan = planOf(24)
  const recipe = { ...plan.recipe, heldOutEnvironments: ['maps', 'crm', 'vehicle'] }
  const { examples } = await runPlan({ ...plan, recipe, shares: { 'held-out': 0.5 } })
  const touches = ({ task }: Example): boolean => /(maps|crm|vehicle):/.test(task.chain)
  assert.ok(examples.some(touches))
  for (const example of examples) if (touches(example)) assert.is(example.split, 'held-out')
})

test('the demo profile asks in the plain words of the demo, with few tools', () => {
  const environments = ['banking', 'calendar', 'email', 'issue_tracker'].map((name) => CATALOGUE.get(name)!)
  for (const { task, speech } of streamExamples(
    contextFor(environments, DEMO_PROFILE, 1, createSeedStateCache()),
    'train',
    40,
  )) {
    assert.is(speech, 'plain')
    assert.ok(task.toolset.length <= 6 && task.turns.length <= 2 && task.groundTruth.length <= 4)
    assert.is(task.system, undefined)
    assert.is(task.stripEnums, undefined)
  }
})

test('a recipe with an unknown environment or profile is rejected by name', async () => {
  const recipe = { environments: ['banking'], heldOutEnvironments: [], profile: 'paper', seed: 0 }
  for (const [changed, complaint] of [
    [{ environments: ['bankign'] }, /unknown_environment.*bankign/],
    [{ profile: 'poster' }, /unknown_profile.*poster/],
    [{ heldOutEnvironments: ['maps'] }, /unknown_environment.*maps/],
  ] as const) {
    const error = await contextOf({ ...recipe, ...changed }).catch((cause: Error) => cause)
    assert.match((error as Error).message, complaint)
  }
})

test.run()
