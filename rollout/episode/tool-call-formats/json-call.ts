import type { JsonObject } from '../../reward/index.js'
import { CALL_LIMITS } from '../limits.js'
import type { ParsedCall } from '../tool-call-format.js'

/**
 * Parses a call that is a JSON object with a name and arguments.
 * @param raw  the text between the tags
 * @param key  key of the arguments; a call without this key has no arguments
 * @returns undefined if the call cannot be parsed, or exceeds `CALL_LIMITS`
 */
export function readJsonCall(raw: string, key: string): ParsedCall | undefined {
  let value: unknown
  try {
    value = JSON.parse(raw)
  } catch {
    return undefined
  }
  return isObject(value) ? callOf(value.name, Object.hasOwn(value, key) ? value[key] : {}) : undefined
}

/**
 * Returns the call with this name and these parsed arguments; undefined if they are invalid or exceed `CALL_LIMITS`. Readers of JSON
 * outside training use the number NaN for a value that is not JSON.
 */
export function callOf(name: unknown, args: unknown): ParsedCall | undefined {
  if (typeof name !== 'string' || name === '' || !name.isWellFormed() || bytesOf(name) > CALL_LIMITS.nameBytes)
    return undefined
  if (!isObject(args) || isBeyond(args, CALL_LIMITS.depth)) return undefined
  return { name, arguments: args as JsonObject }
}

const encoder = new TextEncoder()

const bytesOf = (text: string): number => encoder.encode(text).length

/** Whether a value is nested in more levels, or contains NaN. */
function isBeyond(value: object, depth: number): boolean {
  let level: unknown[] = [value]
  for (let at = 0; level.length > 0; at++) {
    if (at > depth || level.some(Number.isNaN)) return true
    level = level.flatMap((item) => (typeof item === 'object' && item !== null ? Object.values(item) : []))
  }
  return false
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
