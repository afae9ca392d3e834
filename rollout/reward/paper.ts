import { type OfferedTool, takesArguments } from '../../servers/kernel/index.js'
import { type Alignment, align, equalArguments } from './align.js'
import { checkExample } from './check-example.js'
import type { RewardPreset } from './preset.js'
import type { GroundTruthCall, LoggedCall, RewardBreakdown, RewardComponents, ScoredExample } from './types.js'

/** The paper's parameters, which its ablations change (section 5). */
export interface PaperSettings {
  /** Weights of the components in the total. */
  readonly weights: RewardComponents
  /** Free calls beyond the ground truth's, as a share of these: the paper's beta. */
  readonly slack: number
}

/** Section 3.3; the maximum is 1.3. */
export const PAPER_SETTINGS: PaperSettings = {
  weights: { validity: 0.5, coverage: 0.5, efficiency: 0.15, name: 0.2, arg: 0.1 },
  slack: 0.5,
}

/** A breakdown into the paper's components. */
export interface PaperBreakdown extends RewardBreakdown {
  readonly components: RewardComponents | null
}

/** A preset of the paper's form. */
export interface PaperPreset extends RewardPreset {
  score(example: ScoredExample, log: readonly LoggedCall[]): PaperBreakdown
}

/** Creates a preset of the paper's reward with other settings. */
export function paperReward(name: string, description: string, { weights, slack }: PaperSettings): PaperPreset {
  return {
    name,
    description,
    maximum: { calls: weighted({ validity: 1, coverage: 1, efficiency: 0, name: 1, arg: 1 }, weights), noCall: 1 },
    components: Object.keys(weights),
    needsFacts: false,
    score(example, log) {
      const { groundTruth } = example
      const offered = checkExample(example)
      if (groundTruth.length === 0)
        return { total: log.length === 0 ? 1 : 0, components: null, alignment: [], covered: [] }
      const alignment = align(groundTruth, log)
      const components: RewardComponents = {
        validity: validity(log, offered),
        coverage: alignment.covered.filter(Boolean).length / groundTruth.length,
        efficiency: efficiency(log.length, callBudget(groundTruth.length, slack)),
        name: namePrecision(log, groundTruth),
        arg: argumentMatch(log, groundTruth, alignment),
      }
      const total = weighted(components, weights)
      return { total, components, alignment: alignment.calls, covered: alignment.covered }
    },
  }
}

/** PROVE's five components and their total (arXiv 2606.03892, section 3.3). */
export const PAPER = paperReward(
  'paper',
  "PROVE's five components: validity, coverage, efficiency, name, arguments",
  PAPER_SETTINGS,
)

/** Returns the number of calls up to which efficiency costs nothing, for a ground truth of `n` calls. */
export function callBudget(n: number, slack = PAPER_SETTINGS.slack): number {
  return n + Math.ceil(slack * n)
}

function validity(log: readonly LoggedCall[], offered: ReadonlyMap<string, OfferedTool>): number {
  if (log.length === 0) return 0
  let levels = 0
  for (const call of log) {
    if (call.malformed || call.early) continue
    const tool = offered.get(call.name)
    if (!tool) continue
    levels += !takesArguments(tool, call.arguments) ? 1 : call.ok ? 3 : 2
  }
  return levels / (3 * log.length)
}

function efficiency(calls: number, budget: number): number {
  return calls > budget ? -(calls - budget) / (2 * budget) : 0
}

function namePrecision(log: readonly LoggedCall[], truths: readonly GroundTruthCall[]): number {
  if (log.length === 0) return 0
  const names = new Set(truths.map(({ name }) => name))
  return log.filter((call) => !call.malformed && !call.early && names.has(call.name)).length / log.length
}

function argumentMatch(log: readonly LoggedCall[], truths: readonly GroundTruthCall[], { calls }: Alignment): number {
  let sum = 0
  let pairs = 0
  truths.forEach((truth, i) => {
    const at = calls[i]
    const call = at === null || at === undefined ? undefined : log[at]
    if (!call || call.malformed) return
    const keys = Object.keys(truth.arguments).length
    sum += keys === 0 ? 1 : equalArguments(truth, call.arguments) / keys
    pairs++
  })
  return pairs === 0 ? 0 : sum / pairs
}

function weighted(components: RewardComponents, weights: RewardComponents): number {
  return (
    weights.validity * components.validity +
    weights.coverage * components.coverage +
    weights.efficiency * components.efficiency +
    weights.name * components.name +
    weights.arg * components.arg
  )
}
