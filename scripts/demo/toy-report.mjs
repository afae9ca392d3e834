const REWARDS = ['paper', 'outcome', 'orchestration']

/** Returns the measures of the base and of the adapter at one kind of sampling. @param kind  `greedy` or `sampled` */
export function compared({ policies: [base, trained] }, kind, reward) {
  const [before, after, diff] = [base.overall[kind], trained.overall[kind], trained.overall.difference[kind]]
  const of = (measure) => ({ before: before[measure], after: after[measure], diff: diff[measure] })
  return {
    n: base.overall.n,
    ...of(`reward.${reward}`),
    rewards: Object.fromEntries(REWARDS.map((name) => [name, of(`reward.${name}`)])),
    ...{ solvedBefore: before.solved, solvedAfter: after.solved, solvedDiff: diff.solved },
    ...{ callsBefore: before.calls.mean, callsAfter: after.calls.mean },
    callsReference: base.overall.callsReference,
  }
}

/** Returns the numbers for summary.json. */
export const solvedAndRewardsOf = (evaluation) => ({
  n: evaluation.n,
  before: evaluation.before.mean,
  after: evaluation.after.mean,
  diff: evaluation.diff.mean,
  diffStderr: evaluation.diff.stderr,
  rewards: evaluation.rewards,
  solvedBefore: evaluation.solvedBefore.mean,
  solvedAfter: evaluation.solvedAfter.mean,
  solvedDiffStderr: evaluation.solvedDiff.stderr,
  callsBefore: evaluation.callsBefore,
  callsAfter: evaluation.callsAfter,
  callsReference: evaluation.callsReference,
})

export function reportOf({ groups, versions, seconds }, heldOut, likeliest) {
  const estimate = ({ mean, stderr }) => `${mean.toFixed(3)} ± ${stderr.toFixed(3)}`
  const share = ({ mean, stderr }) => `${(100 * mean).toFixed(1)} ± ${(100 * stderr).toFixed(1)} %`
  const row = (name, before, after, diff = '') => `  ${name.padEnd(22)}${before.padEnd(19)}${after.padEnd(19)}${diff}`
  const table = ({ rewards, solvedBefore, solvedAfter, solvedDiff, callsBefore, callsAfter }) => [
    ...Object.entries(rewards).map(([name, { before, after, diff }]) =>
      row(`reward ${name}`, estimate(before), estimate(after), estimate(diff)),
    ),
    row('solved exactly', share(solvedBefore), share(solvedAfter), share(solvedDiff)),
    row('calls per task', callsBefore.toFixed(2), callsAfter.toFixed(2)),
  ]
  return [
    `${heldOut.n} held-out tasks (± standard error over tasks); the reference solution makes ${heldOut.callsReference.toFixed(2)} calls per task`,
    row('temperature 1', 'version 0', `version ${versions}`, 'paired difference'),
    ...table(heldOut),
    row('temperature 0', 'version 0', `version ${versions}`, 'paired difference'),
    ...table(likeliest),
    '',
    `groups: ${groups.accepted} accepted, ${groups.refused} refused · run: ${seconds.run} s`,
  ].join('\n')
}
