import { z } from 'zod'
import type { SeededRandom } from '../../../servers/kernel/index.js'
import { lastOf } from '../item-at.js'
import type { Way } from '../way.js'
import { phraseLists, texts } from './phrase-lists.js'
import type { Moment, Register } from './speech.js'
import { type TextSpan, word } from './text-span.js'
import type { Slot } from './value-words.js'

const nouns = texts.transform((list) => new Set(list))
const lists = phraseLists(
  'reference-words',
  z.strictObject({
    people: nouns,
    persons: nouns,
    ordinals: texts,
    short_ordinals: texts,
    superlatives: z.array(z.strictObject({ fields: texts, lowest: texts, highest: texts })),
    counted: z.record(z.string(), z.string()),
    field_names: z.record(z.string(), z.string()),
  }),
)

/** Returns whether a noun means a person. */
export const isPerson = (noun: string): boolean => lists().people.has(noun)

/** Facts about the result that a reference points into. */
export interface ReferenceContext {
  /** The request itself asks for that result just before: `it` and `the second one` can only mean this. */
  readonly adjacent: boolean
  /** The thing named just before is of this kind and no other, so that `it` cannot mean anything else. */
  readonly named: boolean
  /** The result is still to come: it is asked for earlier in the same turn. */
  readonly ahead: boolean
  /** The call of that result makes something new. */
  readonly made: boolean
  /**
   * Place where the turn has meant the same thing: in the clause just before or earlier, with nothing else of its kind since then. The
   * value `beside` means next to another thing of its kind, from which it has to be distinguished again.
   */
  readonly repeated: 'before' | 'earlier' | 'beside' | undefined
  /** The row's field that serves as label, such as `title`. */
  readonly labelField: string | undefined
  /** People say an article before its name. */
  readonly article: boolean
}

const FIRST_NAME = /^(\p{Lu}\p{Ll}+) \p{Lu}[\p{L}'’-]+$/u

/** A way to mean an entity without its value. */
export type Reference = Exclude<Way, { how: 'value' }>

/** Returns words for an entity of an earlier result. */
export function refer(
  way: Reference,
  context: ReferenceContext,
  slot: Slot,
  { persona, random }: Pick<Moment, 'persona' | 'random'>,
): TextSpan[] {
  if (context.repeated && context.repeated !== 'beside') return again(way, context, slot, random)
  switch (way.how) {
    case 'only':
      return [word(theOnly(way.noun, context, slot, random))]
    case 'label':
      return labelled(way.noun, way.label, context, random)
    case 'place':
      return [word(placed(way, context, persona.register, random))]
    case 'extreme':
      return [word(extreme(way, context, random))]
  }
}

/** Who has said a name says "it" then: a second name in one turn seems to speak of two things. Of people the first name does as well. */
function again(way: Reference, context: ReferenceContext, slot: Slot, random: SeededRandom): TextSpan[] {
  const isNear = context.repeated === 'before'
  const given = way.how === 'label' && lists().persons.has(way.noun) ? FIRST_NAME.exec(way.label)?.[1] : undefined
  const known: ReferenceContext = { ...context, adjacent: isNear, named: isNear && context.named, ahead: false }
  const words = theOnly(way.noun, known, slot, random)
  if (given !== undefined && (!PRONOUN.test(words) || random.chance(0.25))) return [{ text: given, fixed: true }]
  return [word(words)]
}

/** All of what is said where a thing is not named. */
const PRONOUN = /^(it|them)$/

/** Words after which a pronoun would be unclear or no English: "restock the candle at it", "take back it". */
const AFTER_WHICH_NOTHING = / (of|under|about|among|on|at|by|inside|up|back|off|out|over|down|away|again|onto) $/
/** After "of" it is English, where the thing was just named: "the first lines of it". */
const OF = / of $/
/** The same of people, and words after which it is they who do something: "see what them still have". */
const AFTER_WHICH_NOBODY =
  / (of|under|about|among|on|onto|in|up|back|off|out|over|down|away|what|which|where|how|whether|if|when|that|sure|who|and) $/

function theOnly(
  noun: string,
  { adjacent, named, ahead, made, repeated }: ReferenceContext,
  { before, after }: Slot,
  random: SeededRandom,
): string {
  const isOfIt = repeated === 'before' && !isPerson(noun) && OF.test(before) && random.chance(0.6)
  const pronounFits =
    (isOfIt || !(isPerson(noun) ? AFTER_WHICH_NOBODY : AFTER_WHICH_NOTHING).test(before)) &&
    /^($|[,.?!](?! which)| (?!is |has |does |can |are ))/.test(after)
  if (adjacent && named && pronounFits && (isPerson(noun) || random.chance(0.8))) return isPerson(noun) ? 'them' : 'it'
  if (before.endsWith('that ')) return `this ${noun}`
  if (made) return random.pick([`that ${noun}`, `the new ${noun}`, `the new ${noun}`])
  if (ahead) return `that ${noun}`
  // One thing is "that" throughout: of "that event" and "this event" in one turn nobody thinks that they are the same.
  return isPerson(noun) || !adjacent || random.chance(0.75) ? `that ${noun}` : `the ${noun}`
}

/** Titles as people write them without quotes: a few words, each with a capital. */
const PROPER = /^[A-Z][\w'’.-]*( (of|the|and|for|de|&|[A-Z0-9][\w'’.-]*)){0,3}$/
/** The same with small words between: "Barcelona to Lisbon 3 April". Such a title needs to be told what it is of. */
const PHRASE = /^[A-Z][\w'’.-]*( (of|the|and|for|de|to|in|on|at|with|&|[A-Z0-9][\w'’.-]*)){0,5}$/
/** What stands out by itself: the name of a file, a handle, one word in small letters. */
const STANDS_OUT = /^(?=.*[a-z])[\w~/-]+(\.[a-z0-9]+)?$/
/** Labels that are the name of a thing and of nothing else. */
const NAMED_BY = new Set(['name', 'title'])
/** Things that bear the name of another: the order of a stock, the sale of a lamp. Without the word the other would be meant. */
const NAMED_AFTER_ANOTHER =
  /\b(request|order|sale|reservation|shipment|recording|offer|appointment|transaction|webhook)$/

/** What things are called that have names of their own: nobody says "the Copper Lion Pharmacy place". */
const SAYS_NOTHING =
  /^(place|location|article|product|device|appliance|light|thermostat|cover|speaker|sensor|camera|lock|door|window cover|destination|company|restaurant|dish|store|stock|deal)$/

function labelled(
  noun: string,
  label: string,
  { labelField, ahead, article }: ReferenceContext,
  random: SeededRandom,
): TextSpan[] {
  const name: TextSpan = { text: label, fixed: true, label: true }
  const proper = PROPER.test(label)
  if (isPerson(noun) && proper) return [name]
  const quoted = label.includes('"') ? [name] : [word('"'), name, word('"')]
  if (labelField === 'text' || labelField === 'hashtag' || label.split(' ').length > 6) {
    const says = labelField === 'text' ? random.pick(['that says', 'saying', 'that reads']) : 'called'
    return [word(`the ${noun} ${says} `), ...quoted]
  }
  if (labelField === 'subject') {
    const bare = proper || random.chance(0.3) ? [name] : quoted
    return random.chance(0.4) ? [word('the '), ...bare, word(` ${noun}`)] : [word(`the ${noun} about `), ...bare]
  }
  // "Ceramic Pan in medium" says what it is of.
  if (/^(version|item|article)$/.test(noun) && /^[A-Z].* in [a-z ]+$/.test(label)) return [name]
  if (proper && article) return [word('the '), name]
  const endsWithNoun = label.toLowerCase().endsWith(lastOf(noun.split(' ')))
  if (proper && endsWithNoun) return random.chance(0.5) ? [word('the '), name] : [name]
  // The name of a file or a person needs no word for what it is, nor does a title that was just spoken of.
  if (/\.[a-z0-9]{2,4}$/.test(label) && !label.includes(' ')) return [name]
  const ownName = NAMED_BY.has(labelField ?? '') && !NAMED_AFTER_ANOTHER.test(noun)
  if (proper && ownName && SAYS_NOTHING.test(noun)) return [name]
  if (proper && ownName && random.chance(ahead ? 0.5 : 0.75)) return [name]
  const bare = PHRASE.test(label) || STANDS_OUT.test(label) ? [name] : quoted
  // "The Board Travel budget", not "the Board Travel travel budget".
  const [first, ...rest] = noun.split(' ')
  const kind = rest.length > 0 && label.toLowerCase().endsWith(` ${first}`) ? rest.join(' ') : noun
  return random.pick([
    [word('the '), ...bare, word(` ${kind}`)],
    [word('the '), ...bare, word(` ${kind}`)],
    bare.length > 1 ? [word(`the ${noun} `), ...bare] : [word('the '), ...bare, word(` ${kind}`)],
  ])
}

function placed(
  { noun, place, of }: Extract<Way, { how: 'place' }>,
  { adjacent, ahead, repeated }: ReferenceContext,
  register: Register,
  random: SeededRandom,
): string {
  // Who has said "the third" does not call it the last then.
  const last = place === of && place > 2 && !repeated && random.chance(0.4)
  const ordinals = register === 'terse' && random.chance(0.4) ? lists().short_ordinals : lists().ordinals
  const nth = last ? 'last' : (ordinals[place - 1] ?? `${place}th`)
  if (adjacent && random.chance(0.55)) return `the ${nth} one`
  if (random.chance(0.2))
    return `the ${nth} ${noun} ${ahead ? 'you find' : random.pick(['on that list', 'you listed', 'you found'])}`
  return `the ${nth} ${noun}`
}

/** Fields whose values are days or times of day: `the one that ends first`, not `with the lowest end`. */
const DATED =
  /(^|_)(date|dates|due|until|end|ends|expires|since|closes|opens|start|starts|departs|arrives|closed_on|at)$/

function extreme(
  { noun, field, most }: Extract<Way, { how: 'extreme' }>,
  { adjacent }: ReferenceContext,
  random: SeededRandom,
): string {
  const { superlatives, counted, field_names: names } = lists()
  const what = adjacent && random.chance(0.7) ? 'one' : noun
  const isLowest = most === 'lowest'
  const words = names[field] ?? field.replaceAll('_', ' ')
  const property = DATED.test(field)
    ? `${isLowest ? 'earliest' : 'latest'} ${words}`
    : counted[field] !== undefined
      ? `${isLowest ? 'fewest' : 'most'} ${counted[field]}`
      : `${most} ${words}`
  const row = superlatives.find(({ fields }) => fields.includes(field))
  if (!row) return `the ${what} with the ${property}`
  const superlative = `the ${random.pick(row[most])} ${what}`
  const isBest = random.chance(0.75) || /^(metres|km|megabytes|bytes)$/.test(field)
  return isBest ? superlative : `the ${what} with the ${property}`
}
