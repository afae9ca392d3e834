import type { ToolResponse } from '../../servers/kernel/index.js'
import type { Json, JsonObject } from '../reward/index.js'
import { CALL_LIMITS } from './limits.js'
import type { BoundValue, ParsedCall, Place, ReadableCall } from './tool-call-format.js'
import { callOf } from './tool-call-formats/json-call.js'

/**
 * Puts the values of earlier results into a call's arguments.
 * @param results  results of the calls before this one in its message, in order
 * @returns null if a result is missing, is an error or lacks the value, or if the arguments become too large
 */
export function withResults({ bound, ...call }: ReadableCall, results: readonly ToolResponse[]): ParsedCall | null {
  if (!bound) return call
  const values = new Map<string, Json>()
  let chars = 0
  for (const { at, back, path } of bound) {
    const value = valueIn(results[results.length - back], path)
    if (value === undefined) return null
    chars += JSON.stringify(value).length
    if (chars > CALL_LIMITS.boundChars) return null
    values.set(JSON.stringify(at), value)
  }
  return callOf(call.name, filled(call.arguments, [], values)) ?? null
}

function valueIn(result: ToolResponse | undefined, path: Place): Json | undefined {
  if (!result?.ok) return undefined
  let value: Json | undefined
  try {
    value = JSON.parse(result.text) as Json
  } catch {
    return undefined
  }
  for (const step of path) {
    if (typeof value !== 'object' || value === null || Array.isArray(value) !== (typeof step === 'number'))
      return undefined
    // An own property, never an inherited one: a key may be called `constructor`.
    value = Object.hasOwn(value, step) ? (value as Record<string | number, Json>)[step] : undefined
  }
  return value
}

function filled(value: Json, at: Place, values: ReadonlyMap<string, Json>): Json {
  if (value === null) return values.get(JSON.stringify(at)) ?? null
  if (typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map((item: Json, i) => filled(item, [...at, i], values))
  return Object.fromEntries(
    Object.entries(value as JsonObject).map(([key, item]) => [key, filled(item, [...at, key], values)]),
  )
}

/** Describes a call for an error or a log: references are places, since their values are not known. */
export const describeBound = ({ name, bound = [] }: Pick<ReadableCall, 'name' | 'bound'>): string =>
  JSON.stringify({ name, bound: bound.map(({ at, back, path }: BoundValue) => ({ at, back, path })) })
