import { z } from 'zod'
import { configSchema } from './config.js'
import { FIELD_MEANINGS } from './field-meanings.js'

/** A field of `run.yaml` with a value. */
export interface ConfigField {
  /** Path with dots, as in `limits.maxTurnTokens`. */
  readonly path: string
  readonly isRequired: boolean
  /** Default value; undefined: none. */
  readonly standard: unknown
  readonly meaning: string
  /** Behaviour without the field, if it has no default. */
  readonly without: string | undefined
}

/** Field whose own fields docs/reference/trainer.md describes. */
const WHOLE = 'trainer.settings'

/** Returns all fields, in the order of the schema. */
export const configFields = (): ConfigField[] => fieldsBelow(z.toJSONSchema(configSchema, { io: 'input' }), '')

function fieldsBelow(schema: z.core.JSONSchema.JSONSchema, parent: string): ConfigField[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const path = parent + name
    if (typeof field === 'boolean') throw new Error(`${path} has no schema`)
    if (field.properties && path !== WHOLE) return fieldsBelow(field, `${path}.`)
    const described = FIELD_MEANINGS[path]
    if (!described) throw new Error(`field-meanings.ts has no entry for ${path}`)
    const isRequired = schema.required?.includes(name) === true && field.default === undefined
    return [{ path, isRequired, standard: field.default, meaning: described.meaning, without: described.without }]
  })
}

/** Returns docs/reference/configuration.md with the current table of fields. */
export function withFieldTable(text: string): string {
  const rows = configFields().map(({ path, isRequired, standard, meaning, without }) => {
    const shown = standard === undefined ? (isRequired ? 'required' : without) : `\`${JSON.stringify(standard)}\``
    if (shown === undefined) throw new Error(`field-meanings.ts has no \`without\` for ${path}`)
    return `| \`${path}\` | ${shown} | ${meaning} |\n`
  })
  const head = '| field | default | meaning |\n| --- | --- | --- |\n'
  return text.replace(/^\| field \| default \| meaning \|\n\|[^\n]*\n(\| `[^\n]*\n)+/m, () => head + rows.join(''))
}
