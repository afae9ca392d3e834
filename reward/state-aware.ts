import { takesArguments } from '../servers/kernel/index.js'
import { equalArguments } from './align.js'
import { PAPER } from './paper.js'
import type { RewardPreset } from './preset.js'
import type { LoggedCall, RewardBreakdown, ScoredExample, StateDigests } from './types.js'

/** Not tuned: whoever trains with this preset should say so. */
const WEIGHTS = { state: 0.5, exact: 0.3, extra: 0.2, complete: 0.2 } as const
/** What the preset looks at beside the paper's components. */
type Terms = Record<keyof typeof WEIGHTS, number>

/**
 * The paper's reward and four terms for what it does not see: the final state, the values of the arguments, unwanted
 * writes, completeness. For a task without calls it is the paper's.
 */
export const STATE_AWARE: RewardPreset = {
  name: 'state-aware',
  description:
    "the paper's reward, and whether the worlds end as they should, with exact values and no unwanted writes",
  maximum: {
    calls: withTerms(PAPER.maximum.calls, { state: 1, exact: 1, extra: 0, complete: 1 }),
    noCall: PAPER.maximum.noCall,
  },
  components: [...PAPER.components, ...Object.keys(WEIGHTS)],
  needsStates: true,
  score,
}

function score(
  example: ScoredExample,
  log: readonly LoggedCall[],
  states: readonly StateDigests[] | undefined,
): RewardBreakdown {
  if (!states) throw new TypeError('the reward state-aware is asked for without the states of the worlds')
  const breakdown = PAPER.score(example, log)
  const { total, components } = breakdown
  if (!components) return breakdown
  const terms: Terms = {
    state: stateAgreement(states),
    exact: countExact(example, log, breakdown) / example.groundTruth.length,
    // Not by a sign in front, which would make it -0.
    extra: 0 - unwantedWrites(example, log, breakdown),
    complete: breakdown.covered.every(Boolean) ? 1 : 0,
  }
  return { ...breakdown, total: withTerms(total, terms), components: { ...components, ...terms } }
}

/** Added left to right, so that all who compute it get the same double. */
function withTerms(total: number, { state, exact, extra, complete }: Terms): number {
  return total + WEIGHTS.state * state + WEIGHTS.exact * exact + WEIGHTS.extra * extra + WEIGHTS.complete * complete
}

/** Share of the worlds touched by the ground truth or the rollout that ended in the ground truth's state; 1 if none was. */
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
    return tool !== undefined && takesArguments(tool, call.arguments) && !tool.readOnly
  }).length
  return Math.min(1, unwanted / example.groundTruth.length)
}
