/**
 * Compares evaluations at temperature 0 with what a run of a demo has to reach.
 * @param goal         least `gain` of solved tasks and its `standardErrors`, most `moreCalls` than the reference solution, most `knownLoss`; shares
 * @param greedy       on the environments to learn: `solvedBefore`, `solvedAfter`, `solvedDiffStderr`, `callsAfter`, `callsReference`
 * @param greedyKnown  the same on the environments that version 0 knew
 * @returns  one entry per condition: its text with the numbers, and whether it is met
 */
export function gateOf(goal, greedy, greedyKnown) {
  const gain = gainOf(greedy)
  const known = gainOf(greedyKnown)
  const calls = greedy.callsAfter / greedy.callsReference - 1
  // Results that differ on no task have no standard error. Such a gain is 0.
  const inErrors = greedy.solvedDiffStderr > 0 ? gain / greedy.solvedDiffStderr : 0
  const points = (share) => `${share < 0 ? '-' : '+'}${Math.abs(100 * share).toFixed(1)}`
  return [
    {
      met: gain >= goal.gain && inErrors >= goal.standardErrors,
      text: `environments to learn ${points(gain)} points at ${inErrors.toFixed(1)} standard errors (at least ${points(goal.gain)} at ${goal.standardErrors})`,
    },
    {
      met: calls <= goal.moreCalls,
      text: `calls per task ${points(calls)} % of the reference solution's (at most ${points(goal.moreCalls)} %)`,
    },
    {
      met: known >= -goal.knownLoss,
      text: `known environments ${points(known)} points (at least ${points(-goal.knownLoss)})`,
    },
  ]
}

/** Returns the difference of two shares of tasks. Rounding keeps a difference of exactly 0.02 from becoming -0.020000000000000018. */
const gainOf = ({ solvedBefore, solvedAfter }) => Number((solvedAfter - solvedBefore).toFixed(9))
