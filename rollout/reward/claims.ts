import type { Json } from './types.js'

/**
 * What a text tells that can be looked up: numbers, dates, times of day, names with digits in them, and addresses (e-mail, handles,
 * links, hosts). Two texts claim the same if they hold the same of these, however written: `1,240.50` and `1240.5`, `2 pm` and `14:00`.
 *
 * Every step looks at a character a bounded number of times, so that no text can make scoring slow.
 */
type Claim =
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'date'; readonly iso: string }
  | { readonly kind: 'time'; readonly hour: number; readonly minute: number }
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'address'; readonly text: string; readonly host: string | undefined }

/** What a text says, in claims by their names: `n240.5`, `d2026-03-04`, `t14:00`, `cb221`, `@evil.example`. */
export function claimsIn(text: string): Set<string> {
  return new Set([...readClaims(text)].map(nameOf))
}

/** What whoever read a text may say, which is more than it says itself: the day of a date, the host of a link, 2 o'clock for 14:00. */
export function claimsFrom(text: string): Set<string> {
  return new Set([...readClaims(text)].flatMap((claim) => [nameOf(claim), ...saidOtherwise(claim)]))
}

/** The same of any JSON: its texts, its numbers, its keys, and how long its lists are. */
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
/** Addresses and names with digits: what nobody learns by having said it. */
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
      // A share may be told in per cent.
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

/** Characters that nobody sees, which would hide an address. */
const INVISIBLE = /\p{Cf}+/gu
const BETWEEN_WORDS = /[\s"“”„«»<>()[\]{}|;!?*=`\\]+/u

/** Every claim holds one of these; most words hold none. */
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

/** Of a word that is nothing as a whole: its numbers, and what mixes letters with digits. */
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

/** A word without the punctuation around it. A loop, since an expression that looks for the end of a text can be slow. */
function trimmed(word: string): string {
  let [from, to] = [0, word.length]
  while (from < to && !opens(word[from]!)) from++
  while (to > from && !closes(word[to - 1]!)) to--
  return word.slice(from, to)
}
