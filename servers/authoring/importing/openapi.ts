import { Validator } from '@seriousme/openapi-schema-validator'
import { parse } from 'yaml'
import { ImportError } from './errors.js'
import { IMPORT_LIMITS } from './limits.js'
import { oneLine, singularOf, snakeName, wordsOf } from './names.js'
import { createSchemaReader, isObject, type SchemaReader, textOf } from './read-schema.js'
import type { Field, ForeignService, ForeignTool, Shape } from './shape.js'

type Json = Readonly<Record<string, unknown>>

const METHODS = ['get', 'head', 'post', 'put', 'patch', 'delete'] as const
type Method = (typeof METHODS)[number]

/** Status codes about the caller or the service, which are not failures of an environment. */
const NOT_OF_THE_ENVIRONMENT = new Set(['401', '403', '429'])
/** What JSON is called in a document: `application/json; charset=utf-8`, `application/vnd.shop+json`. */
const JSON_TYPE = /^application\/([\w.-]+\+)?json\b/

/**
 * Reads a description of an HTTP interface, OpenAPI 3.0 or 3.1, in JSON or YAML. Nothing is fetched.
 * @throws ImportError
 */
export async function readOpenApi(text: string): Promise<ForeignService> {
  const document = parsed(text)
  await validate(document)
  const notes: string[] = []
  const reader = createSchemaReader(document, (note) => notes.push(note))
  const tools: ForeignTool[] = []
  for (const [path, item] of Object.entries(isObject(document.paths) ? document.paths : {})) {
    const place = reader.resolved(item)
    if (!isObject(place)) continue
    for (const method of METHODS)
      if (isObject(place[method]))
        tools.push(toolOf({ method, path, operation: place[method], shared: place.parameters, reader, notes }))
  }
  const info = isObject(document.info) ? document.info : {}
  return { title: oneLine(textOf(info.title)), description: oneLine(textOf(info.description)), tools, notes }
}

function parsed(text: string): Json {
  let document: unknown
  try {
    // The parser of YAML reads JSON too, some fifty times slower.
    document = /^\s*\{/.test(text) ? JSON.parse(text) : parse(text)
  } catch (cause) {
    throw new ImportError('unreadable_document', `neither JSON nor YAML: ${oneLine((cause as Error).message)}`, {
      cause,
    })
  }
  if (!isObject(document)) throw new ImportError('unreadable_document', 'the document is not an object')
  return document
}

async function validate(document: Json): Promise<void> {
  const version = textOf(document.openapi)
  if (!/^3\.[01]\./.test(version))
    throw new ImportError(
      'invalid_document',
      `${'swagger' in document ? 'Swagger 2 has to be converted first; ' : ''}the document needs "openapi": 3.0 or 3.1, and ${version === '' ? 'has none' : `has ${oneLine(version, 20)}`}`,
    )
  let errors: unknown
  try {
    const result = await new Validator().validate(document)
    if (result.valid) return
    errors = result.errors
  } catch (cause) {
    // What is nested too deeply for it.
    throw new ImportError('invalid_document', oneLine((cause as Error).message), { cause })
  }
  // Of references it tells in words, of all else in a list.
  if (typeof errors === 'string') throw new ImportError('bad_reference', oneLine(errors))
  throw new ImportError('invalid_document', `not as OpenAPI ${version} has it: ${problemsIn(errors)}`)
}

/** The places that are wrong: the deepest, for the others only contain them. */
function problemsIn(errors: unknown): string {
  if (!Array.isArray(errors)) return 'no more is known'
  const stated = errors.map((error: Json) => `${textOf(error.instancePath) || '/'} ${textOf(error.message)}`)
  const deepest = [...new Set(stated)].sort((a, b) => b.split('/').length - a.split('/').length)
  return oneLine(deepest.slice(0, 3).join('; '))
}

interface Operation {
  readonly method: Method
  readonly path: string
  readonly operation: Json
  /** Parameters of all operations of the path. */
  readonly shared: unknown
  readonly reader: SchemaReader
  readonly notes: string[]
}

function toolOf(at: Operation): ForeignTool {
  const { method, path, operation } = at
  const origin = oneLine(`${method.toUpperCase()} ${path}`)
  const said = oneLine(textOf(operation.summary) || textOf(operation.description))
  const input = new Map<string, Field>()
  const keysOf = new Map<string, string>()
  for (const parameter of parametersOf(at)) {
    const name = textOf(parameter.name)
    if (parameter.in === 'header' || parameter.in === 'cookie') {
      at.notes.push(`${origin}: ${parameter.in} ${oneLine(name, 40)} is left out: environments have no headers`)
      continue
    }
    const content = Object.values(isObject(parameter.content) ? parameter.content : {})[0]
    const schema = parameter.schema ?? (isObject(content) ? content.schema : undefined)
    input.set(name, {
      shape: at.reader.shapeOf(schema, `${origin}, ${oneLine(name, 40)}`),
      isRequired: parameter.required === true || parameter.in === 'path',
      isNullable: false,
      description: oneLine(textOf(parameter.description)),
    })
    const entity = parameter.in === 'path' ? pathEntity(path, name) : undefined
    if (entity !== undefined) keysOf.set(name, entity)
  }
  for (const [name, field] of bodyOf(at, origin)) input.set(input.has(name) ? `body_${name}` : name, field)
  return {
    name: textOf(operation.operationId) || `${method} ${path.replaceAll(/[{}]/g, '')}`,
    origin,
    description: said,
    readOnly: method === 'get' || method === 'head',
    destructive: method === 'delete',
    idempotent: method === 'put' || method === 'delete',
    input,
    output: answerOf(at, origin),
    keysOf,
    failures: failuresOf(at),
  }
}

function parametersOf({ operation, shared, reader }: Operation): Json[] {
  const all = [shared, operation.parameters].flatMap((list) => (Array.isArray(list) ? list : []))
  const byPlace = new Map<string, Json>()
  for (const one of all) {
    const parameter = reader.resolved(one)
    if (isObject(parameter) && textOf(parameter.name) !== '')
      byPlace.set(`${textOf(parameter.in)} ${textOf(parameter.name)}`, parameter)
  }
  return [...byPlace.values()]
}

/** `{id}` in `/shop/orders/{id}` is the key of an order; `{orderId}` says so itself. */
function pathEntity(path: string, parameter: string): string | undefined {
  const parts = path.split('/')
  const before = parts[parts.indexOf(`{${parameter}}`) - 1]
  if (before === undefined || before === '' || before.includes('{')) return undefined
  const words = wordsOf(parameter)
  const isNamed = words.length > 1 && words.at(-1) === 'id'
  return isNamed ? words.slice(0, -1).join('_') : singularOf(snakeName(before, 'thing'))
}

/** The schema of what is sent or answered as JSON. */
function jsonSchema(holder: unknown): { schema: unknown } | { other: string } | null {
  const content = isObject(holder) && isObject(holder.content) ? Object.entries(holder.content) : []
  const json = content.find(([type]) => JSON_TYPE.test(type)) ?? content.find(([type]) => type === '*/*')
  if (json) return { schema: isObject(json[1]) ? json[1].schema : undefined }
  const form = content.find(([type]) => type === 'application/x-www-form-urlencoded')
  if (form) return { schema: isObject(form[1]) ? form[1].schema : undefined }
  return content.length === 0 ? null : { other: content[0]![0] }
}

function bodyOf({ operation, reader, notes }: Operation, origin: string): ReadonlyMap<string, Field> {
  const body = reader.resolved(operation.requestBody)
  const found = jsonSchema(body)
  if (!found || !isObject(body)) return new Map()
  if ('other' in found) {
    notes.push(`${origin}: takes ${oneLine(found.other, 60)}, which is left out: environments take JSON`)
    return new Map()
  }
  const shape = reader.shapeOf(found.schema, `${origin}, body`)
  const isRequired = body.required === true
  if (shape.kind !== 'record')
    return new Map([['body', { shape, isRequired, isNullable: false, description: oneLine(textOf(body.description)) }]])
  // A body that may be left out altogether has no field that must be given.
  return new Map(
    [...shape.fields].map(([name, field]) => [name, { ...field, isRequired: field.isRequired && isRequired }]),
  )
}

function answerOf({ operation, reader, notes }: Operation, origin: string): Shape | undefined {
  const answers = isObject(operation.responses) ? Object.entries(operation.responses) : []
  const success = answers.find(([status]) => /^2/.test(status)) ?? answers.find(([status]) => status === 'default')
  const found = jsonSchema(reader.resolved(success?.[1]))
  if (!found) return undefined
  if ('other' in found) {
    notes.push(`${origin}: answers with ${oneLine(found.other, 60)}, which is left out: environments return JSON`)
    return undefined
  }
  return reader.shapeOf(found.schema, `${origin}, answer`)
}

function failuresOf({ operation, reader }: Operation): string[] {
  const answers = isObject(operation.responses) ? Object.entries(operation.responses) : []
  return answers
    .filter(([status]) => /^4\d\d$/.test(status) && !NOT_OF_THE_ENVIRONMENT.has(status))
    .map(([, answer]) => reader.resolved(answer))
    .flatMap((answer) => (isObject(answer) ? [oneLine(textOf(answer.description))] : []))
    .filter((words) => words !== '')
    .slice(0, IMPORT_LIMITS.failuresPerTool)
}
