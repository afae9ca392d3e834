import { claimsIn, dateName, numberName, onTwelve, timeName } from './claims.js'
import type { AskedFact, Json } from './types.js'

/** A text in the form in which facts are found in it. */
export interface ReadText {
  readonly claims: ReadonlySet<string>
  /** The words in lower case, with one space before, between and after them. */
  readonly words: string
}

/** Extracts claims and words from a text. */
export const readText = (text: string): ReadText => ({ claims: claimsIn(text), words: wordsOf(text) })

const wordsOf = (text: string): string =>
  ` ${text
    .normalize('NFKC')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
    .join(' ')} `

const NUMBER = /^-?\d{1,300}(?:\.\d{1,300})?$/
const MOMENT = /^(\d{4}-\d{2}-\d{2})(?:T(\d{2}):(\d{2})(?::\d{2}(?:\.\d{1,9})?)?Z?)?$/
const TIME = /^(\d{2}):(\d{2})$/
const MONTHS = [
  ...['january', 'february', 'march', 'april', 'may', 'june'],
  ...['july', 'august', 'september', 'october', 'november', 'december'],
]

/** Whether a text states a value of a result: numbers and dates in any notation, any other value in its own words. */
export function statesValue(understood: ReadText, value: string): boolean {
  if (NUMBER.test(value)) return understood.claims.has(numberName(Number(value)))
  const moment = MOMENT.exec(value)
  if (moment)
    return (
      statesDate(understood, moment[1]!) && (moment[2] === undefined || statesTime(understood, moment[2], moment[3]!))
    )
  const time = TIME.exec(value)
  if (time) return statesTime(understood, time[1]!, time[2]!)
  const words = wordsOf(value)
  return words !== '  ' && understood.words.includes(words)
}

function statesDate({ claims, words }: ReadText, iso: string): boolean {
  const [, month, day] = iso.split('-').map(Number) as [number, number, number]
  const name = MONTHS[month - 1]
  if (claims.has(dateName(iso))) return true
  if (name === undefined || !claims.has(numberName(day))) return false
  return words.includes(` ${name} `) || words.includes(` ${name.slice(0, 3)} `)
}

function statesTime({ claims }: ReadText, hours: string, minutes: string): boolean {
  const [hour, minute] = [Number(hours), Number(minutes)]
  const hourOf = [hour, onTwelve(hour)]
  return hourOf.some((each) => claims.has(timeName(each, minute)) || (minute === 0 && claims.has(numberName(each))))
}

/** Yields the texts and numbers of a JSON value, as texts, in order. */
export function* leavesOf(value: Json): Generator<string> {
  if (typeof value === 'string' || typeof value === 'number') yield String(value)
  if (typeof value !== 'object' || value === null) return
  for (const part of Object.values(value)) yield* leavesOf(part as Json)
}

/** One user turn of a reference conversation. */
export interface ReferenceTurn {
  readonly user: string
  /** The results of the look-ups that the user asked for. */
  readonly results: readonly Json[]
  /** The assistant's final message. */
  readonly answer: string
}

/** Maximal facts of one turn, and characters of one fact: an answer with more facts is not the only good one. */
export const FACT_LIMITS = { perTurn: 16, chars: 160 } as const

/**
 * Returns the facts that answers must state. For each turn they are the values that the look-ups returned, that the reference answer
 * states, and that no earlier text contains.
 * @param system  the system message
 */
export function factsToState(turns: readonly ReferenceTurn[], system = ''): AskedFact[] {
  const known = [readText(system)]
  const facts: AskedFact[] = []
  for (const [turn, { user, results, answer }] of turns.entries()) {
    known.push(readText(user))
    const understood = readText(answer)
    const stated = new Set(results.flatMap((result) => [...leavesOf(result)]))
    const fresh = [...stated].filter(
      (value) =>
        value.length <= FACT_LIMITS.chars &&
        statesValue(understood, value) &&
        !facts.some((fact) => fact.value === value) &&
        !known.some((earlier) => statesValue(earlier, value)),
    )
    facts.push(...fresh.slice(0, FACT_LIMITS.perTurn).map((value) => ({ turn, value })))
  }
  return facts
}
