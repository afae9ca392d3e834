import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { ChosenTask } from '../../../lab/evaluation/choose-tasks.js'
import { measuresOf, passAtK, passHatK, reportedKs } from '../../../lab/evaluation/measures.js'
import { renderReport, renderText, writeReport } from '../../../lab/evaluation/report.js'
import { type EvaluationFacts, type Summary, summarise } from '../../../lab/evaluation/summary.js'
import { DEFAULT_LIMITS, type Played } from '../../../rollout/episode/index.js'
import type { FailureClass } from '../../../rollout/reward/index.js'
import { lendingTask } from '../../support/scripted.js'

const near = (actual: number | null | undefined, expected: number, what = ''): void =>
  assert.ok(
    typeof actual === 'number' && Math.abs(actual - expected) < 1e-12,
    `${what} ${actual} instead of ${expected}`,
  )

test('pass@k is the estimator of Chen et al., and pass^k the one of tau-bench', () => {
  // Of 5 rollouts 2 solve. Pairs without any of them: 3 of 10; with both: 1 of 10.
  near(passAtK(5, 2, 2), 0.7)
  near(passHatK(5, 2, 2), 0.1)
  // Triples of 6 rollouts, of which 4 solve: every one contains a solution, 4 of 20 contain three.
  near(passAtK(6, 4, 3), 1)
  near(passHatK(6, 4, 3), 0.2)
  for (const solved of [0, 1, 3, 8]) {
    near(passAtK(8, solved, 1), solved / 8)
    near(passHatK(8, solved, 1), solved / 8)
    near(passAtK(8, solved, 8), solved > 0 ? 1 : 0)
    near(passHatK(8, solved, 8), solved === 8 ? 1 : 0)
  }
  assert.equal([1, 2, 4, 6, 8].map(reportedKs), [[], [2], [2, 4], [2, 4, 6], [2, 4, 8]])
})

/** The presets besides `paper`. A solved rollout earns 1 by each. */
const OTHERS = ['outcome', 'solved', 'orchestration']
const rollout = (failure: FailureClass | null, paper: number, calls: number): Played => ({
  ...{
    failure,
    calls,
    rewards: { paper, ...Object.fromEntries(OTHERS.map((name) => [name, Number(failure === null)])) },
  },
})
const solves = rollout(null, 1.3, 2)
const stops = rollout('stopped_early', 0.5, 1)
const silent = rollout('no_call', 0, 0)

test('the measures of a task are means over its rollouts, and shares of groups', () => {
  const measures = measuresOf([
    [solves, stops, stops, silent],
    [stops, stops, stops, stops],
  ])
  assert.equal(measures.solved, [0.25, 0])
  near(measures['pass@2']![0], 0.5)
  assert.equal(
    [measures['pass@4'], measures['pass^2'], measures['pass^4']],
    [
      [1, 0],
      [0, 0],
      [0, 0],
    ],
  )
  assert.equal(measures.calls, [1, 1])
  near(measures['reward.paper']![0], 0.575)
  assert.equal(
    [measures['zero_variance.paper'], measures['zero_variance.outcome']],
    [
      [0, 1],
      [0, 1],
    ],
  )
  assert.equal(
    [measures['failure.stopped_early'], measures['failure.no_call']],
    [
      [0.5, 1],
      [0.25, 0],
    ],
  )
  const single = measuresOf([[solves]])
  assert.equal([single.solved, single['pass@1'], single['zero_variance.paper']], [[1], undefined, undefined])
})

const taskOf = (wish: string, environment: string, calls: number): ChosenTask => ({
  task: lendingTask({ turns: [wish, 'Now take that loan back.'] }),
  groups: { environment: [environment], kind: ['multi-turn'], calls: [`${calls}`] },
})
const TASKS = [taskOf('One.', 'banking', 2), taskOf('Two.', 'banking', 10), taskOf('Three.', 'maps', 2)]
const FACTS: EvaluationFacts = {
  dataset: { name: 'tasks', split: 'held-out', sha256: 'ab'.repeat(32) },
  tooLong: 1,
  sampling: { greedy: true, samples: 2, temperature: 1, seed: 0 },
  toolCallFormat: 'hermes',
  limits: DEFAULT_LIMITS,
}
/** Rollouts in the order of an evaluation: one greedy per task, then two sampled per task. */
const BASE = [stops, stops, silent, ...[solves, stops], ...[stops, stops], ...[silent, silent]]
const WARM = [solves, stops, solves, ...[solves, solves], ...[solves, stops], ...[stops, silent]]
const summaryOf = (first: readonly Played[], second: readonly Played[]): Summary =>
  summarise(
    TASKS,
    [
      { facts: { label: 'base', kind: 'base', sha256: '1'.repeat(64), backend: 'cpu@1' }, played: first },
      { facts: { label: 'remote | one', kind: 'endpoint', model: 'tiny' }, played: second },
    ],
    FACTS,
  )

test('policies are summarised over tasks, and compared with the first one task by task', () => {
  const [base, warm] = summaryOf(BASE, WARM).policies
  assert.equal(base!.overall.greedy!.solved, { mean: 0, stderr: 0 })
  assert.is(base!.overall.difference, undefined)
  // Greedy: 1, 0, 1. Mean 2/3, squared deviations 1/9 + 4/9 + 1/9 = 2/3; variance 1/3; standard error 1/3.
  near(warm!.overall.greedy!.solved!.mean, 2 / 3)
  near(warm!.overall.greedy!.solved!.stderr, 1 / 3)
  // Sampled: base 0.5, 0, 0; warm 1, 0.5, 0. Differences 0.5, 0.5, 0: mean 1/3, squared deviations 1/36 + 1/36 + 1/9 = 1/6.
  const { difference } = warm!.overall
  near(difference!.sampled!.solved!.mean, 1 / 3)
  near(difference!.sampled!.solved!.stderr, Math.sqrt(1 / 6 / 2 / 3))
  near(difference!.greedy!.calls!.mean, 1)
  const same = summaryOf(BASE, BASE).policies[1]!.overall.difference!
  for (const measure of Object.values({ ...same.greedy, ...same.sampled }))
    assert.equal(measure, { mean: 0, stderr: 0 })
})

test('every group of tasks has its own measures, and a single task no standard error', () => {
  const [base, warm] = summaryOf(BASE, WARM).policies
  assert.equal(
    base!.groups.map(({ by, value, n }) => [by, value, n]),
    [
      ['environment', 'banking', 2],
      ['environment', 'maps', 1],
      ['kind', 'multi-turn', 3],
      ['calls', '2', 2],
      ['calls', '10', 1],
    ],
  )
  const maps = warm!.groups[1]!
  assert.equal(maps.greedy!.solved, { mean: 1, stderr: null })
  assert.equal(maps.difference!.greedy!.solved, { mean: 1, stderr: null })
})

test('the report names every policy, defines its figures and quotes them', () => {
  const summary = summaryOf(BASE, WARM)
  const report = renderReport(summary)
  for (const expected of [
    '3 tasks of tasks (held-out); 1 more omitted, because their prompts leave no capacity for an answer: greedy, and 2 rollouts per task at temperature 1',
    `- base: base model ${'1'.repeat(64)}, cpu@1`,
    '- remote | one: model tiny of a server',
    '| policy | greedy | pass@1 at T=1 | pass@2 | pass^2 | zero-variance groups, paper | zero-variance groups, outcome | zero-variance groups, solved | zero-variance groups, orchestration |',
    '| base | 0.0 | 16.7 ± 16.7 | 33.3 ± 33.3 | 0.0 | 66.7 ± 33.3 | 66.7 ± 33.3 | 66.7 ± 33.3 |',
    '| remote \\| one | 66.7 ± 33.3 | 50.0 ± 28.9 | 66.7 ± 33.3 | 33.3 ± 33.3 |',
    '| base | greedy | 0.0 | 33.3 | 0.0 | 0.0 | 0.0 | 0.0 | 66.7 | 0.0 |',
    '## Differences from base, paired by task',
    '| remote \\| one | +66.7 ± 33.3 | +33.3 ± 16.7 |',
    '| maps | 1 | remote \\| one | 100.0 | 0.0 | 0.0 | 0.0 |',
    '![Solved tasks by policy, %](solved.svg)',
    'Policies of a server get the tools natively',
  ])
    assert.ok(report.includes(expected), `${expected}\n\n${report}`)
  assert.not.match(report, /By kind of task/)
  assert.match(renderText(summary), /Differences from base, paired by task/)
})

test('the same summary is written as the same bytes', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'prove-report-'))
  const read = () =>
    Promise.all(
      ['summary.json', 'report.md', 'solved.svg', 'environments.svg'].map((name) =>
        readFile(join(folder, name), 'utf8'),
      ),
    )
  try {
    await writeReport(folder, summaryOf(BASE, WARM))
    const [json, , solved, environments] = await read()
    await writeReport(folder, summaryOf(BASE, WARM))
    assert.equal(await read(), [json, await readFile(join(folder, 'report.md'), 'utf8'), solved, environments])
    assert.equal(JSON.parse(json!), JSON.parse(JSON.stringify(summaryOf(BASE, WARM))))
    assert.match(solved!, /^<svg[\s\S]*remote[\s\S]*<\/svg>/)
    assert.match(environments!, /^<svg[\s\S]*banking[\s\S]*maps[\s\S]*<\/svg>/)
  } finally {
    await rm(folder, { recursive: true })
  }
})

test.run()
