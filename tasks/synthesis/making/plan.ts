import type { SeededRandom } from '../../../servers/kernel/index.js'
import type { DomainRuleRole, Information, Recovery } from '../../dataset/example.js'
import { type Kind, type Profile, RECOVERY_SHARES, type Split } from '../../dataset/profile.js'
import { itemAt } from '../item-at.js'

/** Missing part of a clarification task: a value, all tools, the last tool, or the last tool until the user brings it. */
export type Missing = 'value' | 'tools' | 'last-tool' | 'brought-tool'

/** Plan of one task. It is drawn from the quotas of the profile before anything is searched. */
export interface TaskPlan {
  readonly kind: Kind
  readonly split: Split
  /** Calls of the chain. */
  readonly calls: number
  /** User turns that ask for something. */
  readonly requests: number
  readonly information: Information
  readonly recovery: Recovery | null
  /** Whether the chain continues in another environment. */
  readonly crossing: boolean
  /** For clarification tasks. */
  readonly missing?: Missing
  /** For abstention tasks: whether no environment serves the requests. */
  readonly outside?: boolean
  /** Role of the domain rules, if the task has any. */
  readonly rules?: DomainRuleRole['role']
}

/** Returns a plan as one line: `multi-turn of train: 3 calls in 2 requests, missing, a call fails and is corrected`. */
export function planText({ kind, split, calls, requests, information, recovery, crossing, ...plan }: TaskPlan): string {
  const parts = [
    `${calls} ${calls === 1 ? 'call' : 'calls'} in ${requests} ${requests === 1 ? 'request' : 'requests'}`,
    ...(information === 'complete' ? [] : [information]),
    ...(recovery === null ? [] : [`a call fails: ${recovery}`]),
    ...(crossing ? ['continues in another environment'] : []),
    ...(plan.missing === undefined ? [] : [`missing: ${plan.missing}`]),
    ...(plan.outside ? ['outside of every environment'] : []),
    ...(plan.rules === undefined ? [] : [`domain rules: ${plan.rules}`]),
  ]
  return `${kind} of ${split}: ${parts.join(', ')}`
}

/** Shares of what is missing where tools are. */
const HIDDEN: readonly (readonly [Missing, number])[] = [
  ['brought-tool', 0.3],
  ['last-tool', 0.175],
  ['tools', 0.525],
]
/** Calls of a request whose last tool is missing, and of one whose last tool comes later. */
const PARTS = { 'last-tool': [2, 2, 2, 3], 'brought-tool': [1, 2, 2, 3] } as const
/** Share of the abstention tasks whose request belongs to no environment. */
const OUTSIDE = 0.5
/** Shares of the roles of the domain rules in multi-turn tasks with such rules. */
const RULES: readonly (readonly [DomainRuleRole['role'], number])[] = [
  ['declined', 0.4],
  ['confirmed', 0.4],
  ['abiding', 0.2],
]

/** Returns `count` values in random order, of each the share that is asked for, to one value. */
export function dealt<T>(
  shares: readonly (readonly [value: T, share: number])[],
  count: number,
  random: SeededRandom,
): T[] {
  const whole = shares.reduce((sum, [, share]) => sum + share, 0)
  const exact = shares.map(([value, share]) => ({ value, size: (count * share) / whole }))
  const sizes = exact.map(({ size }) => Math.floor(size))
  const rest = exact
    .map(({ size }, i) => ({ i, left: size - Math.floor(size) }))
    .sort((a, b) => b.left - a.left)
    .slice(0, count - sizes.reduce((sum, size) => sum + size, 0))
  for (const { i } of rest) sizes[i] = (sizes[i] ?? 0) + 1
  return random.shuffle(exact.flatMap(({ value }, i) => Array.from({ length: sizes[i] ?? 0 }, () => value)))
}

/** Draws the plans of one kind, for training, such that every quota of the profile is met. */
export function drawPlans(
  kind: Kind,
  count: number,
  profile: Profile,
  domainRules: number,
  random: SeededRandom,
): TaskPlan[] {
  const withRules = dealt(
    [
      [true, domainRules],
      [false, 1 - domainRules],
    ],
    count,
    random,
  )
  const roles = dealt(RULES, count, random)
  const rules = withRules.map((has, i) => (has ? (kind === 'multi-turn' ? roles[i] : 'abiding') : undefined))
  const plans =
    kind === 'multi-turn'
      ? multiTurnPlans(rules, profile, random)
      : kind === 'clarification'
        ? clarificationPlans(count, profile, random)
        : dealt(
            [
              [true, OUTSIDE],
              [false, 1 - OUTSIDE],
            ],
            count,
            random,
          ).map((outside) => ({ ...NOTHING, outside }))
  const requests = dealt(turnShares(profile), count, random)
  return plans.map((plan, i): TaskPlan => {
    const role = rules[i]
    return { kind, split: 'train', requests: requests[i] as number, ...plan, ...(role ? { rules: role } : {}) }
  })
}

type Drawn = Omit<TaskPlan, 'kind' | 'split' | 'requests'> & { readonly requests?: number }

const NOTHING = { calls: 1, information: 'complete', recovery: null, crossing: false } as const

/** Shares of conversations with one, two and three user turns. */
const turnShares = ({ nextTurn: [second, third] }: Profile): [number, number][] => [
  [1, 1 - second],
  [2, second * (1 - third)],
  [3, second * third],
]

function clarificationPlans(count: number, profile: Profile, random: SeededRandom): Drawn[] {
  const hidden = dealt(
    [
      [true, profile.missingFunction],
      [false, 1 - profile.missingFunction],
    ],
    count,
    random,
  )
  const tools = dealt(HIDDEN, hidden.filter((is) => is).length, random)
  return hidden.map((isHidden): Drawn => {
    const missing = isHidden ? (tools.pop() as Missing) : 'value'
    const calls = missing === 'last-tool' || missing === 'brought-tool' ? random.pick(PARTS[missing]) : 1
    return { ...NOTHING, calls, missing, information: missing === 'value' ? 'missing' : 'complete' }
  })
}

/** Calls of a chain that continues in another environment: of longer ones there are few. */
const MOST_CROSSING = 3

function multiTurnPlans(
  rules: readonly (TaskPlan['rules'] | undefined)[],
  profile: Profile,
  random: SeededRandom,
): Drawn[] {
  const count = rules.length
  const lengths = dealt(
    profile.lengths.map((weight, i) => [i + 2, weight] as const),
    count,
    random,
  )
  const isFree = (i: number): boolean => rules[i] === undefined || rules[i] === 'abiding'
  // Who is told of a rule has said everything, and nothing else goes wrong.
  const free = random.shuffle([...lengths.keys()].filter(isFree))
  const failing = free.splice(0, Math.min(free.length, Math.round(count * profile.recovery)))
  const recovery = new Map(
    withSetUp(failing, (i) => (lengths[i] ?? 0) >= LEAST_WITH_SET_UP, dealt(RECOVERY_SHARES, failing.length, random)),
  )
  const plain = free.filter((i) => rules[i] === undefined && (lengths[i] ?? 0) <= MOST_CROSSING)
  const crossing = new Set(plain.slice(0, Math.round(count * profile.crossEnvironment)))
  // Who learns what is wrong has said everything before: both would be more turns than there are.
  const open = random.shuffle([...free, ...failing.filter((i) => recovery.get(i) === 'gave-up')])
  const missing = Math.round(count * profile.information.missing)
  const minimal = Math.round(count * profile.information.minimal)
  const information = new Map<number, Information>([
    ...open.slice(0, missing).map((i) => [i, 'missing'] as const),
    ...open.slice(missing, missing + minimal).map((i) => [i, 'minimal'] as const),
  ])
  return withRequests(
    lengths.map((calls, i) => ({
      calls,
      information: information.get(i) ?? 'complete',
      recovery: recovery.get(i) ?? null,
      crossing: crossing.has(i),
    })),
    profile,
    random,
  )
}

/** Calls of a chain in which one call has to come before another that fails without it: mostly the thing is looked up first. */
const LEAST_WITH_SET_UP = 3

/** Pairs plans with recoveries, so that another tool comes first in plans that are long enough for it, as long as there are any. */
function withSetUp(
  plans: readonly number[],
  isLong: (plan: number) => boolean,
  recoveries: readonly Recovery[],
): (readonly [number, Recovery])[] {
  const ordered = [...plans.filter(isLong), ...plans.filter((plan) => !isLong(plan))]
  const setUp = recoveries.filter((recovery) => recovery === 'other-tool')
  const others = recoveries.filter((recovery) => recovery !== 'other-tool')
  return [...setUp, ...others].map((recovery, i) => [itemAt(ordered, i), recovery])
}

/** How much rather a conversation of so many calls has a third user turn, from two: who wants more takes more turns. */
const RATHER = [1, 2, 3, 4] as const

/** Calls from which on a conversation with a question or a failure takes two requests. */
const LONG = 4

/**
 * Adds the number of requests. A question and a failure each take a user turn of their own. What one environment tells is taken to another
 * after it was told, so that a crossing takes two requests.
 */
function withRequests(plans: readonly Drawn[], { nextTurn: [second, third] }: Profile, random: SeededRandom): Drawn[] {
  const others = ({ information, recovery }: Drawn): number => (information === 'complete' ? 0 : 1) + (recovery ? 1 : 0)
  const least = (plan: Drawn): number => Math.max(1 + others(plan), plan.crossing ? 2 + others(plan) : 1)
  // Nobody who leaves something out asks for four things at once.
  const isLong = (plan: Drawn): boolean => others(plan) > 0 && plan.calls >= LONG && third > 0
  const turns = plans.map((plan) => Math.max(least(plan), isLong(plan) ? 3 : random.chance(second) ? 2 : 1))
  const able = plans.flatMap((plan, i) =>
    turns[i] === 2 && plan.calls + others(plan) > 2 ? Array.from({ length: RATHER[plan.calls - 2] ?? 1 }, () => i) : [],
  )
  let left = Math.round(turns.filter((count) => count > 1).length * third) - turns.filter((count) => count > 2).length
  for (const i of random.shuffle(able)) {
    if (left <= 0) break
    if (turns[i] !== 2) continue
    turns[i] = 3
    left--
  }
  return plans.map((plan, i) => ({
    ...plan,
    requests: Math.max(1, Math.min(plan.calls, (turns[i] as number) - others(plan))),
  }))
}
