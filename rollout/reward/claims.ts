import type { Json } from './types.js'

/**
 * A verifiable claim of a text: a number, date, time of day, name with digits, or address (e-mail, handle, link, host). Claims do not
 * depend on the notation: `1,240.50` equals `1240.5`, `2 pm` equals `14:00`.
 *
 * Every step reads a character a bounded number of times, so that no text can slow scoring down.
 */
type Claim =
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'date'; readonly iso: string }
  | { readonly kind: 'time'; readonly hour: number; readonly minute: number }
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'address'; readonly text: string; readonly host: string | undefined }

/** Returns the names of a text's claims: `n240.5`, `d2026-03-04`, `t14:00`, `cb221`, `@evil.example`. */
export function claimsIn(text: string): Set<string> {
  return new Set([...readClaims(text)].map(nameOf))
}

/**
 * Returns the claims that a reader of a text may state: its claims, and others that follow from them. Examples are the day of a date, the
 * host of a link, and 2 o'clock for 14:00.
 */
export function claimsFrom(text: string): Set<string> {
  return new Set([...readClaims(text)].flatMap((claim) => [nameOf(claim), ...saidOtherwise(claim)]))
}

/** Returns the claims that a reader of a JSON value may state: from its texts, numbers and keys, and the lengths of its lists. */
export function claimsFromJson(value: Json): Set<string> {
  const claims = new Set<string>()
  const addAll = (more: Iterable<string>): void => {
    for (const claim of more) claims.add(claim)
  }
  const walk = (part: Json): void => {
    if (typeof part === 'string' || typeof part === 'number') addAll(claimsFrom(String(part)))
    if (typeof part !== 'object' || part === null) return
    if (Array.isArray(part)) claims.add(numberName(part.length))
    else addAll(Object.keys(part).flatMap((key) => [...claimsFrom(key)]))
    for (const inner of Object.values(part)) walk(inner as Json)
  }
  walk(value)
  return claims
}

export const isAddress = (claim: string): boolean => claim.startsWith('@')
/** Whether a claim is an address or a name with digits, which a call does not make known by containing it. */
export const isName = (claim: string): boolean => isAddress(claim) || claim.startsWith('c')

export const numberName = (value: number): string => `n${Math.abs(value)}`
export const timeName = (hour: number, minute: number): string => `t${hour}:${String(minute).padStart(2, '0')}`
export const dateName = (iso: string): string => `d${iso}`
export const onTwelve = (hour: number): number => hour % 12 || 12

function nameOf(claim: Claim): string {
  switch (claim.kind) {
    case 'number':
      return numberName(claim.value)
    case 'date':
      return dateName(claim.iso)
    case 'time':
      return timeName(claim.hour, claim.minute)
    case 'code':
      return `c${claim.text}`
    case 'address':
      return `@${claim.text}`
  }
}

function saidOtherwise(claim: Claim): string[] {
  switch (claim.kind) {
    case 'number':
      // A share may be stated in per cent.
      return claim.value < 1 ? [numberName(Number((claim.value * 100).toPrecision(12)))] : []
    case 'date':
      return claim.iso.split('-').map((part) => numberName(Number(part)))
    case 'time': {
      const { hour, minute } = claim
      return [timeName(onTwelve(hour), minute), ...[hour, onTwelve(hour), minute].map(numberName)]
    }
    case 'code':
      return claim.text.split(/\D+/).flatMap((digits) => (digits === '' ? [] : [numberName(Number(digits))]))
    case 'address':
      return claim.host === undefined ? [] : [`@${claim.host}`]
  }
}

/** Invisible characters, which could hide an address. */
const INVISIBLE = /\p{Cf}+/gu
const BETWEEN_WORDS = /[\s"“”„«»<>()[\]{}|;!?*=`\\]+/u

/** Every claim contains one of these characters; most words contain none. */
const TELLING = /[\p{N}@.]|:\/\//u

function* readClaims(text: string): Generator<Claim> {
  if (!TELLING.test(text)) return
  for (const word of text.normalize('NFKC').replace(INVISIBLE, '').toLowerCase().split(BETWEEN_WORDS)) {
    if (!TELLING.test(word)) continue
    const bare = trimmed(word)
    if (bare !== '') yield* readWord(bare)
  }
}

const DATE = /^(\d{4}-\d{2}-\d{2})(?:t(\d{2}):(\d{2})(?::\d{2}(?:\.\d+)?)?z?)?$/
const TIME = /^(\d{1,2}):(\d{2})(?::\d{2})?(?:[ap]m)?$/
/** A number with grouped thousands or without, and a unit of few letters: `1,240.50`, `30km`, `5%`, `3rd`. */
const NUMBER = /^(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?(?:%|°?\p{L}{0,3})$/u

function* readWord(word: string): Generator<Claim> {
  if (word.includes('@') || word.includes('://')) {
    for (const part of word.split(',')) if (part !== '') yield addressOf(trimmed(part))
    return
  }
  const date = DATE.exec(word)
  if (date) {
    yield { kind: 'date', iso: date[1]! }
    if (date[2] !== undefined) yield { kind: 'time', hour: Number(date[2]), minute: Number(date[3]) }
    return
  }
  const time = TIME.exec(word)
  if (time) {
    yield { kind: 'time', hour: Number(time[1]), minute: Number(time[2]) }
    return
  }
  const number = NUMBER.exec(word)
  if (number) {
    yield { kind: 'number', value: Number(number[1]!.replaceAll(',', '') + (number[2] ?? '')) }
    return
  }
  if (isHost(word.split(/[/:]/, 1)[0]!)) {
    yield addressOf(word)
    return
  }
  for (const piece of word.split(/[/,:]+/)) {
    if (isHost(piece)) yield addressOf(piece)
    else yield* readFigures(piece)
  }
}

/** Yields the numbers and the mixtures of letters and digits in a word that is no claim as a whole. */
function* readFigures(word: string): Generator<Claim> {
  for (const piece of word.split(/[^\p{L}\p{N}]+/u)) {
    const number = NUMBER.exec(piece)
    if (number) yield { kind: 'number', value: Number(number[1]) }
    else if (/\d/.test(piece)) yield { kind: 'code', text: piece }
  }
}

function addressOf(word: string): Claim {
  const scheme = word.indexOf('://')
  const text = scheme < 0 ? word : word.slice(scheme + 3)
  const [whole] = text.split(/\/$/, 1) as [string]
  const host = whole.slice(whole.indexOf('@') + 1).split(/[/:?#]/, 1)[0]!
  return { kind: 'address', text: whole, host: isHost(host) && host !== whole ? host : undefined }
}

/** `evil.example`, `www.evil.example`, `report.pdf`; not `e.g`, `3.5` or `v1.2`. */
function isHost(word: string): boolean {
  const labels = word.split('.')
  if (labels.length < 2) return false
  return labels.every((label) => /^[\p{L}\p{N}_-]+$/u.test(label)) && /^\p{L}{2,}$/u.test(labels.at(-1)!)
}

const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u
const opens = (character: string): boolean => LETTER_OR_DIGIT.test(character) || character === '@'
const closes = (character: string): boolean => LETTER_OR_DIGIT.test(character) || character === '%' || character === '/'

/** Removes the punctuation around a word. It uses a loop, since a regular expression for the end of a text can be slow. */
function trimmed(word: string): string {
  let [from, to] = [0, word.length]
  while (from < to && !opens(word[from]!)) from++
  while (to > from && !closes(word[to - 1]!)) to--
  return word.slice(from, to)
}
