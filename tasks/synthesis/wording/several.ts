import type { EntitySpec } from '../../../servers/kernel/index.js'
import { lastOf } from '../item-at.js'
import { plural } from './field-words.js'

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
