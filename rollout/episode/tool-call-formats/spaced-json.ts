import type { JsonObject } from '../../reward/index.js'

type Json = JsonObject[string]

/** Writes JSON on one line with a space after each comma and colon, like Jinja's `tojson`, which models have learnt. */
export function spacedJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(spacedJson).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).map(([key, of]) => `${JSON.stringify(key)}: ${spacedJson(of as Json)}`)
  return `{${members.join(', ')}}`
}
