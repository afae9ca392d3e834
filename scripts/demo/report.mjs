import { gateOf } from './gate.mjs'
import { REWARDS } from './settings.mjs'

/**
 * Returns the measures of the base and of the adapter in an evaluation of `prove-lab eval --json`.
 * @param sampling  `greedy` or `sampled`
 */
export function compared({ policies: [base, trained] }, sampling) {
  const [before, after, diff] = [
    base.overall[sampling],
    trained.overall[sampling],
    trained.overall.difference[sampling],
  ]
  const of = (measure) => ({ before: before[measure], after: after[measure], diff: diff[measure] })
  return {
    n: base.overall.n,
    rewards: Object.fromEntries(REWARDS.map((name) => [name, of(`reward.${name}`)])),
    solved: of('solved'),
    calls: of('calls'),
    callsReference: base.overall.callsReference,
  }
}

/** Returns the numbers of solved tasks and calls for summary.json. */
export const solvedOf = ({ n, solved, calls, callsReference }) => ({
  n,
  solvedBefore: solved.before.mean,
  solvedAfter: solved.after.mean,
  solvedDiffStderr: solved.diff.stderr,
  callsBefore: calls.before.mean,
  callsAfter: calls.after.mean,
  callsReference,
})

/** The same with the rewards. @param reward  preset of `before`, `after` and `diff` */
export const rewardsAndSolvedOf = (measures, reward) => ({
  before: measures.rewards[reward].before.mean,
  after: measures.rewards[reward].after.mean,
  diff: measures.rewards[reward].diff.mean,
  diffStderr: measures.rewards[reward].diff.stderr,
  rewards: measures.rewards,
  ...solvedOf(measures),
})

/**
 * Returns the report of a run.
 * @param summary  content of summary.json
 * @param onNew    evaluation on the new environment, an object of `prove-lab eval --json`
 * @param onKnown  the same on the environments that the base knew
 * @param played   one task before and after training, see one-task.mjs
 */
export function reportOf(summary, { onNew, onKnown }, played) {
  const { groups, seconds, versions, environments, greedy, greedyKnown, heldOut } = summary
  const estimate = ({ mean, stderr }) => `${mean.toFixed(3)} ± ${stderr.toFixed(3)}`
  const share = ({ mean, stderr }) => `${(100 * mean).toFixed(1)} ± ${(100 * stderr).toFixed(1)} %`
  const row = (name, before, after, diff = '') => `  ${name.padEnd(18)}${before.padEnd(19)}${after.padEnd(19)}${diff}`
  const solved = ({ solved: { before, after, diff }, calls, callsReference }) => [
    row('solved exactly', share(before), share(after), share(diff)),
    row(
      'calls per task',
      calls.before.mean.toFixed(2),
      calls.after.mean.toFixed(2),
      `reference solution ${callsReference.toFixed(2)}`,
    ),
  ]
  const rewards = (measures) =>
    Object.entries(measures.rewards).map(([name, { before, after, diff }]) =>
      row(`reward ${name}`, estimate(before), estimate(after), estimate(diff)),
    )
  const sampled = compared(onNew, 'sampled')
  const head = (text) => `${text}\n${row('', 'version 0', `version ${versions}`, 'paired difference')}`
  const gate = gateOf(greedy, greedyKnown)
  return [
    `Held-out tasks, before and after training (± standard error over tasks)`,
    '',
    head(`${environments.new}, which the base hardly knew: ${greedy.n} tasks at temperature 0`),
    ...solved(compared(onNew, 'greedy')),
    '',
    head(`${environments.known.join(', ')}, which it knew: ${greedyKnown.n} tasks at temperature 0`),
    ...solved(compared(onKnown, 'greedy')),
    '',
    head(`${environments.new}, ${heldOut.n} tasks at temperature 1`),
    ...rewards(sampled),
    ...solved(sampled),
    '',
    ...(played === undefined
      ? ['No held-out task was failed before and solved after.']
      : [
          'One held-out task that version 0 fails:',
          ...played.before.map((line) => `  ${line}`),
          `The same task, solved by version ${versions}:`,
          ...played.after.map((line) => `  ${line}`),
        ]),
    '',
    `goal ${gate.every(({ met }) => met) ? 'reached' : 'missed'}:`,
    ...gate.map(({ met, text }) => `  ${met ? 'yes' : 'no '}  ${text}`),
    '',
    `groups: ${groups.accepted} accepted, ${groups.refused} refused`,
    `time: set-up ${seconds.setup} s, tasks ${seconds.tasks} s, training ${seconds.training} s, evaluation ${seconds.evaluation} s`,
    'adapter: .demo/adapter (PEFT directory and GGUF) · summary: .demo/summary.json',
  ].join('\n')
}
