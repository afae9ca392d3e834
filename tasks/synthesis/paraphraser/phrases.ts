import type { Json } from '../../../rollout/reward/index.js'
import { itemAt } from '../item-at.js'
import { denotes } from '../wording/value-meaning.js'

const WORD = /[\p{L}\p{N}]/u

/** Returns where `phrase` occurs in `text` as separate words; -1 if nowhere. `5` does not occur in `15`, `2.5`, `2026-03-05` or `5th`. */
export function placeOf(text: string, phrase: string): number {
  if (phrase === '') return -1
  for (let at = text.indexOf(phrase); at >= 0; at = text.indexOf(phrase, at + 1)) {
    if (standsAlone(text, at, at + phrase.length)) return at
  }
  return -1
}

function standsAlone(text: string, from: number, to: number): boolean {
  const [before, after] = [text.slice(Math.max(0, from - 2), from), text.slice(to, to + 2)]
  const [first, last] = [itemAt(text, from), itemAt(text, to - 1)]
  if (WORD.test(first) && WORD.test(before.slice(-1))) return false
  if (WORD.test(last) && WORD.test(after.slice(0, 1))) return false
  if (/\d/.test(first) && /\d[.,:/-]$/.test(before)) return false
  return !(/\d/.test(last) && /^[.,:/-]\d/.test(after))
}

const MOST_WORDS = 10

/** Every run of up to `most` words, without the punctuation and quotes around it. */
function* stretches(text: string, most: number): Generator<string> {
  const words = [...text.matchAll(/\S+/g)]
  for (const [i, { index: start }] of words.entries()) {
    for (const { index, 0: last } of words.slice(i, i + most)) {
      const stretch = text.slice(start, index + last.length)
      const inner = stretch.replace(/^["'“‘(]*/, '').replace(/["'”’).,;:!?]+$/, '')
      if (inner !== '') yield inner
    }
  }
}

/** The words of `text` that can only mean `value`; `undefined` when it does not give it. */
export function phraseFor(text: string, value: Json, today: string): string | undefined {
  if (typeof value === 'boolean' || value === null) return undefined
  if (typeof value === 'string' && placeOf(text, value) >= 0) return value
  if (typeof value === 'number' && placeOf(text, String(value)) >= 0) return String(value)
  const lasting = Array.isArray(value) ? MOST_WORDS + value.length : MOST_WORDS
  for (const stretch of stretches(text, lasting)) if (denotes(stretch, value, today)) return stretch
  return undefined
}

const DATES =
  'monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|february|march|april|june|july|august|september|october|november|december|today|tonight|tomorrow|yesterday|noon|midnight|weekend|weekly|daily|monthly|yearly|(?:next|last|this) (?:week|month|year)'
const NUMBERS =
  'two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|sixty|hundred|thousand|million|dozen|half|twice'
const PLACES = 'second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|latest|newest|oldest|cheapest|nearest'
const TELLING = new RegExp(`\\b(?:${DATES}|${NUMBERS}|${PLACES})\\b`, 'gi')
/** Anything with a digit, and what is written like a handle, a tag, an address or a path. */
const FIGURE = /[\p{L}\p{N}_.,:/@#+-]*(?:\p{N}|[@#/]\p{L})[\p{L}\p{N}_.,:/@#+-]*/gu
const QUOTED = /"([^"\n]{1,400})"/g
/** A capitalised word inside a sentence. */
const NAME = /(?<=[\p{L}\p{N},] )\p{Lu}[\p{L}\p{N}'-]*/gu
const NO_NAME =
  /^(I|I'(m|d|ll|ve)|OK|Okay|ASAP|FYI|BTW|PS|TIA|Thanks|Thank|Cheers|PDF|Please|Could|Can|Would|Hi|Hello)$/

/** Returns the verifiable parts of a text: figures, quotations, dates, numbers and positions in a list. */
export function factsIn(text: string): string[] {
  return [...new Set([...figuresIn(text), ...[...text.matchAll(TELLING)].map(([word]) => word)])]
}

const SUPERLATIVE =
  'lowest|highest|fewest|most|least|cheapest|priciest|smallest|largest|biggest|nearest|closest|farthest|earliest|latest|oldest|newest|shortest|longest|(?:best|top|worst|lowest) rated|most (?:expensive|recent)'
const ORDINAL = 'first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last'
const REFERENCE = new RegExp(
  `\\b(?:${SUPERLATIVE}|${ORDINAL}|\\d{1,2}(?:st|nd|rd|th)) (?!thing|of\\b)\\p{L}[\\p{L}\\p{N}-]*`,
  'giu',
)

/** Words that pick one thing out of several: `second channel`, `latest due`, `cheapest product`. */
export const referencesIn = (text: string): string[] => [...text.matchAll(REFERENCE)].map(([words]) => words)

/** Figures and quotations alone: what an answer must not lose. */
export function figuresIn(text: string): string[] {
  const figures = [...text.matchAll(FIGURE)].map(([figure]) => figure.replace(/^[.,:+-]+|[.,:/-]+$/g, ''))
  const quoted = [...text.matchAll(QUOTED)].map(([, inner = '']) => inner.trim())
  return [...new Set([...figures, ...quoted].filter((fact) => fact !== ''))]
}

/** Returns the facts and names of `text` that `known` does not contain, ignoring case. */
export function inventionsIn(text: string, known: string): string[] {
  const familiar = known.toLowerCase()
  const names = [...text.matchAll(NAME)].map(([name]) => name.replace(/'s$/, '')).filter((name) => !NO_NAME.test(name))
  return [...factsIn(text), ...names].filter((fact) => placeOf(familiar, fact.toLowerCase()) < 0)
}

const UNIT =
  /^ ?(?:%|€|\$|£|(?:minutes?|hours?|days?|weeks?|months?|years?|nights?|percent|degrees|euros?|dollars?|points?|stars?|km|kilometres|metres|megabytes|bytes|spans|shares|seats|people)\b)/

/** The unit that follows a number in `text`, as it stands there. */
export const unitAfter = (text: string, end: number): string => UNIT.exec(text.slice(end))?.[0] ?? ''
