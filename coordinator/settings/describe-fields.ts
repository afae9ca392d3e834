import { z } from 'zod'
import { configSchema } from './config.js'
import { FIELD_MEANINGS } from './field-meanings.js'

/** A field of `run.yaml` that has a value of its own. */
export interface ConfigField {
  /** With dots, as in `limits.maxTurnTokens`. */
  readonly path: string
  readonly isRequired: boolean
  /** Undefined: it has none. */
  readonly standard: unknown
  readonly meaning: string
  /** What holds without it, where that is no value. */
  readonly without: string | undefined
}

/** Its fields are the trainer's (docs/trainer.md). */
const WHOLE = 'trainer.settings'

/** The fields, in the order of the schema. */
export const configFields = (): ConfigField[] => fieldsBelow(z.toJSONSchema(configSchema, { io: 'input' }), '')

function fieldsBelow(schema: z.core.JSONSchema.JSONSchema, parent: string): ConfigField[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const path = parent + name
    if (typeof field === 'boolean') throw new Error(`${path} has no schema`)
    if (field.properties && path !== WHOLE) return fieldsBelow(field, `${path}.`)
    const said = FIELD_MEANINGS[path]
    if (!said) throw new Error(`field-meanings.ts does not say what ${path} is`)
    const isRequired = schema.required?.includes(name) === true && field.default === undefined
    return [{ path, isRequired, standard: field.default, meaning: said.meaning, without: said.without }]
  })
}

/** docs/configuration.md with the table of fields as it is now. */
export function withFieldTable(text: string): string {
  const rows = configFields().map(({ path, isRequired, standard, meaning, without }) => {
    const shown = standard === undefined ? (isRequired ? 'required' : without) : `\`${JSON.stringify(standard)}\``
    if (shown === undefined) throw new Error(`field-meanings.ts does not say what holds without ${path}`)
    return `| \`${path}\` | ${shown} | ${meaning} |\n`
  })
  const head = '| field | default | meaning |\n| --- | --- | --- |\n'
  return text.replace(/^\| field \| default \| meaning \|\n\|[^\n]*\n(\| `[^\n]*\n)+/m, () => head + rows.join(''))
}
