// Writes the text of docs/reference/events.md: the events of the log, with fields from the schemas and meanings from the comments next to them.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { z } from 'zod'

const source = fileURLToPath(new URL('../coordinator/ledger/events.ts', import.meta.url))

const HEAD = `# Events

This page is the reference of the records in a run's event log, for authors of programs that read the log. \`npm run docs\` writes it from \`coordinator/ledger/events.ts\`.

Each event is one JSON object. It has the fields of its table, and in addition \`type\` and \`atMs\`, the time in milliseconds since 1970. A field with a question mark may be missing. \`prove-coordinator events\` prints the events and \`prove-coordinator export\` writes them, both without \`roundSecret\`.
`

/** @param {Record<string, z.ZodType>} events  the schemas, by type */
export function describeEvents(events) {
  const meanings = readMeanings()
  const sections = Object.entries(events).map(([type, schema]) => {
    const { properties, required = [] } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
    const { meaning, fields } = meanings.get(type)
    const rows = Object.entries(properties).map(([name, field]) => {
      const optional = required.includes(name) ? '' : '?'
      return `| \`${name}${optional}\` | ${typeOf(field)} | ${cell(fields.get(name) ?? '')} |\n`
    })
    if (!meaning) throw new Error(`coordinator/ledger/events.ts has no comment before the event ${type}; add one`)
    return `\n## \`${type}\`\n\n${meaning}\n\n| field | type | meaning |\n| --- | --- | --- |\n${rows.join('')}`
  })
  return HEAD + sections.join('')
}

function typeOf(schema) {
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' or ')
  if (schema.enum) return schema.enum.map((value) => `\`${value}\``).join(', ')
  if (schema.type === 'array') return `list of ${typeOf(schema.items)}`
  if (schema.contentEncoding === 'base64') return 'base64'
  if (schema.pattern?.includes('[0-9a-f]{64}')) return 'SHA-256 or 32 bytes, in hex'
  return schema.type ?? 'anything'
}

const cell = (text) => text.replaceAll('|', '\\|')

/** Returns the comments before the types of events and before their fields. A comment before two fields belongs to the first. */
function readMeanings() {
  const file = ts.createSourceFile(source, readFileSync(source, 'utf8'), ts.ScriptTarget.Latest, true)
  const commentOf = (node) =>
    ts
      .getJSDocCommentsAndTags(node)
      .map(({ comment }) => (typeof comment === 'string' ? comment.replaceAll(/\s*\n\s*/g, ' ') : ''))
      .join(' ')
  const constants = new Map(
    file.statements
      .filter(ts.isVariableStatement)
      .flatMap(({ declarationList }) => declarationList.declarations)
      .map((declaration) => [declaration.name.getText(), declaration.initializer]),
  )
  /** Returns the fields of `{…} as const`, of `z.object({…})`, or of a name for one of them, spread fields included. */
  const fieldsOf = (node) => {
    if (ts.isIdentifier(node) && constants.has(node.text)) return fieldsOf(constants.get(node.text))
    if (ts.isAsExpression(node)) return fieldsOf(node.expression)
    if (ts.isCallExpression(node)) return fieldsOf(node.arguments[0])
    if (!ts.isObjectLiteralExpression(node)) throw new Error(`no object at ${node.getText().slice(0, 60)}`)
    return node.properties.flatMap((field) => (ts.isSpreadAssignment(field) ? fieldsOf(field.expression) : [field]))
  }
  return new Map(
    fieldsOf(constants.get('EVENTS')).map((event) => [
      event.name.text,
      {
        meaning: commentOf(event),
        fields: new Map(fieldsOf(event.initializer).map((field) => [field.name.text, commentOf(field)])),
      },
    ]),
  )
}
