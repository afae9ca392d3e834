import { fromHex, toHex } from './content-id.js'
import { isRefusalCode, type RefusalCode, refusal } from './errors.js'
import { LIMITS, type LimitName } from './limits.js'

/** Labels on the wire: visible ASCII, so that they can forge nothing in a terminal, a log or a metric. */
const LABEL = /^[\x21-\x7e]+$/
const IDENTIFIER = /^[A-Za-z][A-Za-z0-9_.-]*$/
const encoder = new TextEncoder()

/** Checks a size. @throws SwarmRefusal `too_large` if it is above the limit */
export function atMost(name: LimitName, size: number, what: string): void {
  const { value, unit } = LIMITS[name]
  if (size > value) throw refusal('too_large', `${what}: ${size} > ${value} ${unit} (${name})`)
}

export function present<T>(value: T | null | undefined, what: string): T {
  if (value === null || value === undefined) throw refusal('malformed', `${what} is missing`)
  return value
}

/** Reads raw bytes of an exact length as hex. */
export function hexOf(bytes: Uint8Array, length: number, what: string): string {
  if (bytes.length !== length) throw refusal('malformed', `${what} has ${bytes.length} bytes, not ${length}`)
  return toHex(bytes)
}

/** Converts hex from this program to bytes. Parsing the encoded message detects a wrong length. */
export const bytesOf = fromHex

export function integer(value: number, min: number, max: number, what: string): number {
  if (!Number.isInteger(value) || value < min || value > max) {
    throw refusal('out_of_bounds', `${what} is ${value}, not an integer in ${min} .. ${max}`)
  }
  return value
}

export function finite(value: number, min: number, max: number, what: string): number {
  // The comparison is written so that NaN fails it.
  if (!(value >= min && value <= max)) throw refusal('out_of_bounds', `${what} is ${value}, not in ${min} .. ${max}`)
  return value === 0 ? 0 : value
}

export const timeMs = (value: number, what: string): number => integer(value, 0, LIMITS.maxTimeMs.value, what)

/** Checks free text, limited in UTF-8 bytes. */
export function text(value: string, name: LimitName, what: string): string {
  // A UTF-16 unit takes one to three bytes in UTF-8, so only lengths between need counting.
  if (value.length > LIMITS[name].value) atMost(name, value.length, what)
  if (value.length * 3 > LIMITS[name].value) atMost(name, encoder.encode(value).length, what)
  return value
}

/** Checks text for people, without control characters: a detail or a reason. */
export function sentence(value: string, name: LimitName, what: string): string {
  text(value, name, what)
  if (/\p{Cc}/u.test(value)) throw refusal('malformed', `${what} contains control characters`)
  return value
}

export function label(value: string, name: LimitName, what: string): string {
  atMost(name, value.length, what)
  if (!LABEL.test(value)) throw refusal('malformed', `${what} is empty or not visible ASCII`)
  return value
}

export function identifier(value: string, name: LimitName, what: string): string {
  atMost(name, value.length, what)
  if (!IDENTIFIER.test(value)) throw refusal('malformed', `${what} is not an identifier`)
  return value
}

export function oneOf<T extends string>(value: string, allowed: readonly T[], what: string): T {
  const found = allowed.find((candidate) => candidate === value)
  if (found === undefined) throw refusal('malformed', `${what} is not one of ${allowed.join(', ')}`)
  return found
}

export function refusalCode(value: string): RefusalCode {
  if (!isRefusalCode(value)) throw refusal('malformed', 'unknown refusal code')
  return value
}

/** Checks that all entries differ. @throws SwarmRefusal `malformed` */
export function distinct(values: readonly string[], what: string): void {
  if (new Set(values).size !== values.length) throw refusal('malformed', `${what} are not distinct`)
}

export function tokens(ids: readonly number[], name: LimitName, what: string): readonly number[] {
  atMost(name, ids.length, what)
  const highest = LIMITS.tokenId.value
  for (const id of ids) {
    if (!Number.isInteger(id) || id < 0 || id > highest) {
      throw refusal('out_of_bounds', `${what} contains token ${id}, not in 0 .. ${highest}`)
    }
  }
  return ids
}

/** Checks natural-log probabilities: finite, not above 0, not below the floor. */
export const logprobs = (values: readonly number[], what: string): readonly number[] =>
  values.map((value) => finite(value, LIMITS.logprobFloor.value, 0, what))
