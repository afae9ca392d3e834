import { equalArguments } from './align.js'
import { isExecutable, score } from './score.js'
import type { ExtensionTerms, LoggedCall, RewardBreakdown, ScoredExample, StateDigests } from './types.js'

/** Weights of the optional terms. All zero by default: the total is then the paper's. Whoever trains with others must say so. */
export const NO_EXTENSION: ExtensionTerms = { state: 0, exact: 0, extra: 0, complete: 0 }

/**
 * The reward with our optional terms, which look at what the published reward does not: the final state, the values of
 * the arguments, unwanted writes, and completeness.
 * @param states  digests per server of the session
 * @returns the paper's breakdown with the weighted terms added to `total`, and the terms themselves (`null` for an
 *   empty ground truth, where they do not apply)
 */
export function scoreExtended(
  example: ScoredExample,
  log: readonly LoggedCall[],
  states: readonly StateDigests[],
  weights: ExtensionTerms,
): RewardBreakdown & { readonly terms: ExtensionTerms | null } {
  const breakdown = score(example, log)
  if (example.groundTruth.length === 0) return { ...breakdown, terms: null }
  const terms: ExtensionTerms = {
    state: stateAgreement(states),
    exact: countExact(example, log, breakdown) / example.groundTruth.length,
    extra: -unwantedWrites(example, log, breakdown),
    complete: breakdown.covered.every(Boolean) ? 1 : 0,
  }
  const total =
    breakdown.total +
    weights.state * terms.state +
    weights.exact * terms.exact +
    weights.extra * terms.extra +
    weights.complete * terms.complete
  return { ...breakdown, total, terms }
}

/** Share of the servers touched by the ground truth or the rollout that ended in the ground truth's state; 1 if none was. */
function stateAgreement(states: readonly StateDigests[]): number {
  const touched = states.filter(({ initial, expected, actual }) => expected !== initial || actual !== initial)
  if (touched.length === 0) return 1
  return touched.filter(({ expected, actual }) => expected === actual).length / touched.length
}

function countExact({ groundTruth }: ScoredExample, log: readonly LoggedCall[], breakdown: RewardBreakdown): number {
  return groundTruth.filter((truth, i) => {
    const call = breakdown.covered[i] ? log[breakdown.alignment[i]!] : undefined
    return call && !call.malformed && equalArguments(truth, call.arguments) === Object.keys(truth.arguments).length
  }).length
}

function unwantedWrites(example: ScoredExample, log: readonly LoggedCall[], { alignment }: RewardBreakdown): number {
  const tools = new Map(example.offered.map((tool) => [tool.name, tool]))
  const aligned = new Set(alignment)
  const unwanted = log.filter((call, at) => {
    if (call.malformed || !call.ok || aligned.has(at)) return false
    const tool = tools.get(call.name)
    return isExecutable(call, tool) && !tool!.readOnly
  }).length
  return Math.min(1, unwanted / example.groundTruth.length)
}
