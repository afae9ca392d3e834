import type { Json, JsonObject } from './types.js'

/**
 * Compares JSON values without conversion between types (reward specification, section 2). Numbers are compared as IEEE doubles,
 * strings code unit by code unit, and arrays in order. Objects are compared regardless of key order.
 */
export function equalValues(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return a !== undefined
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false
    return a.every((item, i) => equalValues(item, b[i]))
  }
  const [left, right] = [a as JsonObject, b as JsonObject]
  const keys = Object.keys(left)
  return keys.length === Object.keys(right).length && keys.every((key) => equalValues(left[key], own(right, key)))
}

/** Returns an own property, never an inherited one: an argument may be called `constructor`. */
export function own(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined
}
