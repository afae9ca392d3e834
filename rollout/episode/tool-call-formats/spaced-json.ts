import type { JsonObject } from '../../reward/index.js'

type Json = JsonObject[string]

/** JSON on one line with a space after each comma and colon, as Jinja's `tojson` writes it and models have learnt it. */
export function spacedJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(spacedJson).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).map(([key, of]) => `${JSON.stringify(key)}: ${spacedJson(of as Json)}`)
  return `{${members.join(', ')}}`
}
