import { type OfferedTool, takesArguments } from '../servers/kernel/index.js'
import { type Alignment, align, equalArguments } from './align.js'
import { checkExample } from './check-example.js'
import type { RewardPreset } from './preset.js'
import type { GroundTruthCall, LoggedCall, RewardBreakdown, RewardComponents, ScoredExample } from './types.js'

/** Weights of the paper's total (section 3.3); the maximum is 1.3. */
const WEIGHTS = { validity: 0.5, coverage: 0.5, efficiency: 0.15, name: 0.2, arg: 0.1 } as const

/** PROVE's five components and their total (arXiv 2606.03892, section 3.3). */
export const PAPER = {
  name: 'paper',
  description: "PROVE's five components: validity, coverage, efficiency, name, arguments",
  maximum: { calls: 1.3, noCall: 1 },
  components: Object.keys(WEIGHTS),
  needsFacts: false,
  score,
} as const satisfies RewardPreset

/** A breakdown into the paper's components. */
export interface PaperBreakdown extends RewardBreakdown {
  readonly components: RewardComponents | null
}

function score(example: ScoredExample, log: readonly LoggedCall[]): PaperBreakdown {
  const { groundTruth } = example
  const offered = checkExample(example)
  if (groundTruth.length === 0) return { total: log.length === 0 ? 1 : 0, components: null, alignment: [], covered: [] }
  const alignment = align(groundTruth, log)
  const components: RewardComponents = {
    validity: validity(log, offered),
    coverage: alignment.covered.filter(Boolean).length / groundTruth.length,
    efficiency: efficiency(log.length, groundTruth.length),
    name: namePrecision(log, groundTruth),
    arg: argumentMatch(log, groundTruth, alignment),
  }
  return { total: weighted(components), components, alignment: alignment.calls, covered: alignment.covered }
}

/** Number of calls up to which efficiency costs nothing, for a ground truth of `n` calls. */
export function callBudget(n: number): number {
  return n + Math.ceil(0.5 * n)
}

function validity(log: readonly LoggedCall[], offered: ReadonlyMap<string, OfferedTool>): number {
  if (log.length === 0) return 0
  let levels = 0
  for (const call of log) {
    if (call.malformed) continue
    const tool = offered.get(call.name)
    if (!tool) continue
    levels += !takesArguments(tool, call.arguments) ? 1 : call.ok ? 3 : 2
  }
  return levels / (3 * log.length)
}

function efficiency(calls: number, n: number): number {
  const budget = callBudget(n)
  return calls > budget ? -(calls - budget) / (2 * budget) : 0
}

function namePrecision(log: readonly LoggedCall[], truths: readonly GroundTruthCall[]): number {
  if (log.length === 0) return 0
  const names = new Set(truths.map(({ name }) => name))
  return log.filter((call) => !call.malformed && names.has(call.name)).length / log.length
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

function weighted({ validity, coverage, efficiency, name, arg }: RewardComponents): number {
  return (
    WEIGHTS.validity * validity +
    WEIGHTS.coverage * coverage +
    WEIGHTS.efficiency * efficiency +
    WEIGHTS.name * name +
    WEIGHTS.arg * arg
  )
}
