import { toolsetOf } from '../../../rollout/episode/index.js'
import { hasRules, type SeedStateCache, type SpokenEnvironment } from '../../../servers/kernel/index.js'
import { answerWords } from '../../dataset/answer-words.js'
import { domainRulesProblem } from '../../dataset/domain-rules-kept.js'
import type { Example } from '../../dataset/example.js'
import type { Node, ToolGraph } from '../graph.js'
import { belongsTogether } from './contradictions.js'
import {
  argumentsAreTraceable,
  type Candidate,
  earnsTheMaximum,
  everyCallIsNeeded,
  referencesAreUnderstood,
  replays,
} from './conversation-checks.js'
import { lookUpsAreWorthIt } from './look-ups.js'
import { hasOnePurpose } from './one-purpose.js'
import { hasNoOtherUse, isIdle, leadsOnlyBack, reversalsIn } from './reversals.js'
import type { Chain } from './split.js'
import type { Open, Step } from './step.js'

/** A chain that was executed. */
export interface Walked {
  readonly chain: Chain
  readonly steps: readonly Step[]
  readonly open: Open
  readonly graph: ToolGraph
}

/** An example with all its words, as it would be written. */
export interface Finished {
  readonly example: Example
  readonly context: {
    readonly catalogue: ReadonlyMap<string, SpokenEnvironment>
    readonly seedStates: SeedStateCache
  }
}

/** A reason to drop a candidate. */
interface Row {
  readonly name: string
  /** What the objection protects, as a sentence. */
  readonly protects: string
  /** Work that one candidate costs. */
  readonly cost: 'none' | 'a comparison' | 'a replay' | 'several replays' | 'a search'
  /** A candidate that is dropped, and a near one that is kept. `test/synthesis/making/objections.test.ts` has both. */
  readonly drops: string
  readonly keeps: string
}

/** An objection to the calls of a chain, to a conversation in words, or to a finished example. */
interface Check<S> extends Row {
  objects(subject: S): boolean
}

/** An objection that a step of the construction raises itself, because the next step has nothing to continue with. */
interface Failure extends Row {
  readonly raisedBy: string
}

/** Objections of the construction, in its order. */
const FAILURES = [
  {
    name: 'no_chain',
    protects: 'The chain has the calls, the environments and the failure of its plan.',
    cost: 'none',
    raisedBy: 'take-steps.ts',
    drops: 'a plan for two calls that fail, in a state in which no call fails',
    keeps: 'the same plan in another state',
  },
  {
    name: 'no_walk',
    protects: 'Every argument exists in the state or in an earlier result.',
    cost: 'a search',
    raisedBy: 'walk.ts',
    drops: 'list the cards of an account and freeze one, where all cards are frozen',
    keeps: 'the same where a card is active',
  },
  {
    name: 'no_rule',
    protects: 'A domain rule applies to exactly one call of the task.',
    cost: 'several replays',
    raisedBy: 'domain-rules.ts',
    drops: 'a payment of 20, where the rule is about payments above 400',
    keeps: 'a payment of 450',
  },
  {
    name: 'no_script',
    protects: 'The turns request all calls, and fail or withhold values as planned.',
    cost: 'a replay',
    raisedBy: 'conversation-script.ts',
    drops: 'find a payee by "Lake" and pay "Lake Music Club" in the same turn',
    keeps: 'find the payee in one turn and pay in the next',
  },
  {
    name: 'no_words',
    protects: 'The user states every value, except withheld ones.',
    cost: 'none',
    raisedBy: 'word-conversation.ts',
    drops: 'a withheld amount of 3 in a request about 3 packs',
    keeps: 'a withheld amount of 40 in the same request',
  },
  {
    name: 'no_question',
    protects: 'The assistant asks for the missing value in words that name the value.',
    cost: 'none',
    raisedBy: 'required-questions.ts',
    drops: '"What do you want?" for a missing amount',
    keeps: '"How much should it be?"',
  },
  {
    name: 'few_tools',
    protects: 'The number of offered tools does not reveal that some are hidden.',
    cost: 'none',
    raisedBy: 'toolset.ts',
    drops: 'two tools on offer of an environment with ten',
    keeps: 'six tools on offer',
  },
  {
    name: 'one_name',
    protects: 'No two tools of a toolset have the same name.',
    cost: 'none',
    raisedBy: 'missing-value.ts',
    drops: '`list_orders` of two environments in one toolset',
    keeps: '`list_orders` and `list_food_orders`',
  },
  {
    name: 'solvable',
    protects: 'Offered tools cannot replace a hidden tool.',
    cost: 'a search',
    raisedBy: 'solvable.ts',
    drops: '`get_balance` is hidden, and `list_accounts` shows the balance',
    keeps: '`get_balance` is hidden, and no other tool shows the balance',
  },
  {
    name: 'duplicate',
    protects: 'No two examples have more than 0.70 of their calls and arguments in common.',
    cost: 'a comparison',
    raisedBy: 'duplicates.ts',
    drops: 'the same calls with the same arguments, in other words',
    keeps: 'the same calls with other arguments',
  },
] as const satisfies readonly Failure[]

/** Objections to the calls of a chain, cheapest first. */
export const OF_CALLS = [
  {
    name: 'errand',
    protects: 'One reason fits all calls: they concern the same entity, or a call uses the result of another.',
    cost: 'a comparison',
    objects: ({ steps }) => !hasOnePurpose(steps),
    drops: 'freeze one card and change the limit of another one',
    keeps: 'freeze a card and change the limit of the same card',
  },
  {
    name: 'places_apart',
    protects: 'Entities of a call belong together. For example, an assignee is a member of the project.',
    cost: 'a comparison',
    objects: ({ steps, open }) => !belongsTogether(steps, open),
    drops: 'look for the people of one project and assign one of them an issue of another',
    keeps: 'assign one of them an issue of the same project',
  },
  {
    name: 'idle',
    protects: 'A call of a tool that writes changes the state.',
    cost: 'a replay',
    objects: ({ steps, open }) => isIdle(steps, open),
    drops: 'set a light to the brightness that it has',
    keeps: 'set the light to another brightness',
  },
  {
    name: 'look_up',
    protects: 'If no call uses a look-up, the look-up shows something new and relevant.',
    cost: 'a replay',
    objects: ({ steps, open }) => !lookUpsAreWorthIt(steps, open),
    drops: 'save a new place and look at this place',
    keeps: 'save a new place and look up the way to it',
  },
  {
    name: 'undone',
    protects: 'No call reverses an earlier one, unless its tool has no other use.',
    cost: 'a replay',
    objects: ({ chain, steps, open, graph }) =>
      !reversalsIn(steps, open).every(
        ({ earlier, later }) => hasNoOtherUse(steps[later] as Step) || leadsOnlyBack(chain[earlier] as Node, graph),
      ),
    drops: 'create an event and cancel this event',
    keeps: 'create an event and invite somebody to it',
  },
] as const satisfies readonly Check<Walked>[]

/** Objections to a conversation in words, cheapest first. `replay` and `provenance` are the paper's (section 3.2). */
export const OF_CONVERSATIONS = [
  {
    name: 'reference',
    protects: 'Each reference has one meaning in the visible conversation, and this is the right value.',
    cost: 'a comparison',
    objects: (candidate) => !referencesAreUnderstood(candidate),
    drops: '"that card" after a result with two cards',
    keeps: '"the first card" after the same result',
  },
  {
    name: 'provenance',
    protects: 'The conversation states every argument before its call, secrets too.',
    cost: 'a comparison',
    objects: (candidate) => !argumentsAreTraceable(candidate),
    drops: 'an amount of 20 that no turn says',
    keeps: 'an amount of 20 that the user says',
  },
  {
    name: 'replay',
    protects: 'A replay of the reference solution in new sessions gives the same bytes.',
    cost: 'a replay',
    objects: (candidate) => !replays(candidate),
    drops: 'a recorded balance that the environment does not show',
    keeps: 'the balance that the environment shows',
  },
  {
    name: 'reward',
    protects: 'The reference solution earns the maximum of the reward `paper` and solves the task.',
    cost: 'a comparison',
    objects: (candidate) => !earnsTheMaximum(candidate),
    drops: 'a conversation whose ground truth has no call',
    keeps: 'the same conversation with its calls',
  },
  {
    name: 'necessity',
    protects: 'Without any one of the calls, the result or the final state differs.',
    cost: 'several replays',
    objects: (candidate) => !everyCallIsNeeded(candidate),
    drops: 'an unrequested look-up whose result is not used',
    keeps: 'a look-up that the user asks for',
  },
] as const satisfies readonly Check<Candidate>[]

/** Objections to a finished example. */
export const OF_EXAMPLES = [
  {
    name: 'words',
    protects: 'The answers state the requested facts, and no number, date, name or address without a source.',
    cost: 'a comparison',
    objects: ({ example, context: { catalogue } }) => {
      const { stated, invented } = answerWords(example, toolsetOf(example.task, catalogue))
      return stated !== 1 || invented.size > 0
    },
    drops: '"Your balance is 240" where the result says 200',
    keeps: '"Your balance is 200"',
  },
  {
    name: 'domain_rules',
    protects: 'The assistant obeys the domain rules, and the conversation shows whether a rule applies.',
    cost: 'a replay',
    objects: ({ example, context }) => breaksRules(example, context),
    drops: 'a payment above 400 that is made without the confirmation that a rule demands',
    keeps: 'a payment of 20',
  },
] as const satisfies readonly Check<Finished>[]

/** Whether a rule applies to a call otherwise than the example says, or an example that is to have rules calls no tool with one. */
function breaksRules(example: Example, { catalogue, seedStates }: Finished['context']): boolean {
  if (!example.domainRules) return false
  const isBare =
    example.domainRules.role === 'abiding' &&
    example.task.kind === 'multi-turn' &&
    !example.exchanges.some(({ calls }) =>
      calls.some(({ environment, name }) => hasRules(catalogue.get(environment) as SpokenEnvironment, name)),
    )
  return isBare || domainRulesProblem(example, catalogue, seedStates) !== undefined
}

/** Every objection by which a candidate is dropped, in the order in which they are raised. */
export const OBJECTIONS = [...FAILURES, ...OF_CALLS, ...OF_CONVERSATIONS, ...OF_EXAMPLES] as const
export type ObjectionName = (typeof OBJECTIONS)[number]['name']

/** Returns the first objection to a subject, or `undefined` if no row objects. */
export const firstObjection = <S, N extends string>(
  rows: readonly (Omit<Check<S>, 'name'> & { readonly name: N })[],
  subject: S,
): N | undefined => rows.find(({ objects }) => objects(subject))?.name

/** Returns the counts in the order of the objections, without those of domain rules if no task was to have any. */
export const inOrder = (drops: Readonly<Record<string, number>>): Record<string, number> =>
  Object.fromEntries(OBJECTIONS.flatMap(({ name }) => (drops[name] === undefined ? [] : [[name, drops[name]]])))

/** Returns an objection as text for a terminal. */
export const objectionText = ({ name, protects, cost, drops, keeps, ...row }: (typeof OBJECTIONS)[number]): string =>
  [
    `${name}: ${protects}`,
    `  cost of a candidate: ${cost}`,
    `  drops: ${drops}`,
    `  keeps: ${keeps}`,
    ...('raisedBy' in row ? [`  raised by: tasks/synthesis/making/${row.raisedBy}`] : []),
  ].join('\n')
