import { gateOf } from './gate.mjs'

/** Returns the figures of one evaluation of `prove-lab eval --json` at temperature 0, as summary.json holds them. */
export const solvedOf = (evaluation) => ({
  n: evaluation.n,
  solvedBefore: evaluation.solvedBefore.mean,
  solvedAfter: evaluation.solvedAfter.mean,
  solvedDiffStderr: evaluation.solvedDiff.stderr,
  callsBefore: evaluation.callsBefore,
  callsAfter: evaluation.callsAfter,
  callsReference: evaluation.callsReference,
})

/** The same with the rewards. */
export const rewardsAndSolvedOf = (evaluation) => ({
  before: evaluation.before.mean,
  after: evaluation.after.mean,
  diff: evaluation.diff.mean,
  diffStderr: evaluation.diff.stderr,
  rewards: evaluation.rewards,
  ...solvedOf(evaluation),
})

/**
 * Returns the report of a run.
 * @param summary      content of summary.json
 * @param evaluations  `greedy`, `greedyKnown` and `heldOut`: objects of `prove-lab eval --json`
 * @param played       one task before and after training, see one-task.mjs
 */
export function reportOf({ groups, seconds, versions, environments, greedy, greedyKnown }, evaluations, played) {
  const estimate = ({ mean, stderr }) => `${mean.toFixed(3)} ± ${stderr.toFixed(3)}`
  const share = ({ mean, stderr }) => `${(100 * mean).toFixed(1)} ± ${(100 * stderr).toFixed(1)} %`
  const row = (name, before, after, diff = '') => `  ${name.padEnd(18)}${before.padEnd(19)}${after.padEnd(19)}${diff}`
  const solved = ({ solvedBefore, solvedAfter, solvedDiff, callsBefore, callsAfter, callsReference }) => [
    row('solved exactly', share(solvedBefore), share(solvedAfter), share(solvedDiff)),
    row(
      'calls per task',
      callsBefore.toFixed(2),
      callsAfter.toFixed(2),
      `reference solution ${callsReference.toFixed(2)}`,
    ),
  ]
  const rewards = (evaluation) =>
    Object.entries(evaluation.rewards).map(([name, { before, after, diff }]) =>
      row(`reward ${name}`, estimate(before), estimate(after), estimate(diff)),
    )
  const head = (text) => `${text}\n${row('', 'version 0', `version ${versions}`, 'paired difference')}`
  const gate = gateOf(greedy, greedyKnown)
  return [
    `Held-out tasks, before and after training (± standard error over tasks)`,
    '',
    head(`${environments.new}, which the base hardly knew: ${greedy.n} tasks at temperature 0`),
    ...solved(evaluations.greedy),
    '',
    head(`${environments.known.join(', ')}, which it knew: ${greedyKnown.n} tasks at temperature 0`),
    ...solved(evaluations.greedyKnown),
    '',
    head(`${environments.new}, ${evaluations.heldOut.n} tasks at temperature 1`),
    ...rewards(evaluations.heldOut),
    ...solved(evaluations.heldOut),
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
