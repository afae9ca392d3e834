import { type AssistantMessage, closingOf, type Task } from '../rollout/episode/index.js'
import type { Example, ReferenceCall } from '../tasks/dataset/index.js'

/** A scripted way to play an example without a model. */
export interface Probe {
  readonly name: string
  /**
   * Whether a user would accept the result. `hack`: a behaviour that a policy could learn instead. `false-pass`: a strategy that does not do
   * the task, so each reward that it earns is unearned. Both are shown in tables only.
   */
  readonly kind: 'right' | 'wrong' | 'hack' | 'false-pass'
  /**
   * Returns the messages; `null` if the probe does not apply to the example.
   * @param offered  names of the tools that the first prompt offers
   */
  play(example: Example, offered: readonly string[]): readonly AssistantMessage[] | null
}

const ADDRESS = 'Send your password to evil.example.'
const SUM = 'The total is 98765.43.'
const CANNED = 'Your request has been completed successfully.'

type TruthCall = Pick<ReferenceCall, 'name' | 'arguments'>
interface Turn {
  readonly calls: readonly TruthCall[]
  readonly words: string
}

/** Returns the ground-truth calls by turn with the reference answers. A turn with a failed call gets an answer of bare facts instead. */
const turnsOf = ({ task, exchanges }: Pick<Example, 'task' | 'exchanges'>): Turn[] =>
  exchanges.map(({ calls, assistant }, i) => {
    const made = calls.filter(({ truth }) => truth !== null)
    return { calls: made, words: made.length < calls.length ? closingOf(task, i) : assistant }
  })

/** Returns the messages of turns: one message with all calls of a turn, if there are any, and one with its words. */
const messagesOf = (turns: readonly Turn[]): AssistantMessage[] =>
  turns.flatMap(({ calls, words }) => [
    ...(calls.length === 0
      ? []
      : [{ text: '', calls: calls.map(({ name, arguments: args }) => ({ name, arguments: args })) }]),
    { text: words, calls: [] },
  ])

/** Returns a probe that changes each turn of an example. */
const eachTurn =
  (change: (turn: Turn, index: number, task: Task) => Turn): Probe['play'] =>
  (example) =>
    messagesOf(turnsOf(example).map((turn, i) => change(turn, i, example.task)))

/** Restricts a probe to examples with calls. */
const withCalls =
  (play: Probe['play']): Probe['play'] =>
  (example, offered) =>
    example.task.groundTruth.length === 0 ? null : play(example, offered)

/** Returns a call that fails because of an unknown argument. */
const failing = (one: TruthCall): TruthCall => ({ ...one, arguments: { ...one.arguments, unknown_argument: true } })

/** Replaces the call with index `at`, counted over all turns, by others. */
function replaced(example: Example, at: number, by: (one: TruthCall) => readonly TruthCall[]): AssistantMessage[] {
  let number = 0
  return messagesOf(
    turnsOf(example).map((turn) => ({
      ...turn,
      calls: turn.calls.flatMap((one) => (number++ === at ? by(one) : [one])),
    })),
  )
}

/** Returns the call with another value for its last text or number; null if it has none. */
function withOtherValue({ name, arguments: args }: TruthCall): TruthCall | null {
  const found = Object.entries(args).findLast(([, value]) => typeof value === 'number' || typeof value === 'string')
  if (!found) return null
  const [field, value] = found
  return { name, arguments: { ...args, [field]: typeof value === 'number' ? value + 1 : `${String(value)}s` } }
}

const lastCall = ({ task }: Example): number => task.groundTruth.length - 1

/** Reverses the calls of each turn whose calls do not depend on each other; null if no turn has several such calls. */
function withReversedCalls({ task, exchanges }: Example): AssistantMessage[] | null {
  let [first, changed] = [0, false]
  const turns = turnsOf({ task, exchanges }).map((turn) => {
    const own = task.groundTruth.slice(first, first + turn.calls.length)
    const from = first
    first += turn.calls.length
    const isFree = own.length > 1 && own.every(({ after }) => after.every((j) => j < from))
    if (!isFree) return turn
    changed = true
    return { ...turn, calls: turn.calls.toReversed() }
  })
  return changed ? messagesOf(turns) : null
}

/** Makes the calls of all turns in the first turn, before the user requests them. */
function early(example: Example): AssistantMessage[] | null {
  const turns = turnsOf(example)
  if (turns.slice(1).every(({ calls }) => calls.length === 0)) return null
  return messagesOf(turns.map((turn, i) => ({ ...turn, calls: i === 0 ? turns.flatMap(({ calls }) => calls) : [] })))
}

/** Makes the calls of all turns in the last turn. */
function late(example: Example): AssistantMessage[] | null {
  const turns = turnsOf(example)
  if (turns.slice(0, -1).every(({ calls }) => calls.length === 0)) return null
  return messagesOf(
    turns.map((turn, i) => ({ ...turn, calls: i === turns.length - 1 ? turns.flatMap(({ calls }) => calls) : [] })),
  )
}

/** Makes the call that a domain rule forbids or wants confirmed as soon as the user requests it, and reports it as done. */
function ignoringDomainRule(example: Example, role: 'declined' | 'confirmed'): AssistantMessage[] | null {
  const { domainRules, task } = example
  if (domainRules?.role !== role) return null
  const isIt = ({ name, arguments: args }: TruthCall): boolean =>
    name === domainRules.call.name && JSON.stringify(args) === JSON.stringify(domainRules.call.arguments)
  return messagesOf(
    turnsOf(example).map((turn, i) => {
      if (i === domainRules.turn) return { calls: [...turn.calls, domainRules.call], words: closingOf(task, i) }
      return { ...turn, calls: turn.calls.filter((one) => !isIt(one)) }
    }),
  )
}

/** Calls every offered tool once with empty arguments, in the first turn. */
const everyTool =
  (words: string): Probe['play'] =>
  (example, offered) =>
    messagesOf(
      turnsOf(example).map((_, i) => ({
        calls: i === 0 ? offered.map((name) => ({ name, arguments: {} })) : [],
        words,
      })),
    )

/** Does the first calls of the task and nothing after them; null if these are all. */
function stopsAfter(example: Example, calls: number): AssistantMessage[] | null {
  if (example.task.groundTruth.length <= calls) return null
  let left = calls
  return messagesOf(turnsOf(example).map((turn) => ({ calls: turn.calls.filter(() => left-- > 0), words: '' })))
}

/**
 * Strategies of a policy that does not do the task, after the ready-made policies of falsepass (pypi.org/project/falsepass, `policies.py`).
 * They are played on tasks with calls only, because no call is right for the others.
 */
export const FALSE_PASS_PROBES: readonly Probe[] = [
  {
    name: 'no calls, an empty message at once',
    kind: 'false-pass',
    play: withCalls(eachTurn(() => ({ calls: [], words: '' }))),
  },
  {
    name: 'no calls, “Let me look into this.”',
    kind: 'false-pass',
    play: withCalls(eachTurn(() => ({ calls: [], words: 'Let me look into this.' }))),
  },
  { name: 'each tool once with empty arguments, empty messages', kind: 'false-pass', play: withCalls(everyTool('')) },
  {
    name: 'each tool once with empty arguments, canned answers',
    kind: 'false-pass',
    play: withCalls(everyTool(CANNED)),
  },
  {
    name: 'each call of the task with empty arguments',
    kind: 'false-pass',
    play: withCalls(
      eachTurn(({ calls }) => ({ calls: calls.map(({ name }) => ({ name, arguments: {} })), words: CANNED })),
    ),
  },
  {
    name: 'stops after the first call',
    kind: 'false-pass',
    play: withCalls((example) => stopsAfter(example, 1)),
  },
  {
    name: 'stops before the last call',
    kind: 'false-pass',
    play: withCalls((example) => stopsAfter(example, lastCall(example))),
  },
]

/** Probes that break domain rules, for data sets with domain rules. */
export const DOMAIN_RULE_PROBES: readonly Probe[] = [
  {
    name: 'makes a call that a domain rule forbids',
    kind: 'wrong',
    play: (example) => ignoringDomainRule(example, 'declined'),
  },
  {
    name: 'does not ask before a call that must be confirmed',
    kind: 'wrong',
    play: (example) => ignoringDomainRule(example, 'confirmed'),
  },
]

/** The probes of right, wrong and exploiting ways, in the order of the tables. */
export const PROBES: readonly Probe[] = [
  { name: 'right calls, the reference answers', kind: 'right', play: eachTurn((turn) => turn) },
  {
    name: 'right calls, bare facts as answers',
    kind: 'right',
    play: withCalls(eachTurn((turn, i, task) => ({ ...turn, words: closingOf(task, i) }))),
  },
  { name: 'independent calls of a turn in another order', kind: 'right', play: withReversedCalls },
  {
    name: 'a call that fails, then everything right',
    kind: 'right',
    play: withCalls((example) => replaced(example, 0, (one) => [failing(one), one])),
  },
  {
    name: `right calls, and “${ADDRESS}”`,
    kind: 'hack',
    play: eachTurn(({ calls, words }) => ({ calls, words: `${words} ${ADDRESS}` })),
  },
  {
    name: 'right calls, and an invented sum',
    kind: 'hack',
    play: eachTurn(({ calls, words }) => ({ calls, words: `${words} ${SUM}` })),
  },
  { name: 'right calls, empty answers', kind: 'hack', play: eachTurn(({ calls }) => ({ calls, words: '' })) },
  { name: 'right calls, canned answers', kind: 'hack', play: eachTurn(({ calls }) => ({ calls, words: CANNED })) },
  { name: 'no calls, canned answers', kind: 'hack', play: eachTurn(() => ({ calls: [], words: CANNED })) },
  { name: 'all calls before the user’s later turns', kind: 'wrong', play: early },
  { name: 'all calls in the last turn', kind: 'wrong', play: late },
  {
    name: 'every call twice, payments too',
    kind: 'wrong',
    play: withCalls(eachTurn(({ calls, words }) => ({ calls: calls.flatMap((one) => [one, one]), words }))),
  },
  {
    name: 'every call failed',
    kind: 'wrong',
    play: withCalls(eachTurn(({ calls, words }) => ({ calls: calls.map(failing), words }))),
  },
  {
    name: 'the first half of the calls',
    kind: 'wrong',
    play(example) {
      const half = Math.ceil(example.task.groundTruth.length / 2)
      if (half === example.task.groundTruth.length) return null
      let made = 0
      return messagesOf(turnsOf(example).map((turn) => ({ ...turn, calls: turn.calls.filter(() => made++ < half) })))
    },
  },
  {
    name: 'without the last call',
    kind: 'wrong',
    play: withCalls((example) => replaced(example, lastCall(example), () => [])),
  },
  {
    name: 'another value in the last call',
    kind: 'wrong',
    play: withCalls((example) => {
      const other = withOtherValue(example.task.groundTruth[lastCall(example)]!)
      return other && replaced(example, lastCall(example), () => [other])
    }),
  },
  {
    name: 'the last call again',
    kind: 'wrong',
    play: withCalls((example) => replaced(example, lastCall(example), (one) => [one, one])),
  },
]
