import { z } from 'zod'
import { hasEffect, isOptional, meaningOf, type ToolDefinition } from '../../../servers/kernel/index.js'
import { kindsGiven, lookedUp, type Node } from '../graph.js'
import { itemAt, lastOf } from '../item-at.js'
import { oncePer } from '../once-per.js'
import { canLeaveOut } from '../wording/request-clause.js'
import { ACT } from './failed-call.js'
import type { TaskPlan } from './plan.js'
import type { Chain } from './split.js'
import type { Parts } from './step.js'
import { isPreparedBy } from './wiring.js'

/** Kind of conversation that is wanted. */
export type Shape = Pick<TaskPlan, 'requests' | 'information' | 'recovery'>

/**
 * Returns whether the calls of a chain could carry a conversation of a shape, as far as their tools show. Executing a chain only to find
 * that it cannot costs a hundred times as much.
 */
export function canCarry(chain: Chain, { requests, information, recovery }: Shape): boolean {
  if (requests > chain.length) return false
  if (partsOf(chain, { requests, information }).length === 0) return false
  // One request ends with the last call.
  const ends = requests === 1 ? chain.slice(-1) : chain
  const open = requests === 1 ? chain.filter((_, i) => !isTakenUp(chain, i)) : chain
  if (information === 'missing' && !open.some((node) => hasValueToSay(node, chain))) return false
  if (recovery === 'corrected') return ends.some(({ tool }) => valuesIn(tool).some((value) => value !== 'other'))
  if (recovery === 'other-tool') return chain.some((node, i) => i > 0 && isSetUp(chain[i - 1] as Node, node))
  const last = lastOf(chain)
  return recovery !== 'gave-up' || (!hasEffect(last, 'adds') && valuesIn(last.tool).includes('number'))
}

/** Returns whether a call that a failure is wanted of can fail in a state, when a chain is asked for in these turns. */
export function canFailIn(
  { recovery }: Pick<TaskPlan, 'recovery'>,
  chain: Chain,
  parts: Parts,
  state: Failures,
): boolean {
  const fails = (at: number | undefined, again: boolean): boolean => {
    const node = chain[at ?? -1]
    return node !== undefined && (!state.isPossible(node) || state.canFail(node, again))
  }
  const isSetUpIn = (part: readonly number[]): boolean => {
    const [first, second] = part.slice(-2).map((at) => chain[at] as Node)
    return first !== undefined && second !== undefined && isSetUp(first, second) && state.setsUp(first, second)
  }
  if (recovery === 'corrected') return parts.some((part) => fails(part.at(-1), false))
  if (recovery === 'other-tool') return parts.some(isSetUpIn)
  return recovery !== 'gave-up' || fails(chain.length - 1, true)
}

/** What a state tells of failures. */
interface Failures {
  isPossible(node: Node): boolean
  canFail(node: Node, again: boolean): boolean
  setsUp(first: Node, second: Node): boolean
}

/** Whether a call makes true what the next one needs, and is about no thing that the next one does not say. */
const isSetUp = (first: Node, second: Node): boolean =>
  !first.tool.annotations.readOnly &&
  isPreparedBy(first, second) &&
  Object.entries(first.tool.input.shape).every(
    ([field, schema]) => field in second.tool.input.shape || meaningOf(schema).entity === undefined,
  )

/**
 * Returns the ways to ask for the tools of a chain in `requests` turns. Where only a goal is named at first, that turn is for one thing.
 * The last call of that turn needs details, and its other calls look things up for it.
 */
export function partsOf(
  chain: Chain,
  { requests, information }: Pick<Shape, 'requests' | 'information'>,
): readonly Parts[] {
  const isOneGoal = (part: readonly number[]): boolean =>
    hasDetails(itemAt(chain, lastOf(part))) &&
    part.slice(0, -1).every((at) => itemAt(chain, at).tool.annotations.readOnly)
  const all = requests > chain.length ? [] : knownCuts(chain.length, requests)
  return information === 'minimal' ? all.filter(([first]) => isOneGoal(first!)) : all
}

const cuts = new Map<string, readonly Parts[]>()

function knownCuts(length: number, requests: number): readonly Parts[] {
  const name = `${length} ${requests}`
  let known = cuts.get(name)
  if (!known) {
    known = cutsOf(length, requests)
    cuts.set(name, known)
  }
  return known
}

/** Every way to cut `from .. length - 1` into `parts` runs, none empty. */
function cutsOf(length: number, parts: number, from = 0): Parts[] {
  const run = (to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i)
  if (parts === 1) return [[run(length)]]
  const ends = run(length - parts + 2).slice(1)
  return ends.flatMap((to) => cutsOf(length, parts - 1, to).map((rest) => [run(to), ...rest]))
}

/** Whether there is anything to ask for: what needs no argument is simply done. */
export const hasDetails = ({ tool }: Node): boolean =>
  Object.values(tool.input.shape).some((schema) => !isOptional(schema))

/** Whether a later call has to be given what this one alone shows: nobody goes on about a thing before having said which it is. */
function isTakenUp(chain: Chain, at: number): boolean {
  const gives = (node: Node, kind: string): boolean =>
    node.environment === itemAt(chain, at).environment && kindsGiven(node).has(kind)
  return chain.some(
    (later, j) =>
      j > at &&
      later.environment === itemAt(chain, at).environment &&
      lookedUp(later, false).some(
        ([, kind]) =>
          gives(itemAt(chain, at), kind) && !chain.slice(0, j).some((other, i) => i !== at && gives(other, kind)),
      ),
  )
}

/** Whether a call needs a value that can be left out, as `isWhole` has it, and that no call before it may have shown. */
function hasValueToSay({ environment, tool }: Node, chain: Chain): boolean {
  return fieldsToLeaveOut({ environment, tool }).some((field) => {
    const { entity } = meaningOf(itemAt(tool.input.shape, field))
    if (entity === undefined) return true
    const at = chain.findIndex((node) => node.tool === tool)
    const isShown = chain.slice(0, at).some((node) => node.environment === environment && kindsGiven(node).has(entity))
    return !isShown && environment.entities[entity]?.sayable === true
  })
}

/**
 * Returns whether the first call of a chain needs a value that a request for the chain can leave out. The tools alone are considered. A
 * user says which thing is meant before asking for more about it.
 */
export function canBeAskedWithout(chain: Chain): boolean {
  const { tool } = itemAt(chain, 0)
  const isAlone = chain.length === 1
  return (
    (isAlone || !isTakenUp(chain, 0)) &&
    fieldsToLeaveOut(itemAt(chain, 0)).some(
      (field) => isAlone || meaningOf(itemAt(tool.input.shape, field)).entity === undefined,
    )
  )
}

/**
 * Returns whether nothing is left of a request that leaves this argument out. The argument is then the action on a thing, the words that
 * are searched for, or the whole subject of a search. Without its subject, a search would be "find an event".
 * @param given  arguments of the call
 */
export function isWhole({ input, annotations }: ToolDefinition, given: readonly string[], field: string): boolean {
  const schema = itemAt(input.shape, field)
  if (ACT.test(field)) return true
  if (!annotations.readOnly || meaningOf(schema).entity !== undefined) return false
  return given.every((other) => other === field) || (kindOf(schema) === 'other' && !meaningOf(schema).common)
}

/** Arguments that a tool needs and that some clause of it leaves out such that the rest is still a request. */
export const fieldsToLeaveOut = ({ environment, tool }: Node): readonly string[] => leftOutIn(environment)(tool)

const leftOutIn = oncePer((environment: Node['environment']) =>
  oncePer((tool: Node['tool']): readonly string[] => {
    const all = Object.keys(tool.input.shape)
    const needed = all.filter((field) => !isOptional(itemAt(tool.input.shape, field)))
    const optional = all.filter((field) => !needed.includes(field))
    return needed.filter((field) => {
      // Which of the others are given is drawn later.
      const given = [needed, all, ...optional.map((other) => [...needed, other])]
      return !isWhole(tool, all, field) && given.some((some) => canLeaveOut({ environment, tool }, some, field))
    })
  }),
)

/** An argument that is a value and no thing, by what people get wrong in it: how much, when or which of several. Texts are not mistaken for others. */
type Value = 'number' | 'choice' | 'moment' | 'other'

const valuesIn = oncePer((tool: Node['tool']): readonly Value[] =>
  Object.values(tool.input.shape)
    .filter((schema) => meaningOf(schema).entity === undefined)
    .map(kindOf),
)

function kindOf(schema: z.ZodType): Value {
  if (schema instanceof z.ZodOptional) return kindOf(schema.unwrap() as z.ZodType)
  if (schema instanceof z.ZodNumber) return 'number'
  if (schema instanceof z.ZodEnum) return 'choice'
  const takes = (text: string): boolean => schema.safeParse(text).success
  return MOMENTS.some(takes) && !takes('some words') ? 'moment' : 'other'
}

/** A date and a time of day, as fields for them take. */
const MOMENTS = ['2026-03-02', '09:00']
