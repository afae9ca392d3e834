import type { JsonObject, LoggedCall } from '../reward/index.js'
import { CALL_LIMITS } from './limits.js'

/** The Hermes/Qwen tool dialect: JSON between tags that the vocabulary holds as single tokens. */
export const DIALECT = 'hermes'

const OPEN = '<tool_call>'
const CLOSE = '</tool_call>'

/** A call block as the policy wrote it: readable, or malformed. */
export type ParsedCall =
  | { readonly malformed?: false; readonly name: string; readonly arguments: JsonObject }
  | Extract<LoggedCall, { malformed: true }>

/**
 * The tool calls of one assistant message, in order. No repair is tried: a block that cannot be read is malformed
 * (reward specification, section 1), and so is one whose name or depth no tool has (`CALL_LIMITS`).
 * The same for node and judge, so nothing here may depend on the size of a stack.
 */
export function parseCalls(message: string): ParsedCall[] {
  const [, ...blocks] = message.split(OPEN)
  return blocks.map((block) => {
    const end = block.indexOf(CLOSE)
    const raw = end < 0 ? block : block.slice(0, end)
    return (end < 0 ? undefined : readCall(raw)) ?? { malformed: true, raw: OPEN + raw }
  })
}

const ARGUMENTS = /"arguments"\s*:/

/**
 * Where the arguments of the calls stand in an assistant message, as [start, end) of characters: in each block,
 * readable or not, everything after the key `arguments`.
 */
export function argumentSpans(message: string): (readonly [start: number, end: number])[] {
  const spans: (readonly [number, number])[] = []
  for (let open = message.indexOf(OPEN); open >= 0; open = message.indexOf(OPEN, open + 1)) {
    const next = message.indexOf(OPEN, open + 1)
    const rest = message.slice(0, next < 0 ? undefined : next)
    const close = rest.indexOf(CLOSE, open)
    const end = close < 0 ? rest.length : close
    const key = ARGUMENTS.exec(message.slice(open, end))
    if (key) spans.push([open + key.index + key[0].length, end])
  }
  return spans
}

function readCall(raw: string): ParsedCall | undefined {
  let value: unknown
  try {
    value = JSON.parse(raw)
  } catch {
    return undefined
  }
  if (!isObject(value) || typeof value.name !== 'string' || value.name === '') return undefined
  const { name } = value
  const args = Object.hasOwn(value, 'arguments') ? value.arguments : {}
  if (!isObject(args) || !name.isWellFormed() || bytesOf(name) > CALL_LIMITS.nameBytes) return undefined
  return nestsBeyond(args, CALL_LIMITS.depth) ? undefined : { name, arguments: args as JsonObject }
}

const encoder = new TextEncoder()

const bytesOf = (text: string): number => encoder.encode(text).length

function nestsBeyond(value: object, depth: number): boolean {
  let level: unknown[] = [value]
  for (let at = 0; level.length > 0; at++) {
    if (at > depth) return true
    level = level.flatMap((item) => (typeof item === 'object' && item !== null ? Object.values(item) : []))
  }
  return false
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A call as a teacher writes it. */
export function writeCall(name: string, args: JsonObject): string {
  return `${OPEN}\n${JSON.stringify({ name, arguments: args })}\n${CLOSE}`
}

/** A tool response's JSON with every `<` escaped, so that no result can spell a tag: the same JSON value in other bytes. */
export function escapePayload(jsonText: string): string {
  return jsonText.replaceAll('<', '\\u003c')
}
