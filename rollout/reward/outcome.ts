import { equalArguments } from './align.js'
import { bestMatching } from './best-matching.js'
import { checkExample } from './check-example.js'
import { callBudget } from './paper.js'
import type { RewardPreset } from './preset.js'
import type {
  GroundTruthCall,
  JsonObject,
  LoggedCall,
  RewardBreakdown,
  RolloutFacts,
  ScoredExample,
  StateDigests,
} from './types.js'
import { checkWords } from './words.js'

/** Costs of the components. They are not tuned, which results with this preset should mention. */
const COSTS = {
  /** Cost of an unwanted write, as a share of the task's calls; a wrong final state costs in addition. */
  harm: 0.25,
  /** Cost of a useless call, as a share of the call budget. */
  idle: 0.2,
  /** Cost of invented numbers or addresses: half for one, all for two. */
  invented: 0.5,
} as const
/** Worth of a complete task if no environment ends in the expected state. */
const WRONG_STATE = 0.5
/** Worth of a complete task if the answers state none of the facts. */
const UNSTATED = 0.5
/** Maximal worth of a look-up with other values than the user asked for. */
const INEXACT = 0.5
/** Worth of a call in a later turn than the one that asks for it: the user asked twice, or got a wrong answer first. */
const LATE = 0.5
/** Number of inventions beyond which another one costs nothing more. */
const MOST_INVENTED = 2

/**
 * Reward preset `outcome`: it pays for calls that the task needs, once, in the right turn, and for answers that state the facts. Only the
 * exact, successful calls of the task, with complete answers, earn the maximum. A failed call earns nothing. A write with other values
 * counts as an unwanted write.
 */
export const OUTCOME: RewardPreset = {
  name: 'outcome',
  description:
    'results: successful calls, final states, facts in answers; minus unwanted writes, useless calls, inventions',
  maximum: { calls: 1, noCall: 1 },
  components: ['done', 'state', 'stated', 'harm', 'idle', 'invented'],
  needsFacts: true,
  score,
}

function score(example: ScoredExample, log: readonly LoggedCall[], facts?: RolloutFacts): RewardBreakdown {
  if (!facts) throw new TypeError('the reward outcome needs the facts of the rollout: pass final states and texts')
  const { states, turns } = facts
  const { groundTruth } = example
  const tools = checkExample(example)
  const isWrite = (call: LoggedCall): boolean => !call.malformed && call.ok && tools.get(call.name)?.readOnly === false
  const words = checkWords(example, log, facts)
  const stated = UNSTATED + (1 - UNSTATED) * words.stated
  const invented = Math.min(1, words.invented.size / MOST_INVENTED)
  const n = groundTruth.length
  if (n === 0) {
    const done = log.length === 0 ? stated : 0 - COSTS.harm * Math.min(1, log.filter(isWrite).length)
    return { total: done - COSTS.invented * invented, components: null, alignment: [], covered: [] }
  }
  const succeeded = log.map((call) => (call.malformed || !call.ok ? null : { ...call, isWrite: isWrite(call) }))
  const worths = worthsOf(groundTruth, succeeded, turns)
  const alignment = bestMatching(worths)
  const earned = alignment.map((at, i) => (at === null ? 0 : worths[i]![at]!))
  const used = new Set(alignment)
  const components = {
    done: earned.reduce((sum, worth) => sum + worth, 0) / n,
    state: rightStates(states),
    stated: words.stated,
    harm: Math.min(1, log.filter((call, at) => isWrite(call) && !used.has(at)).length / n),
    idle: Math.min(1, log.filter((_, at) => !used.has(at)).length / callBudget(n)),
    invented,
  }
  const { done, state, harm, idle } = components
  const earnings = done * (WRONG_STATE + (1 - WRONG_STATE) * state) * stated
  return {
    total: earnings - COSTS.harm * harm - COSTS.idle * idle - COSTS.invented * invented,
    components,
    alignment,
    covered: alignment.map((at) => at !== null),
  }
}

interface SucceededCall {
  readonly name: string
  readonly arguments: JsonObject
  readonly isWrite: boolean
}

/**
 * Returns the worth of each logged call as each call of the ground truth. It is 1 for an equal call, and less than a half for a look-up with
 * other values (by the share of equal arguments). A later turn halves the worth. It is `null` for a call that cannot count: it failed, is a
 * write with other values, or precedes the user's request or all calls that it depends on.
 */
function worthsOf(
  truths: readonly GroundTruthCall[],
  log: readonly (SucceededCall | null)[],
  turns: readonly number[],
): (number | null)[][] {
  const firsts: number[] = []
  return truths.map((truth, i) => {
    const from = Math.max(-1, ...truth.after.map((j) => firsts[j]!))
    const row = log.map((call, at) => {
      if (call?.name !== truth.name || at <= from) return null
      const asked = truth.turn ?? turns[at]!
      if (turns[at]! < asked) return null
      const share = turns[at]! > asked ? LATE : 1
      const keys = new Set([...Object.keys(truth.arguments), ...Object.keys(call.arguments)]).size
      const equal = equalArguments(truth, call.arguments)
      if (equal === keys) return share
      return call.isWrite ? null : (share * INEXACT * (1 + equal)) / (1 + keys)
    })
    const first = row.findIndex((worth) => worth !== null)
    firsts[i] = first === -1 ? Number.POSITIVE_INFINITY : first
    return row
  })
}

/** Returns the share of correct final states among the environments that the ground truth or the rollout changed; 1 if none changed. */
function rightStates(states: readonly StateDigests[]): number {
  const touched = states.filter(({ initial, expected, actual }) => expected !== initial || actual !== initial)
  if (touched.length === 0) return 1
  return touched.filter(({ expected, actual }) => expected === actual).length / touched.length
}
