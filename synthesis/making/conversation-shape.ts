import { z } from 'zod'
import type { Information, Recovery } from '../../dataset/example.js'
import type { Profile } from '../../dataset/profile.js'
import { meaningOf, type SeededRandom } from '../../servers/kernel/index.js'
import { kindsGiven, lookedUp, type Node } from '../../servers/kernel/tool-graph.js'
import { ACT, ADDS } from './failed-call.js'
import type { Chain } from './split.js'

/** Share of the conversations with a failure in which it is made good by other arguments, or by another tool. */
const RECOVERY_KINDS: readonly [Recovery, number][] = [
  ['corrected', 0.6],
  ['other-tool', 0.2],
  ['gave-up', 0.2],
]

/** What kind of conversation is wanted: drawn once, so that the kinds that are harder to find keep their share. */
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
  const [rather, less] = thirdTurns(profile)
  const hasThird = several && length + others > 2 && random.chance(third === 0 ? 0 : others > 0 ? rather : less)
  const turns = several ? (hasThird ? 3 : 2) : 1
  return { requests: Math.max(1, turns - others), information, recovery }
}

/** How much rather a conversation has a third turn in which one is for a question or a failure: in the two that are left what is looked up can be told before it is used. */
const RATHER = 1.6

/** Chances of a third turn with and without such a turn, where there can be one: two steps do not fill three requests. */
function thirdTurns({ lengths, information, recovery, nextTurn: [, third] }: Profile): [rather: number, less: number] {
  const pairs = lengths[0] / lengths.reduce((sum, weight) => sum + weight, 0)
  const straight = (1 - information.missing - information.minimal) * (1 - recovery)
  const rather = Math.min(1, RATHER * third)
  const left = third - rather * (1 - straight)
  return [rather, Math.min(1, Math.max(0, left / (straight * (1 - pairs))))]
}

function drawInformation(turns: number, { information }: Profile, random: SeededRandom): Information {
  if (turns < 2) return 'complete'
  const draw = random.int(0, 999_999) / 1_000_000
  if (draw < information.missing) return 'missing'
  return draw < information.missing + information.minimal ? 'minimal' : 'complete'
}

/** What goes wrong, where something does. */
export function drawRecovery(random: SeededRandom): Recovery {
  let left = random.int(0, 999_999) / 1_000_000
  for (const [kind, share] of RECOVERY_KINDS) {
    left -= share
    if (left < 0) return kind
  }
  return 'corrected'
}

/**
 * Whether the calls of a chain could carry a conversation of a shape, as far as their tools tell: executing a chain and finding that it
 * does not costs a hundred times as much.
 */
export function canCarry(chain: Chain, { requests, information, recovery }: Shape): boolean {
  if (requests > chain.length) return false
  if (information === 'minimal' && !canBeVagueAtFirst(chain, requests)) return false
  // One request ends with the last call.
  const ends = requests === 1 ? chain.slice(-1) : chain
  const open = requests === 1 ? chain.filter((_, i) => !isTakenUp(chain, i)) : chain
  if (information === 'missing' && !open.some((node) => hasValueToSay(node, chain))) return false
  if (recovery === 'corrected') return ends.some((node) => valuesOf(node).some((value) => value !== 'other'))
  const last = chain.at(-1)!
  return recovery !== 'gave-up' || (!ADDS.test(last.tool.name) && valuesOf(last).includes('number'))
}

/** Whether the first request may be for one thing: its last call needs details, and the others only look things up for it. */
function canBeVagueAtFirst(chain: Chain, requests: number): boolean {
  const [shortest, longest] = [requests === 1 ? chain.length : 1, chain.length - requests + 1]
  const acting = chain.findIndex(({ tool }) => !tool.annotations.readOnly)
  const last = acting < 0 ? longest : Math.min(longest, acting + 1)
  return chain.slice(shortest - 1, last).some(hasDetails)
}

/** Whether there is anything to ask for: what needs no argument is simply done. */
export const hasDetails = ({ tool }: Node): boolean =>
  Object.values(tool.input.shape).some((schema) => !schema.isOptional())

/** Whether a later call has to be given what this one alone shows: nobody goes on about a thing before having said which it is. */
function isTakenUp(chain: Chain, at: number): boolean {
  const gives = (node: Node, kind: string): boolean => node.server === chain[at]!.server && kindsGiven(node).has(kind)
  return chain.some(
    (later, j) =>
      j > at &&
      later.server === chain[at]!.server &&
      [...lookedUp(later, false).values()].some(
        (kind) => gives(chain[at]!, kind) && !chain.slice(0, j).some((other, i) => i !== at && gives(other, kind)),
      ),
  )
}

/** Whether a call needs a value that can be left out, as `isWhole` has it, and that no call before it may have shown. */
function hasValueToSay({ server, tool }: Node, chain: Chain): boolean {
  const fields = Object.entries(tool.input.shape)
  return fields.some(([field, schema]) => {
    if (schema.isOptional() || ACT.test(field)) return false
    const { entity } = meaningOf(schema)
    if (entity === undefined) return !tool.annotations.readOnly || fields.length > 1
    const at = chain.findIndex((node) => node.tool === tool)
    const isShown = chain.slice(0, at).some((node) => node.server === server && kindsGiven(node).has(entity))
    return !isShown && server.entities[entity]?.sayable === true
  })
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
  return MOMENTS.some((text) => schema.safeParse(text).success) ? 'moment' : 'other'
}

/** A date and a time of day, as fields for them take. */
const MOMENTS = ['2026-03-02', '09:00']
