import type { Json, JsonObject } from '../../reward/index.js'
import { CALL_LIMITS } from '../limits.js'
import type { BoundValue, Place, ReadableCall, Span } from '../tool-call-format.js'
import { callOf } from './json-call.js'

/**
 * Blocks of straight-line calls, after HyperTool (arXiv 2606.13663): a block holds several calls, and names carry results from one call to
 * the next. HyperTool runs Python; here nothing is evaluated. The grammar has no operators, loops, conditions or functions:
 *
 *     block     = statement *(newline statement)
 *     statement = [name "="] tool "(" [argument *("," argument)] ")"
 *     argument  = key "=" value
 *     value     = JSON, in which each value may also be a reference
 *     reference = name *("." key / "[" index "]" / "[" string "]")
 *
 * Tools and keys are identifiers or JSON strings. A name takes the result of its call, once, and exists until the end of its block.
 */
export const BLOCK_LIMITS = {
  /** Characters of a block. */
  chars: 32_768,
  calls: 16,
  /** Characters of a name for a result. */
  nameChars: 64,
  /** References of one call. */
  references: 64,
  /** Steps of a reference into a result. */
  steps: 16,
} as const

/** Returns the calls of a block; undefined if any part of it cannot be read, so that no call of it is made. */
export function readBlock(text: string): ReadableCall[] | undefined {
  if (text.length > BLOCK_LIMITS.chars) return undefined
  const cursor = cursorOf(text)
  const names = new Map<string, number>()
  const calls: ReadableCall[] = []
  try {
    cursor.skip(SPACE)
    while (!cursor.atEnd()) {
      if (calls.length === BLOCK_LIMITS.calls) return undefined
      calls.push(statement(cursor, names, calls.length))
      const gap = cursor.skip(SPACE)
      if (!cursor.atEnd() && !gap.includes('\n')) return undefined
    }
  } catch (error) {
    if (error instanceof Unreadable) return undefined
    throw error
  }
  return calls.length === 0 ? undefined : calls
}

/** Writes calls as a block. Calls whose results are used by later calls get the names r1, r2 and so on. */
export function writeBlock(calls: readonly ReadableCall[]): string {
  const used = new Set(calls.flatMap(({ bound = [] }, i) => bound.map(({ back }) => i - back)))
  const nameOf = (i: number): string => `r${[...used].filter((other) => other <= i).length}`
  return calls
    .map(({ name, arguments: args, bound = [] }, i) => {
      const references = new Map(
        bound.map(({ at, back, path }) => [JSON.stringify(at), nameOf(i - back) + path.map(stepText).join('')]),
      )
      const parts = Object.entries(args).map(([key, value]) => `${word(key)}=${valueText(value, [key], references)}`)
      return `${used.has(i) ? `${nameOf(i)} = ` : ''}${word(name)}(${parts.join(', ')})`
    })
    .join('\n')
}

/** Returns for each line with a call the range after its first parenthesis, up to the last one. */
export function blockSpans(text: string): Span[] {
  let from = 0
  return text.split('\n').flatMap((line): Span[] => {
    const start = from
    from += line.length + 1
    const open = line.indexOf('(')
    if (open < 0) return []
    const close = line.lastIndexOf(')')
    return [[start + open + 1, start + (close > open ? close : line.length)]]
  })
}

const IDENTIFIER = /[A-Za-z_][A-Za-z0-9_]*/y
const STRING = /"(?:[^"\\]|\\.)*"/sy
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y
const INDEX = /0|[1-9][0-9]{0,5}/y
const SPACE = /[ \t\r\n]*/y
const BLANK = /[ \t]*/y
const STEP = /[.[]/y
const CONSTANTS: ReadonlyMap<string, Json> = new Map<string, Json>([
  ['true', true],
  ['false', false],
  ['null', null],
])

/** Signal inside this file that a block cannot be read. */
class Unreadable extends Error {}

interface Cursor {
  atEnd(): boolean
  /** Takes the text that the pattern matches here; undefined if it does not match. */
  take(pattern: RegExp): string | undefined
  skip(space: RegExp): string
  /** Takes this character after space, if it comes next. */
  takes(character: string): boolean
  /** @throws Unreadable if another character comes next */
  expect(character: string): void
}

function cursorOf(text: string): Cursor {
  let at = 0
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at
    const found = pattern.exec(text)?.[0]
    at += found?.length ?? 0
    return found
  }
  const takes = (character: string): boolean => {
    take(SPACE)
    const isNext = text[at] === character
    if (isNext) at += 1
    return isNext
  }
  return {
    atEnd: () => at >= text.length,
    take,
    skip: (space) => take(space) ?? '',
    takes,
    expect(character) {
      if (!takes(character)) throw new Unreadable()
    },
  }
}

/** The parts of a call that are collected while it is read. */
interface Scope {
  readonly names: ReadonlyMap<string, number>
  /** Index of the call in its block. */
  readonly index: number
  readonly bound: BoundValue[]
}

function statement(cursor: Cursor, names: Map<string, number>, index: number): ReadableCall {
  const first = wordOf(cursor)
  cursor.skip(BLANK)
  const isNamed = !first.isQuoted && cursor.takes('=')
  if (isNamed) {
    cursor.skip(BLANK)
    const { text } = first
    if (names.has(text) || CONSTANTS.has(text) || text.length > BLOCK_LIMITS.nameChars) throw new Unreadable()
  }
  const tool = isNamed ? wordOf(cursor) : first
  const scope: Scope = { names, index, bound: [] }
  cursor.expect('(')
  const args = members(cursor, ')', '=', (key) => value(cursor, scope, [key]))
  const call = callOf(tool.text, args)
  if (!call || call.malformed || scope.bound.length > BLOCK_LIMITS.references) throw new Unreadable()
  if (isNamed) names.set(first.text, index)
  return scope.bound.length === 0 ? call : { ...call, bound: scope.bound }
}

function wordOf(cursor: Cursor): { readonly text: string; readonly isQuoted: boolean } {
  const quoted = cursor.take(STRING)
  const text = quoted === undefined ? cursor.take(IDENTIFIER) : (parsed(quoted) as string)
  if (text === undefined) throw new Unreadable()
  return { text, isQuoted: quoted !== undefined }
}

/** Reads the members of an object or the arguments of a call, up to the closing character. A key may occur once. */
function members(cursor: Cursor, close: string, separator: string, read: (key: string) => Json): JsonObject {
  const entries = new Map<string, Json>()
  while (!cursor.takes(close)) {
    if (entries.size > 0) cursor.expect(',')
    cursor.skip(SPACE)
    const { text, isQuoted } = wordOf(cursor)
    if (entries.has(text) || (separator === ':' && !isQuoted)) throw new Unreadable()
    cursor.expect(separator)
    entries.set(text, read(text))
  }
  // A literal would not give an object its own key `__proto__`.
  return Object.fromEntries(entries)
}

/** Reads a value. The depth is bounded, so that the size of a stack never decides. */
function value(cursor: Cursor, scope: Scope, at: Place): Json {
  if (at.length > CALL_LIMITS.depth) throw new Unreadable()
  if (cursor.takes('{')) return members(cursor, '}', ':', (key) => value(cursor, scope, [...at, key]))
  if (cursor.takes('[')) return list(cursor, scope, at)
  const literal = cursor.take(STRING) ?? cursor.take(NUMBER)
  if (literal !== undefined) {
    return parsed(literal)
  }
  const name = cursor.take(IDENTIFIER)
  if (name === undefined) throw new Unreadable()
  const constant = CONSTANTS.get(name)
  if (constant !== undefined) return constant
  const source = scope.names.get(name)
  if (source === undefined) throw new Unreadable()
  scope.bound.push({ at, back: scope.index - source, path: pathOf(cursor) })
  return null
}

function list(cursor: Cursor, scope: Scope, at: Place): Json[] {
  const items: Json[] = []
  while (!cursor.takes(']')) {
    if (items.length > 0) cursor.expect(',')
    items.push(value(cursor, scope, [...at, items.length]))
  }
  return items
}

function pathOf(cursor: Cursor): Place {
  const path: (string | number)[] = []
  for (;;) {
    const opening = cursor.take(STEP)
    if (opening === undefined) return path
    if (path.length === BLOCK_LIMITS.steps) throw new Unreadable()
    const index = opening === '[' ? cursor.take(INDEX) : undefined
    path.push(index === undefined ? stepOf(cursor, opening) : Number(index))
    if (opening === '[') cursor.expect(']')
  }
}

function stepOf(cursor: Cursor, opening: string): string {
  const text = opening === '.' ? cursor.take(IDENTIFIER) : cursor.take(STRING)
  if (text === undefined) throw new Unreadable()
  return opening === '.' ? text : (parsed(text) as string)
}

/** Reads a string or a number. JSON's own rules decide about escapes and control characters. */
function parsed(literal: string): string | number {
  let read: string | number
  try {
    read = JSON.parse(literal) as string | number
  } catch {
    throw new Unreadable()
  }
  if (typeof read === 'number' && !Number.isFinite(read)) throw new Unreadable()
  return read
}

const isIdentifier = (text: string): boolean => /^[A-Za-z_][A-Za-z0-9_]*$/.test(text)
const word = (text: string): string => (isIdentifier(text) ? text : JSON.stringify(text))
const stepText = (step: string | number): string => {
  if (typeof step === 'number') return `[${step}]`
  return isIdentifier(step) ? `.${step}` : `[${JSON.stringify(step)}]`
}

function valueText(value: Json, at: Place, references: ReadonlyMap<string, string>): string {
  const reference = references.size === 0 ? undefined : references.get(JSON.stringify(at))
  if (reference !== undefined) return reference
  if (Array.isArray(value)) return `[${value.map((item, i) => valueText(item, [...at, i], references)).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const parts = Object.entries(value as JsonObject).map(
    ([key, item]) => `${JSON.stringify(key)}: ${valueText(item, [...at, key], references)}`,
  )
  return `{${parts.join(', ')}}`
}
