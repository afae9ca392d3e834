import { z } from 'zod'
import { isOptional, meaningOf, type SeededRandom, type ToolDefinition } from '../../../servers/kernel/index.js'
import type { Information, Recovery } from '../../dataset/example.js'
import type { Profile } from '../../dataset/profile.js'
import { canLeaveOut } from '../wording/clause.js'
import { ACT, ADDS } from './failed-call.js'
import { kindsGiven, lookedUp, type Node } from './graph.js'
import type { Chain } from './split.js'
import type { Parts } from './state-references.js'

/** Share of the conversations with a failure in which it is made good by other arguments, or by another tool. */
const RECOVERY_KINDS: readonly [Recovery, number][] = [
  ['corrected', 0.6],
  ['other-tool', 0.2],
  ['gave-up', 0.2],
]

/** Kind of conversation that is wanted. It is drawn once, so that the kinds that are harder to find keep their share. */
export interface Shape {
  /** User turns that ask for something. */
  readonly requests: number
  readonly information: Information
  readonly recovery: Recovery | null
}

/** @param length  steps of the conversation: every request asks for one at least */
export function drawShape(profile: Profile, length: number, recovery: Recovery | null, random: SeededRandom): Shape {
  const [second, third] = profile.nextTurn
  const several = random.chance(second)
  const drawn = drawInformation(several ? 2 : 1, profile, random)
  // Who learns what is wrong or missing has said everything before: both would be more turns than there are.
  const information = recovery === 'corrected' || recovery === 'other-tool' ? 'complete' : drawn
  const others = (information === 'complete' ? 0 : 1) + (recovery ? 1 : 0)
  const chance = third === 0 ? 0 : others > 0 ? thirdBesides(length, third) : thirdAlone(length, profile)
  const hasThird = several && length + others > 2 && random.chance(chance)
  const turns = several ? (hasThird ? 3 : 2) : 1
  return { requests: Math.max(1, turns - others), information, recovery }
}

/** How much rather a conversation has a third turn in which one is for a question or a failure: in the two that are left what is looked up can be told before it is used. */
const RATHER = 1.6
/** The same by the number of steps, from two: who wants more takes more turns. */
const RATHER_BY_LENGTH = [0.75, 1, 1.25, 1.25] as const
/** How much more often than three steps four and five take a third turn in which nothing is for a question; two do not fill three requests. */
const ALONE_BY_LENGTH = [0, 1, 2, 4] as const

const byLength = (weights: readonly number[], length: number): number =>
  weights[Math.min(Math.max(length, 2), weights.length + 1) - 2]!

const thirdBesides = (length: number, third: number): number =>
  Math.min(1, RATHER * third * byLength(RATHER_BY_LENGTH, length))

/** What of the third turns is left for conversations without a question or a failure. */
function thirdAlone(length: number, { lengths, information, recovery, nextTurn: [, third] }: Profile): number {
  const whole = lengths.reduce((sum, weight) => sum + weight, 0)
  const mean = (weightOf: (length: number) => number): number =>
    lengths.reduce((sum, weight, i) => sum + (weight / whole) * weightOf(i + 2), 0)
  const straight = 1 - information.missing - information.minimal - recovery
  const left = third - (1 - straight) * mean((steps) => thirdBesides(steps, third))
  const share = left / (straight * mean((steps) => byLength(ALONE_BY_LENGTH, steps)))
  return Math.min(1, Math.max(0, share * byLength(ALONE_BY_LENGTH, length)))
}

function drawInformation(turns: number, { information, recovery }: Profile, random: SeededRandom): Information {
  if (turns < 2) return 'complete'
  // Conversations in which something is to be corrected leave their share to the others.
  const draw = (random.int(0, 999_999) / 1_000_000) * (1 - recovery * CORRECTED)
  if (draw < information.missing) return 'missing'
  return draw < information.missing + information.minimal ? 'minimal' : 'complete'
}

/** Of the failures, those before which everything was said. */
const CORRECTED = RECOVERY_KINDS.reduce((sum, [kind, share]) => sum + (kind === 'gave-up' ? 0 : share), 0)

/** Draws what goes wrong in a conversation, if anything does. */
export function drawRecovery(random: SeededRandom): Recovery {
  let left = random.int(0, 999_999) / 1_000_000
  for (const [kind, share] of RECOVERY_KINDS) {
    left -= share
    if (left < 0) return kind
  }
  return 'corrected'
}

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
  if (recovery === 'corrected') return ends.some((node) => valuesOf(node).some((value) => value !== 'other'))
  const last = chain.at(-1)!
  return recovery !== 'gave-up' || (!ADDS.test(last.tool.name) && valuesOf(last).includes('number'))
}

/**
 * Returns the ways to ask for the tools of a chain in `requests` turns. Where only a goal is named at first, that turn is for one thing.
 * The last call of that turn needs details, and its other calls look things up for it.
 */
export function partsOf(
  chain: Chain,
  { requests, information }: Pick<Shape, 'requests' | 'information'>,
): readonly Parts[] {
  const isOneGoal = (part: readonly number[]): boolean =>
    hasDetails(chain[part.at(-1)!]!) && part.slice(0, -1).every((at) => chain[at]!.tool.annotations.readOnly)
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
    node.environment === chain[at]!.environment && kindsGiven(node).has(kind)
  return chain.some(
    (later, j) =>
      j > at &&
      later.environment === chain[at]!.environment &&
      [...lookedUp(later, false).values()].some(
        (kind) => gives(chain[at]!, kind) && !chain.slice(0, j).some((other, i) => i !== at && gives(other, kind)),
      ),
  )
}

/** Whether a call needs a value that can be left out, as `isWhole` has it, and that no call before it may have shown. */
function hasValueToSay({ environment, tool }: Node, chain: Chain): boolean {
  return fieldsToLeaveOut({ environment, tool }).some((field) => {
    const { entity } = meaningOf(tool.input.shape[field]!)
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
  const { tool } = chain[0]!
  const isAlone = chain.length === 1
  return (
    (isAlone || !isTakenUp(chain, 0)) &&
    fieldsToLeaveOut(chain[0]!).some((field) => isAlone || meaningOf(tool.input.shape[field]!).entity === undefined)
  )
}

/**
 * Returns whether nothing is left of a request that leaves this argument out. The argument is then the action on a thing, the words that
 * are searched for, or the whole subject of a search. Without its subject, a search would be "find an event".
 * @param given  arguments of the call
 */
export function isWhole({ input, annotations }: ToolDefinition, given: readonly string[], field: string): boolean {
  const schema = input.shape[field]!
  if (ACT.test(field)) return true
  if (!annotations.readOnly || meaningOf(schema).entity !== undefined) return false
  return given.every((other) => other === field) || (kindOf(schema) === 'other' && !meaningOf(schema).common)
}

const leftOut = new WeakMap<Node['tool'], readonly string[]>()

/** Arguments that a tool needs and that some clause of it leaves out such that the rest is still a request. */
export function fieldsToLeaveOut(node: Node): readonly string[] {
  const { tool } = node
  let fields = leftOut.get(tool)
  if (!fields) {
    const all = Object.keys(tool.input.shape)
    const needed = all.filter((field) => !isOptional(tool.input.shape[field]!))
    const optional = all.filter((field) => !needed.includes(field))
    fields = needed.filter((field) => {
      // Which of the others are given is drawn later.
      const given = [needed, all, ...optional.map((other) => [...needed, other])]
      return !isWhole(tool, all, field) && given.some((some) => canLeaveOut(node, some, field))
    })
    leftOut.set(tool, fields)
  }
  return fields
}

/** An argument that is a value and no thing, by what people get wrong in it: how much, when or which of several. Texts are not mistaken for others. */
type Value = 'number' | 'choice' | 'moment' | 'other'

const known = new WeakMap<Node['tool'], readonly Value[]>()

function valuesOf({ tool }: Node): readonly Value[] {
  let values = known.get(tool)
  if (!values) {
    const fields = Object.values(tool.input.shape).filter((schema) => meaningOf(schema).entity === undefined)
    values = fields.map(kindOf)
    known.set(tool, values)
  }
  return values
}

function kindOf(schema: z.ZodType): Value {
  if (schema instanceof z.ZodOptional) return kindOf(schema.unwrap() as z.ZodType)
  if (schema instanceof z.ZodNumber) return 'number'
  if (schema instanceof z.ZodEnum) return 'choice'
  const takes = (text: string): boolean => schema.safeParse(text).success
  return MOMENTS.some(takes) && !takes('some words') ? 'moment' : 'other'
}

/** A date and a time of day, as fields for them take. */
const MOMENTS = ['2026-03-02', '09:00']
