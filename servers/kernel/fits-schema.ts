import type { OfferedTool } from './tool-schema.js'

/** Returns whether a call with these arguments is executed at all. The function does not consider the tool's answer to them. */
export const takesArguments = (tool: OfferedTool, args: unknown): boolean => fits(args, tool.inputSchema)

/**
 * Returns whether a value fits a JSON Schema as far as types, required keys, items and branches go. Execution checks `enum`, patterns,
 * ranges, formats and `additionalProperties`, and this function does not. So stripping enums from the offered schemas changes
 * neither what is executed nor the reward (docs/explain/reward.md).
 */
export function fits(value: unknown, schema: unknown): boolean {
  if (schema === false) return false
  if (!isObject(schema) || Object.hasOwn(schema, '$ref')) return true
  for (const keyword of ['anyOf', 'oneOf']) {
    const branches = Object.hasOwn(schema, keyword) ? schema[keyword] : undefined
    if (Array.isArray(branches) && !branches.some((branch) => fits(value, branch))) return false
  }
  if (Array.isArray(schema.allOf) && !schema.allOf.every((branch) => fits(value, branch))) return false
  if (schema.type !== undefined) {
    const types = Array.isArray(schema.type) ? schema.type : [schema.type]
    if (!types.some((type) => hasType(value, type))) return false
  }
  if (Array.isArray(value)) return !isObject(schema.items) || value.every((item) => fits(item, schema.items))
  if (!isObject(value)) return true
  const required = Array.isArray(schema.required) ? schema.required : []
  if (!required.every((key) => Object.hasOwn(value, key))) return false
  const properties = isObject(schema.properties) ? schema.properties : {}
  return Object.entries(value).every(([key, part]) => !Object.hasOwn(properties, key) || fits(part, properties[key]))
}

function hasType(value: unknown, type: unknown): boolean {
  switch (type) {
    case 'null':
      return value === null
    case 'boolean':
      return typeof value === 'boolean'
    case 'string':
      return typeof value === 'string'
    case 'number':
      return typeof value === 'number'
    case 'integer':
      return Number.isInteger(value)
    case 'array':
      return Array.isArray(value)
    case 'object':
      return isObject(value)
    default:
      return true
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
