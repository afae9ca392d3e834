import { descriptionOf, type EntitySpec, speechOf } from '../../../servers/kernel/index.js'
import type { Node } from '../graph.js'
import { itemAt, lastOf } from '../item-at.js'
import { plural } from './english.js'
import type { Moment } from './speech.js'

/** Of an environment's further ways every fourth is kept for held-out tasks, so that these are in words that training has not heard. */
const isHeldOut = (_: string, index: number): boolean => index % 4 === 3

/** The clauses that can ask for a call, in the order in which they are tried; nothing is chosen in them yet. */
export const clausesFor = (node: Node, moment: Moment): string[] => drawn(speechOf(node).ask, node, 'ask', moment)

/** Returns the goals that a user can name for a call, in the order in which they are tried. */
export const goalsFor = (node: Node, moment: Moment): string[] => drawn(goalsOf(node), node, 'goals', moment)

function drawn(
  plain: readonly string[],
  node: Node,
  kind: 'ask' | 'goals',
  { random, heldOut = false }: Moment,
): string[] {
  const further = speechOf(node).further[kind]
  const kept = heldOut ? further.filter(isHeldOut) : []
  const others = further.filter((way, index) => !isHeldOut(way, index))
  return [...random.shuffle(kept), ...random.shuffle([...plain, ...others])]
}

/** Returns the goal of a call as a short imperative without values, such as `freeze a card`, or nothing where none can be made. */
export function goalsOf({ environment, tool }: Node): string[] {
  const goal = speechOf({ environment, tool }).goal ?? goalInDescription(tool.description)
  return goal === undefined ? [] : [goal]
}

const MAX_WORDS = 9
/** Where the first clause of a description ends. */
const CLAUSE_END =
  /[.;:,(]| (?:so that|that|which|who|whose|when|unless|while|until|under|in which|from which|at which|not before|by|with|or) /

function goalInDescription(description: string): string | undefined {
  const [verb = '', ...rest] = itemAt(description.split(CLAUSE_END), 0).trim().split(' ')
  if (rest.length === 0 || rest.length >= MAX_WORDS) return undefined
  const said = [verb.toLowerCase().replace(/([^s])s$/, '$1'), ...rest]
    .join(' ')
    .replaceAll(/\byour own\b/g, 'my own')
    .replaceAll(/\byours\b/g, 'mine')
    .replaceAll(/\byour\b/g, 'my')
    .replaceAll(/\byou\b/g, 'I')
  return /\b(of|for|to|in|from|on|by|with|at|and|or)$/.test(said) ? undefined : said
}

const PREPOSITION = 'to|of|in|for|on|as|from|with'
const DESCRIBED = /^(?:The|[^.;,]* (?:of|for) the)(?: new)? ([a-z]+)(?=[.;,]|$)/
const AIMED_AT = new RegExp(`\\b(?:a|an) (?:[a-z]+ )*?([a-z]+)(?= (?:${PREPOSITION})\\b|$)`)

/**
 * Returns the word for the thing that a call writes or names, as people call it: `reply`, `archive`. The word is from the description of
 * the argument, or else from the purpose of the call.
 * @returns `undefined` where neither names one
 */
export function thingMade(node: Node, field: string): string | undefined {
  const described = descriptionOf(itemAt(node.tool.input.shape, field)) ?? ''
  const goal = speechOf(node).goal ?? ''
  // That is a name somebody has.
  if (/^(?:Full|First and last) name\b/.test(described) && !/^add /.test(goal)) return undefined
  return DESCRIBED.exec(described)?.[1] ?? AIMED_AT.exec(goal)?.[1]
}

/** Before the name of many that are only looked through: "find Ana among our contacts". */
const LOOKED_THROUGH = /\b(?:among|search) (?:(?:my|our|the|your) )?$/
/** Words by which somebody asks for whatever there is. */
const WHATEVER = /\b(?:what|which|who(?! {)|every|each|all)\b/
/** A word before the name of one that means any number of them: "every directory". */
const EACH = /\b(?:every|each) (?:[a-z]+ )*$/
/** Labels that one thing alone has, mostly: whoever searches for one is after that thing. */
const OWN = new Set(['name', 'title'])

/**
 * Whether a clause asks for all things of a kind that fit, as "find the emails with this in them" does. Who says so does not know of one yet, and
 * cannot go on with "that email" in the same breath.
 */
export function speaksOfSeveral(clause: string, { noun, label }: Pick<EntitySpec, 'noun' | 'label'>): boolean {
  if (clause.startsWith('search ') && !OWN.has(label ?? '')) return true
  const head = lastOf(noun.split(' '))
  const of = (word: string): RegExp => new RegExp(`\\b${word}\\b`, 'g')
  const places = [...clause.matchAll(of(plural(head)))].map(({ index }) => clause.slice(0, index))
  if (places.length > 0) return places.some((before) => !LOOKED_THROUGH.test(before))
  const single = [...clause.matchAll(of(head))].map(({ index }) => clause.slice(0, index))
  return single.length > 0 ? single.some((before) => EACH.test(before)) : WHATEVER.test(clause)
}
