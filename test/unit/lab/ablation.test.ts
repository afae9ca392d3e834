import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { ablate, type CellResult, cellResult } from '../../../lab/ablation/ablate.js'
import { summarise } from '../../../lab/ablation/summarise.js'
import { ablationTables } from '../../../lab/ablation/tables.js'
import { VARIANTS } from '../../../lab/ablation/variants.js'
import { openJournal } from '../../../lab/journal.js'
import type { TaskResult } from '../../../rollout/episode/index.js'
import { callBudget, PAPER, PAPER_SETTINGS, REWARD_PRESETS } from '../../../rollout/reward/index.js'
import { patience } from '../../support/patience.js'
import { perfectLog, scored } from '../../support/reward-generators.js'

const RUNS = { numRuns: 200, seed: 20261123 }
const totalBy = (name: string, ...given: Parameters<typeof PAPER.score>) =>
  VARIANTS.get(name)!.reward.score(...given).total
const isNear = (a: number, b: number): boolean => Math.abs(a - b) < 1e-12

test('a variant without a component gives the rest of the full reward, and its maximum for the ground truth', () => {
  fc.assert(
    fc.property(scored, ([given, log]) => {
      const { total, components } = PAPER.score(given, log)
      for (const [name, weight] of Object.entries(PAPER_SETTINGS.weights)) {
        const left = total - weight * components![name as keyof typeof PAPER_SETTINGS.weights]
        assert.ok(isNear(totalBy(`no-${name}`, given, log), left), name)
        const { reward } = VARIANTS.get(`no-${name}`)!
        assert.is(reward.score(given, perfectLog(given.groundTruth)).total, reward.maximum.calls)
      }
    }),
    RUNS,
  )
})

test('a flat budget differs from the full reward by the free calls', () => {
  fc.assert(
    fc.property(scored, ([given, log]) => {
      const needed = given.groundTruth.length
      const beyond = (budget: number): number => Math.max(0, log.length - budget) / (2 * budget)
      const fee = PAPER_SETTINGS.weights.efficiency * (beyond(needed) - beyond(callBudget(needed)))
      const [flat, whole] = [totalBy('flat-budget', given, log), PAPER.score(given, log).total]
      assert.ok(isNear(whole - flat, fee))
    }),
    RUNS,
  )
})

test('variant names are unique, and a run cannot use one of the paper’s ablations', () => {
  const ofPaper = [...VARIANTS.values()].filter(({ inPaper }) => inPaper !== null)
  assert.is(ofPaper.length, 7)
  for (const { reward } of ofPaper) assert.is(REWARD_PRESETS.has(reward.name), reward === PAPER)
  for (const name of REWARD_PRESETS.keys()) assert.ok(VARIANTS.has(name), name)
})

const result = (taskId: string, solved: number): TaskResult => ({
  ...{ taskId, solved, calls: 2 + solved, reward: solved },
  rewards: Object.fromEntries([...REWARD_PRESETS.keys()].map((name) => [name, solved])),
})
const cell = (variant: string | null, seed: number, solved: readonly number[]): CellResult => ({
  ...{ variant, seed, tasks: solved.map((share, i) => result(`task-${i}`, share)) },
})

test('changes are paired by task and seed, and errors count tasks', () => {
  const summaries = summarise([
    cell(null, 0, [0, 0]),
    cell('paper', 0, [0.5, 1]),
    cell('no-name', 0, [0.5, 0]),
    cell('paper', 1, [0.5, 0]),
    cell('no-name', 1, [1, 0.5]),
    cell('outcome', 2, [1, 1]),
  ])
  assert.equal(
    summaries.map(({ variant, seeds, solvedBySeed }) => [variant, seeds, solvedBySeed]),
    [
      [null, 1, [-0.75]],
      ['paper', 2, []],
      ['no-name', 2, [-0.5, 0.5]],
      ['outcome', 1, []],
    ],
  )
  const [, whole, noName, outcome] = summaries
  assert.equal(whole!.measured.solved, { mean: 0.5, stderr: 0 })
  assert.is(whole!.change, null)
  // Task 0: (0 + 0.5) / 2; task 1: (-1 + 0.5) / 2.
  assert.equal(noName!.change!.solved, { mean: 0, stderr: 0.25 })
  assert.is(outcome!.change, null, 'the whole reward was not trained from this seed')
  const shown = ablationTables(summaries, { samples: 1, steps: 3 })
  assert.match(shown, /^2 held-out tasks, 1 rollout each, after 3 steps/)
  assert.match(shown, /\| no-name \| 0\.0 ± 25\.0 \|.*\| -50\.0, \+50\.0 \| -6\.0, -0\.8, -2\.4 \|/)
})

test('results for different tasks are not compared', () => {
  const other = { ...cell('no-arg', 0, [1, 1]), tasks: [result('task-0', 1), result('another', 1)] }
  assert.throws(() => summarise([cell('paper', 0, [1, 1]), other]), /have different tasks/)
  assert.throws(() => summarise([cell('paper', 0, [1, 1]), cell('no-arg', 0, [1, 1, 1])]), /have different tasks/)
})

test('an interrupted ablation resumes without repeated training', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'prove-ablation-'))
  try {
    const file = join(folder, 'results.jsonl')
    const trained: string[] = []
    const stop = new AbortController()
    const run = async (signal: AbortSignal, seeds: readonly number[]): Promise<CellResult[]> =>
      ablate(
        {
          ...{ variants: ['paper', 'no-arg'], seeds, journal: await openJournal(file, { work: 1 }, cellResult) },
          async train({ variant, seed }) {
            trained.push(`${variant} ${seed}`)
            return { path: variant, sha256: `${seed}` }
          },
          evaluate: async (adapter, seed) => cell(null, seed, [adapter === null ? 0 : 1, 0]).tasks,
          onCell: (_, done) => (done === 2 ? stop.abort(new Error('enough')) : undefined),
        },
        signal,
      )
    await run(stop.signal, [0, 1]).then(
      () => assert.unreachable(),
      (error: Error) => assert.is(error.message, 'enough'),
    )
    assert.equal(trained, ['paper 0'])
    const results = await run(patience(), [0, 1])
    assert.equal(trained, ['paper 0', 'no-arg 0', 'paper 1', 'no-arg 1'])
    assert.equal(
      results.map(({ variant, seed }) => [variant, seed]),
      [null, 'paper', 'no-arg']
        .flatMap((variant) => [[variant, 0]])
        .concat([null, 'paper', 'no-arg'].map((v) => [v, 1])),
    )
    assert.equal(await run(patience(), [0]), results.slice(0, 3))
    assert.is((await readFile(file, 'utf8')).split('\n').length, 8, 'a header and six results')
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

test.run()
