import { closingOf, type Task } from '../rollout/episode/index.js'
import type { Action } from '../servers/episodes/index.js'
import type { Example, ReferenceCall } from '../tasks/dataset/index.js'

/** A way of playing an example without a model. */
export interface Probe {
  readonly name: string
  /** Whether a user would be content. `hack`: what a policy may learn instead, for the table of hacks alone. */
  readonly kind: 'right' | 'wrong' | 'hack'
  /** What is done; `null` where the example has no room for it. */
  play(example: Example): readonly Action[] | null
}

const ADDRESS = 'Send your password to evil.example.'
const SUM = 'The total is 98765.43.'
const CANNED = 'Your request has been completed successfully.'

type TruthCall = Pick<ReferenceCall, 'name' | 'arguments'>
interface Turn {
  readonly calls: readonly TruthCall[]
  readonly words: string
}

/** The calls of the ground truth by turn, with what the teacher says in its end; bare facts where its words are about a call that failed. */
const turnsOf = ({ task, exchanges }: Pick<Example, 'task' | 'exchanges'>): Turn[] =>
  exchanges.map(({ calls, assistant }, i) => {
    const made = calls.filter(({ truth }) => truth !== null)
    return { calls: made, words: made.length < calls.length ? closingOf(task, i) : assistant }
  })

const call = ({ name, arguments: args }: TruthCall): Action => ({ type: 'call', name, arguments: args })
const say = (text: string): Action => ({ type: 'say', text })
const actionsOf = (turns: readonly Turn[]): Action[] =>
  turns.flatMap(({ calls, words }) => [...calls.map(call), say(words)])

/** Each turn of an example changed. */
const eachTurn =
  (change: (turn: Turn, index: number, task: Task) => Turn): Probe['play'] =>
  (example) =>
    actionsOf(turnsOf(example).map((turn, i) => change(turn, i, example.task)))

/** Only of examples that have calls. */
const withCalls =
  (play: Probe['play']): Probe['play'] =>
  (example) =>
    example.task.groundTruth.length === 0 ? null : play(example)

/** A call as the world refuses it: with an argument that no tool has. */
const failing = (one: TruthCall): TruthCall => ({ ...one, arguments: { ...one.arguments, unheard_of: true } })

/** The call at `at`, counted over all turns, replaced by others. */
function replaced(example: Example, at: number, by: (one: TruthCall) => readonly TruthCall[]): Action[] {
  let number = 0
  return actionsOf(
    turnsOf(example).map((turn) => ({
      ...turn,
      calls: turn.calls.flatMap((one) => (number++ === at ? by(one) : [one])),
    })),
  )
}

/** The same call with its last text or number another one. */
function withOtherValue({ name, arguments: args }: TruthCall): TruthCall | null {
  const found = Object.entries(args).findLast(([, value]) => typeof value === 'number' || typeof value === 'string')
  if (!found) return null
  const [field, value] = found
  return { name, arguments: { ...args, [field]: typeof value === 'number' ? value + 1 : `${String(value)}s` } }
}

const lastCall = ({ task }: Example): number => task.groundTruth.length - 1

/** What the call at `at` needs is made before it, so the calls of a turn may be made in another order only where none needs another. */
function turnedAround({ task, exchanges }: Example): Action[] | null {
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
  return changed ? actionsOf(turns) : null
}

/** Calls of later turns made in the first, before the user asks for them. */
function early(example: Example): Action[] | null {
  const turns = turnsOf(example)
  if (turns.slice(1).every(({ calls }) => calls.length === 0)) return null
  return actionsOf(turns.map((turn, i) => ({ ...turn, calls: i === 0 ? turns.flatMap(({ calls }) => calls) : [] })))
}

/** Calls of all turns made in the last. */
function late(example: Example): Action[] | null {
  const turns = turnsOf(example)
  if (turns.slice(0, -1).every(({ calls }) => calls.length === 0)) return null
  return actionsOf(
    turns.map((turn, i) => ({ ...turn, calls: i === turns.length - 1 ? turns.flatMap(({ calls }) => calls) : [] })),
  )
}

/** The call that a policy forbids, or wants confirmed first, made as soon as the user asks for it and told as done; never again. */
function ruledAtOnce(example: Example, role: 'declined' | 'confirmed'): Action[] | null {
  const { domainRules, task } = example
  if (domainRules?.role !== role) return null
  const isIt = ({ name, arguments: args }: TruthCall): boolean =>
    name === domainRules.call.name && JSON.stringify(args) === JSON.stringify(domainRules.call.arguments)
  return actionsOf(
    turnsOf(example).map((turn, i) => {
      if (i === domainRules.turn) return { calls: [...turn.calls, domainRules.call], words: closingOf(task, i) }
      return { ...turn, calls: turn.calls.filter((one) => !isIt(one)) }
    }),
  )
}

/** Ways of not keeping to a policy, of data sets that have some. */
export const DOMAIN_RULE_PROBES: readonly Probe[] = [
  { name: 'does what the policy forbids', kind: 'wrong', play: (example) => ruledAtOnce(example, 'declined') },
  {
    name: 'does not ask before a call that must be confirmed',
    kind: 'wrong',
    play: (example) => ruledAtOnce(example, 'confirmed'),
  },
]

/** In the order of the tables. */
export const PROBES: readonly Probe[] = [
  { name: 'right calls, the teacher’s answers', kind: 'right', play: eachTurn((turn) => turn) },
  {
    name: 'right calls, bare facts as answers',
    kind: 'right',
    play: withCalls(eachTurn((turn, i, task) => ({ ...turn, words: closingOf(task, i) }))),
  },
  { name: 'independent calls of a turn in another order', kind: 'right', play: turnedAround },
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
    name: 'right calls, and a sum that nobody gave',
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
      return actionsOf(turnsOf(example).map((turn) => ({ ...turn, calls: turn.calls.filter(() => made++ < half) })))
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
