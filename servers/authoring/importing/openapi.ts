import { parse } from 'yaml'
import { namedEntity } from './entities.js'
import { ImportError } from './errors.js'
import { IMPORT_LIMITS } from './limits.js'
import { oneLine, singularOf, snakeName, unused, wordsOf } from './names.js'
import { createSchemaReader, type SchemaReader } from './read-schema.js'
import { isObject, type Json, textOf } from './references.js'
import type { Field, ForeignService, ForeignTool, Note, Shape, TakeNote } from './shape.js'

const METHODS = ['get', 'head', 'query', 'post', 'put', 'patch', 'delete'] as const
type Method = (typeof METHODS)[number]
const READING: ReadonlySet<Method> = new Set(['get', 'head', 'query'])

/** Status codes about the caller or the service, which are not failures of an environment. */
const NOT_OF_THE_ENVIRONMENT = new Set(['401', '403', '429'])
/** Media types of JSON in documents: `application/json; charset=utf-8`, `application/vnd.shop+json`. */
const JSON_TYPE = /^application\/([\w.-]+\+)?json\b/

/**
 * Reads a description of an HTTP interface, OpenAPI 3, in JSON or YAML. Nothing is fetched. Only the parts that a draft needs are read:
 * a part that is wrong is left out, with a note.
 * @throws ImportError
 */
export function readOpenApi(text: string): ForeignService {
  const document = parsed(text)
  checkVersion(document)
  const notes: Note[] = []
  const note: TakeNote = (where, what) => notes.push({ where, what })
  const reader = createSchemaReader(document, note)
  const tools: ForeignTool[] = []
  for (const [path, item] of Object.entries(isObject(document.paths) ? document.paths : {})) {
    const place = reader.resolved(item, oneLine(path))
    if (!isObject(place)) continue
    for (const method of METHODS) {
      const origin = oneLine(`${method.toUpperCase()} ${path}`)
      const operation = reader.resolved(place[method], origin)
      if (isObject(operation))
        tools.push(toolOf({ method, path, origin, operation, shared: place.parameters, reader, note }))
    }
  }
  const info = isObject(document.info) ? document.info : {}
  return { title: oneLine(textOf(info.title)), description: oneLine(textOf(info.description)), tools, notes }
}

function parsed(text: string): Json {
  let document: unknown
  try {
    document = parseText(text.replace(/^\uFEFF/, ''))
  } catch (cause) {
    throw new ImportError('unreadable_document', `neither JSON nor YAML: ${oneLine((cause as Error).message)}`, {
      cause,
    })
  }
  if (!isObject(document)) throw new ImportError('unreadable_document', 'the document is not an object')
  return document
}

function parseText(text: string): unknown {
  // The parser of YAML reads JSON too, some fifty times slower.
  if (/^\s*\{/.test(text)) {
    try {
      return JSON.parse(text)
    } catch {
      // Almost JSON, for example with a comma after the last item: YAML allows that.
    }
  }
  return parse(text, { merge: true })
}

/** Checks the version. Without quotes, YAML reads 3.0 as the number 3. @throws ImportError */
function checkVersion({ openapi, swagger }: Json): void {
  const version = typeof openapi === 'number' ? String(openapi) : textOf(openapi)
  if (/^3(\.[012])?(\.|$)/.test(version)) return
  if (swagger !== undefined)
    throw new ImportError(
      'invalid_document',
      'this is Swagger 2: convert it to OpenAPI 3 first, such as with swagger2openapi',
    )
  const found = version === '' ? 'has none' : `has ${oneLine(version, 20)}`
  throw new ImportError('invalid_document', `the document needs "openapi": 3.0, 3.1 or 3.2, and ${found}`)
}

interface Operation {
  readonly method: Method
  readonly path: string
  /** Method and path, for comments and notes. */
  readonly origin: string
  readonly operation: Json
  /** Parameters of all operations of the path. */
  readonly shared: unknown
  readonly reader: SchemaReader
  readonly note: TakeNote
}

function toolOf(at: Operation): ForeignTool {
  const { method, path, origin, operation } = at
  const { input, keysOf } = inputOf(at)
  return {
    name: textOf(operation.operationId) || `${method} ${path.replaceAll(/[{}]/g, '')}`,
    origin,
    description: oneLine(textOf(operation.summary) || textOf(operation.description)),
    readOnly: READING.has(method),
    destructive: method === 'delete',
    idempotent: method === 'put' || method === 'delete',
    input,
    output: answerOf(at),
    keysOf,
    failures: failuresOf(at),
  }
}

/** Returns the arguments of a call, from its parameters and its body, and the entities whose keys they are. */
function inputOf(at: Operation): Pick<ForeignTool, 'input' | 'keysOf'> {
  const { origin } = at
  const input = new Map<string, Field>()
  const keysOf = new Map<string, string>()
  const add = (name: string, field: Field, place: string): string => {
    if (!input.has(name)) {
      input.set(name, field)
      return name
    }
    // The place comes last: in front of "id", it would read as the name of an entity.
    const other = unused(`${name}_in_${place}`, new Set(input.keys()))
    input.set(other, field)
    const entity = namedEntity(name, field.shape)
    if (entity !== undefined) keysOf.set(other, entity)
    return other
  }
  for (const parameter of parametersOf(at)) {
    const [name, place] = [textOf(parameter.name), textOf(parameter.in)]
    if (place === 'header' || place === 'cookie') {
      at.note(origin, `${place} ${oneLine(name, 40)} is left out: environments have no headers`)
      continue
    }
    const content = Object.values(isObject(parameter.content) ? parameter.content : {})[0]
    const schema = parameter.schema ?? (isObject(content) ? content.schema : undefined)
    const field: Field = {
      shape: at.reader.shapeOf(schema, `${origin}, ${oneLine(name, 40)}`),
      isRequired: parameter.required === true || place === 'path',
      isNullable: false,
      description: oneLine(textOf(parameter.description)),
    }
    const added = add(name, field, snakeName(place, 'other'))
    const entity = place === 'path' ? pathEntity(at.path, name) : undefined
    if (entity !== undefined) keysOf.set(added, entity)
  }
  for (const [name, field] of bodyOf(at)) add(name, field, 'body')
  return { input, keysOf }
}

function parametersOf({ origin, operation, shared, reader, note }: Operation): Json[] {
  const byPlace = new Map<string, Json>()
  for (const list of [shared, operation.parameters]) {
    if (list !== undefined && !Array.isArray(list)) note(origin, `its parameters are not a list and are left out`)
    for (const one of Array.isArray(list) ? list : []) {
      const parameter = reader.resolved(one, `${origin}, a parameter`)
      if (isObject(parameter) && textOf(parameter.name) !== '')
        byPlace.set(`${textOf(parameter.in)} ${textOf(parameter.name)}`, parameter)
      else if (parameter !== undefined) note(origin, `a parameter without a name is left out`)
    }
  }
  return [...byPlace.values()]
}

/** Returns the entity whose key a path parameter is: in `/shop/orders/{id}` an order; `{orderId}` names it. */
function pathEntity(path: string, parameter: string): string | undefined {
  const parts = path.split('/')
  const before = parts[parts.indexOf(`{${parameter}}`) - 1]
  if (before === undefined || before === '' || before.includes('{')) return undefined
  const words = wordsOf(parameter)
  const isNamed = words.length > 1 && words.at(-1) === 'id'
  return isNamed ? words.slice(0, -1).join('_') : singularOf(snakeName(before, 'thing'))
}

/** Returns the schema of a body or an answer in JSON or as a form. */
function jsonSchema(holder: unknown): { schema: unknown } | { other: string } | null {
  const content = isObject(holder) && isObject(holder.content) ? Object.entries(holder.content) : []
  const json = content.find(([type]) => JSON_TYPE.test(type)) ?? content.find(([type]) => type === '*/*')
  if (json) return { schema: isObject(json[1]) ? json[1].schema : undefined }
  const form = content.find(([type]) => type === 'application/x-www-form-urlencoded')
  if (form) return { schema: isObject(form[1]) ? form[1].schema : undefined }
  return content.length === 0 ? null : { other: content[0]![0] }
}

function bodyOf({ origin, operation, reader, note }: Operation): ReadonlyMap<string, Field> {
  const where = `${origin}, body`
  const body = reader.resolved(operation.requestBody, where)
  const found = jsonSchema(body)
  if (!found || !isObject(body)) return new Map()
  if ('other' in found) {
    note(origin, `takes ${oneLine(found.other, 60)}, which is left out: environments take JSON`)
    return new Map()
  }
  const shape = reader.shapeOf(found.schema, where)
  const isRequired = body.required === true
  if (shape.kind !== 'record')
    return new Map([['body', { shape, isRequired, isNullable: false, description: oneLine(textOf(body.description)) }]])
  // If the whole body is optional, so are its fields.
  return new Map(
    [...shape.fields].map(([name, field]) => [name, { ...field, isRequired: field.isRequired && isRequired }]),
  )
}

const answersOf = ({ operation }: Operation): [string, unknown][] =>
  isObject(operation.responses) ? Object.entries(operation.responses) : []

function answerOf(at: Operation): Shape | undefined {
  const answers = answersOf(at)
  const where = `${at.origin}, answer`
  const success = answers.find(([status]) => /^2/.test(status)) ?? answers.find(([status]) => status === 'default')
  const found = jsonSchema(at.reader.resolved(success?.[1], where))
  if (!found) return undefined
  if ('other' in found) {
    at.note(at.origin, `answers with ${oneLine(found.other, 60)}, which is left out: environments return JSON`)
    return undefined
  }
  return at.reader.shapeOf(found.schema, where)
}

function failuresOf(at: Operation): string[] {
  return answersOf(at)
    .filter(([status]) => /^4\d\d$/.test(status) && !NOT_OF_THE_ENVIRONMENT.has(status))
    .map(([status, answer]) => at.reader.resolved(answer, `${at.origin}, answer ${status}`))
    .flatMap((answer) => (isObject(answer) ? [oneLine(textOf(answer.description))] : []))
    .filter((words) => words !== '')
    .slice(0, IMPORT_LIMITS.failuresPerTool)
}
