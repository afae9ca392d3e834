import { checkExample } from './check-example.js'
import type { RewardPreset } from './preset.js'
import type {
  GroundTruthCall,
  Json,
  JsonObject,
  LoggedCall,
  RewardBreakdown,
  RolloutFacts,
  ScoredExample,
} from './types.js'
import { equalValues, own } from './values.js'

/**
 * Reward of "Training LLMs for Multi-Step Tool Orchestration with Constrained Data Synthesis and Graduated Rewards" (arXiv 2603.24709).
 *
 * From the authors' code (github.com/horizon-rl/ToolOrchestrationReward, `training/reward/complex_tool.py`, commit 5c4ea42) follow:
 * - the total, half atomic validity and half orchestration. Their term for the final state has the weight 0;
 * - atomic validity: the mean over the rollout's calls of form and execution. A call of a tool outside the reference counts 0;
 * - the form of a call: 0.33 for the name, 0.33 for the structure, and 0.34 if all arguments are exactly right. The structure is the share
 *   of the reference's arguments that are present, times the share of these with the right type. A reference call without arguments has
 *   the right structure if the call has none either;
 * - orchestration: the share of reference calls with a logged call of the same name after the calls of all their prerequisites. The
 *   earliest such call counts, also if it failed. One logged call may stand for several reference calls.
 *
 * Our decisions, where the code has no rule or its rule does not fit tasks that repeat a tool:
 * - a call is compared with the reference call of its tool that it resembles most. The code takes the first of the tool, so the reference
 *   solution itself would lose points;
 * - a malformed call block counts 0. The code leaves out blocks that are not JSON, which makes them free;
 * - a call of a tool that a later turn brings counts 0, as in `paper`;
 * - values are equal as in `paper`. The code's checker ignores case, spaces and punctuation in strings, and booleans count as numbers;
 * - without reference calls the reward is 1 for no call and 0 otherwise. The code gives 0 to both.
 */
export const ORCHESTRATION: RewardPreset = {
  name: 'orchestration',
  description: 'half the form and success of each call, half the order of the tools (ToolOrchestrationReward)',
  maximum: { calls: 1, noCall: 1 },
  components: ['atomic', 'orchestration'],
  needsFacts: false,
  score,
}

const WEIGHTS = { atomic: 0.5, orchestration: 0.5 } as const
/** Worth of the three levels of a call's form. */
const FORM = { name: 0.33, structure: 0.33, values: 0.34 } as const

function score(example: ScoredExample, log: readonly LoggedCall[], _facts?: RolloutFacts): RewardBreakdown {
  checkExample(example)
  const { groundTruth } = example
  if (groundTruth.length === 0) return { total: log.length === 0 ? 1 : 0, components: null, alignment: [], covered: [] }
  const alignment = orderedCalls(groundTruth, log)
  const covered = alignment.map((at) => at !== null)
  const components = {
    atomic: atomicValidity(groundTruth, log),
    orchestration: covered.filter(Boolean).length / groundTruth.length,
  }
  return {
    total: WEIGHTS.atomic * components.atomic + WEIGHTS.orchestration * components.orchestration,
    components,
    alignment,
    covered,
  }
}

function atomicValidity(truths: readonly GroundTruthCall[], log: readonly LoggedCall[]): number {
  if (log.length === 0) return 0
  const worths = log.map((call) => {
    if (call.malformed || call.early) return 0
    const forms = truths.flatMap((truth) => (truth.name === call.name ? [formOf(truth.arguments, call.arguments)] : []))
    return forms.length === 0 ? 0 : (Math.max(...forms) + Number(call.ok)) / 2
  })
  return worths.reduce((sum, worth) => sum + worth, 0) / log.length
}

/** Returns the worth of a call's form as a call of the same tool with the arguments `wanted`: from 0.33 to 1. */
function formOf(wanted: JsonObject, given: JsonObject): number {
  const values = equalValues(wanted, given) ? FORM.values : 0
  return FORM.name + FORM.structure * structureOf(wanted, given) + values
}

function structureOf(wanted: JsonObject, given: JsonObject): number {
  const keys = Object.keys(wanted)
  if (keys.length === 0) return Number(Object.keys(given).length === 0)
  const present = keys.filter((key) => Object.hasOwn(given, key))
  if (present.length === 0) return 0
  const typed = present.filter((key) => typeOf(own(wanted, key)!) === typeOf(own(given, key)!))
  return (present.length / keys.length) * (typed.length / present.length)
}

const typeOf = (value: Json): string => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value)

/** Returns for each reference call the earliest logged call of its name after those of its prerequisites; null if there is none. */
function orderedCalls(truths: readonly GroundTruthCall[], log: readonly LoggedCall[]): (number | null)[] {
  const found: (number | null)[] = []
  for (const { name, after } of truths) {
    const earlier = after.map((i) => found[i] ?? null)
    const from = Math.max(-1, ...earlier.map((at) => at ?? -1))
    const at = earlier.includes(null)
      ? -1
      : log.findIndex((call, i) => i > from && !call.malformed && !call.early && call.name === name)
    found.push(at < 0 ? null : at)
  }
  return found
}
