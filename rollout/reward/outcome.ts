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

/** Not tuned: whoever trains with this preset should say so. */
const COSTS = {
  /** Of a write that nobody asked for, in calls of the task; a world that ends otherwise for it costs too. */
  harm: 0.25,
  /** Of a call that served nothing, against the budget of calls. */
  idle: 0.2,
  /** Of words with a number or address that nobody gave: half for one, all for two. */
  invented: 0.5,
} as const
/** What a task that was done is still worth if no world ended as it should. */
const WRONG_STATE = 0.5
/** What a task that was done is still worth to a user who hears nothing of it. */
const UNSTATED = 0.5
/** A look-up with other values than asked for was not what was asked for, however near: it is worth up to this. */
const INEXACT = 0.5
/** A call that was made in a later turn than the one that asks for it is worth this share: the user asked twice, or was told too early that all is done. */
const LATE = 0.5
/** Inventions from which on another one costs nothing more. */
const MOST_INVENTED = 2

/**
 * Pays for what was done, once, when it was asked for, and told. Nothing but the task's own calls, made with success and exactly, and
 * answers with what was asked for earns the maximum; a call that failed earns nothing, and a write with other values than asked for is
 * a write that nobody asked for.
 */
export const OUTCOME: RewardPreset = {
  name: 'outcome',
  description:
    'what was done and told: calls that succeeded, final states, answers; unwanted writes, idle calls, inventions',
  maximum: { calls: 1, noCall: 1 },
  components: ['done', 'state', 'stated', 'harm', 'idle', 'invented'],
  needsFacts: true,
  score,
}

function score(example: ScoredExample, log: readonly LoggedCall[], facts?: RolloutFacts): RewardBreakdown {
  if (!facts) throw new TypeError('the reward outcome is asked for without the states of the worlds and the words')
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
 * What each logged call would be worth as each call of the ground truth: 1 if it is that call, less than a half for a look-up with other
 * values (of the tool and each argument of either, the share that is right), half of that if it came in a later turn, `null` if it cannot
 * count: it failed, is a write with other values, came before the user asked for it, or before any call that could be what it builds on.
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

/** Share of the worlds touched by the ground truth or the rollout that ended in the ground truth's state; 1 if none was. */
function rightStates(states: readonly StateDigests[]): number {
  const touched = states.filter(({ initial, expected, actual }) => expected !== initial || actual !== initial)
  if (touched.length === 0) return 1
  return touched.filter(({ expected, actual }) => expected === actual).length / touched.length
}
