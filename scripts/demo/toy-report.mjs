import { gateOf } from './gate.mjs'
import { goalLines, percent, signed, taskLines } from './report-lines.mjs'

const GOAL = { gain: 0.1, standardErrors: 6, moreCalls: 0.1, knownLoss: 0.02 }

/**
 * Returns the measures of the base and of the adapter in an evaluation of `prove-lab eval --json`.
 * @param sampling  `greedy` or `sampled`
 */
function compared({ policies: [base, trained] }, sampling) {
  const [before, after] = [base.overall[sampling], trained.overall[sampling]]
  const diff = trained.overall.difference[sampling]
  const of = (measure) => ({ before: before[measure], after: after[measure], diff: diff[measure] })
  const rewards = Object.keys(before).filter((measure) => measure.startsWith('reward.'))
  return {
    n: base.overall.n,
    rewards: Object.fromEntries(rewards.map((measure) => [measure.slice('reward.'.length), of(measure)])),
    solved: of('solved'),
    calls: of('calls'),
    callsReference: base.overall.callsReference,
  }
}

const solvedOf = ({ n, solved, calls, callsReference }) => ({
  n,
  solvedBefore: solved.before.mean,
  solvedAfter: solved.after.mean,
  solvedDiffStderr: solved.diff.stderr ?? 0,
  callsBefore: calls.before.mean,
  callsAfter: calls.after.mean,
  callsReference,
})

/**
 * Returns the comparisons of summary.json: `greedy` on the new environment, `greedyKnown` on the known ones, both at temperature 0, and
 * `heldOut` on the new environment at temperature 1, with the rewards.
 * @param evaluations  objects of `prove-lab eval --json`: `greedy` and `sampled` on the new environment, `known` on the others
 * @param reward       preset of `before`, `after` and `diff`
 */
export function comparisons(evaluations, reward) {
  const sampled = compared(evaluations.sampled, 'sampled')
  const { before, after, diff } = sampled.rewards[reward]
  return {
    greedy: solvedOf(compared(evaluations.greedy, 'greedy')),
    greedyKnown: solvedOf(compared(evaluations.known, 'greedy')),
    heldOut: {
      ...{ before: before.mean, after: after.mean, diff: diff.mean, diffStderr: diff.stderr, rewards: sampled.rewards },
      ...solvedOf(sampled),
    },
  }
}

/** Returns the conditions of the demo's goal, see gate.mjs. @param summary  content of summary.json */
export const goalOf = ({ greedy, greedyKnown }) => gateOf(GOAL, greedy, greedyKnown)

/**
 * Returns the report of a run.
 * @param summary      content of summary.json
 * @param evaluations  see `comparisons`
 * @param result       `goal`: the conditions of the goal. `played`: one task before and after training, see one-task.mjs
 */
export function reportOf({ groups, versions, seconds, environments }, evaluations, { goal, played }) {
  const estimate = ({ mean, stderr }) => `${mean.toFixed(3)} ± ${(stderr ?? 0).toFixed(3)}`
  const row = (name, before, after, diff) =>
    `  ${name.padEnd(23)}${before.padEnd(19)}${after.padEnd(19)}${diff}`.trimEnd()
  const head = (text) => [text, row('', 'version 0', `version ${versions}`, 'paired difference')]
  const solved = ({ solved: { before, after, diff }, calls, callsReference }) => [
    row('solved exactly', percent(before), percent(after), signed(percent(diff))),
    row(
      ...['calls per task', calls.before.mean.toFixed(2), calls.after.mean.toFixed(2)],
      `reference ${callsReference.toFixed(2)}`,
    ),
  ]
  const [greedy, known, sampled] = [
    compared(evaluations.greedy, 'greedy'),
    compared(evaluations.known, 'greedy'),
    compared(evaluations.sampled, 'sampled'),
  ]
  return [
    'Held-out tasks before and after training (± standard error over tasks)',
    '',
    ...head(`${environments.new}, which the model hardly knew: ${greedy.n} tasks at temperature 0`),
    ...solved(greedy),
    '',
    ...head(`${environments.known.join(', ')}, which it knew: ${known.n} tasks at temperature 0`),
    ...solved(known),
    '',
    ...head(`${environments.new}: ${sampled.n} tasks at temperature 1`),
    ...solved(sampled),
    ...Object.entries(sampled.rewards).map(([name, { before, after, diff }]) =>
      row(`reward ${name}`, estimate(before), estimate(after), signed(estimate(diff))),
    ),
    '',
    ...taskLines(played, versions),
    '',
    ...goalLines(goal),
    '',
    `groups: ${groups.accepted} accepted, ${groups.refused} refused`,
    `time: tasks ${seconds.tasks} s, training ${seconds.training} s, evaluation ${seconds.evaluation} s`,
  ].join('\n')
}
