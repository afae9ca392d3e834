/** What a run of the demo has to reach, at temperature 0. */
export const GATE = { gain: 0.1, standardErrors: 6, moreCalls: 0.1, knownLoss: 0.02 }

/**
 * Compares the evaluations at temperature 0 with the gate.
 * @param greedy       on the new environment: `solvedBefore`, `solvedAfter`, `solvedDiffStderr`, `callsAfter`, `callsReference`
 * @param greedyKnown  the same on the environments that the base knew
 * @returns  one entry per condition: its text with the numbers, and whether it is met
 */
export function gateOf(greedy, greedyKnown) {
  const gain = greedy.solvedAfter - greedy.solvedBefore
  const known = greedyKnown.solvedAfter - greedyKnown.solvedBefore
  const calls = greedy.callsAfter / greedy.callsReference - 1
  // Results that differ on no task have no standard error. Such a gain is 0.
  const inErrors = greedy.solvedDiffStderr > 0 ? gain / greedy.solvedDiffStderr : 0
  const points = (share) => `${share < 0 ? '-' : '+'}${Math.abs(100 * share).toFixed(1)}`
  return [
    {
      met: gain >= GATE.gain && inErrors >= GATE.standardErrors,
      text: `new environment ${points(gain)} points at ${inErrors.toFixed(1)} standard errors (at least ${points(GATE.gain)} at ${GATE.standardErrors})`,
    },
    {
      met: calls <= GATE.moreCalls,
      text: `calls per task ${points(calls)} % of the reference solution's (at most ${points(GATE.moreCalls)} %)`,
    },
    {
      met: known >= -GATE.knownLoss,
      text: `known environments ${points(known)} points (at least ${points(-GATE.knownLoss)})`,
    },
  ]
}
