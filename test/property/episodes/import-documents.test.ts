import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { stringify } from 'yaml'
import { draftEnvironment, IMPORT_LIMITS, readOpenApi } from '../../../servers/authoring/importing/index.js'
import { loadEnvironmentFolder } from '../../../servers/authoring/load-environment.js'
import { writeEnvironmentFolder } from '../../../servers/authoring/new-environment.js'
import { jsonSchemaOf } from '../../../servers/kernel/index.js'

const test = suite('documents as people publish them')

const parent = mkdtempSync(join(tmpdir(), 'prove-documents-'))
test.after(() => rmSync(parent, { recursive: true }))

let drafts = 0

async function drafted(text: string) {
  const made = draftEnvironment(readOpenApi(text), { name: `document_${drafts++}`, taken: [] })
  await writeEnvironmentFolder(made.name, parent, made.files)
  const environment = await loadEnvironmentFolder(join(parent, made.name))
  const inputOf = (tool: string) => {
    const { properties = {}, required = [] } = jsonSchemaOf(environment.toolsByName.get(tool)!.input, 'input')
    return { properties: properties as Record<string, Record<string, unknown>>, required }
  }
  return { made, environment, inputOf, decisions: made.files.get('DECISIONS.md')! }
}

/** Returns a document with one call and a body of this schema. */
const withBody = (schema: object, schemas: object = {}): string =>
  JSON.stringify({
    openapi: '3.0.3',
    info: { title: 'Domain Settings API', version: '1' },
    components: { schemas },
    paths: {
      '/domains/{domain}/settings': {
        patch: {
          operationId: 'changeSettings',
          parameters: [{ name: 'domain', in: 'path', required: true, schema: { type: 'string' } }],
          requestBody: { required: true, content: { 'application/json': { schema } } },
          responses: { 200: { description: 'ok' } },
        },
      },
    },
  })
const text = { type: 'string' }
const flag = { type: 'boolean' }

for (const [keyword, what] of [
  ['anyOf', 'conditions'],
  ['oneOf', 'conditions'],
] as const)
  test(`${keyword} next to fields keeps the fields and notes the ${what}`, async () => {
    const { inputOf, decisions } = await drafted(
      withBody({
        type: 'object',
        properties: { renews: flag, locked: flag, note: text },
        [keyword]: [{ required: ['renews'] }, { required: ['locked'] }],
      }),
    )
    const { properties, required } = inputOf('change_settings')
    assert.equal(Object.keys(properties), ['domain', 'renews', 'locked', 'note'])
    assert.equal(required, ['domain'])
    assert.is(properties.renews!.type, 'boolean')
    assert.match(decisions, 'needs renews; or locked')
  })

test('fields of alternatives are added as optional ones', async () => {
  const { inputOf, decisions } = await drafted(
    withBody(
      {
        allOf: [{ $ref: '#/components/schemas/Base' }, { required: ['note'] }],
        oneOf: [
          { type: 'object', required: ['email'], properties: { email: text } },
          { type: 'object', properties: { phone: text } },
        ],
      },
      { Base: { type: 'object', required: ['id'], properties: { id: text, note: text } } },
    ),
  )
  const { properties, required } = inputOf('change_settings')
  assert.equal(Object.keys(properties), ['domain', 'id', 'note', 'email', 'phone'])
  assert.equal(required, ['domain', 'id', 'note'])
  assert.match(decisions, 'needs email')
})

test('a combinator around one schema changes nothing but its description, and lists of constants are choices', async () => {
  const { inputOf } = await drafted(
    withBody(
      {
        type: 'object',
        properties: {
          colour: { allOf: [{ $ref: '#/components/schemas/Colour' }], description: 'Of the badge.' },
          size: { oneOf: [{ const: 'small', title: 'Small' }, { const: 'large' }, { type: 'null' }] },
          model: { anyOf: [{ type: 'string', enum: ['a', 'b'] }, { type: 'string' }] },
          tags: { type: 'array', allOf: [], items: { $ref: '#/components/schemas/Colour' } },
        },
      },
      { Colour: { type: 'string', enum: ['red', 'blue'] } },
    ),
  )
  const { properties } = inputOf('change_settings')
  assert.equal(properties.colour, { type: 'string', enum: ['red', 'blue'], description: 'Of the badge.' })
  assert.match(JSON.stringify(properties.size), '"enum":["small","large"]')
  assert.is(properties.model!.enum, undefined)
  assert.is(properties.model!.type, 'string')
  assert.match(JSON.stringify(properties.tags), '"enum":["red","blue"]')
})

const BARE = { description: 'ok' }
const listing = (more: object, answer: object = BARE) => ({
  openapi: '3.0.2',
  info: { title: 'Schema Store', version: '1' },
  paths: { '/schemas': { get: { operationId: 'listSchemas', responses: { 200: answer } } } },
  ...more,
})

const MERGED = `
openapi: 3.0.3
info: { title: Merged Stations, version: "1" }
x-failures: &failures
  "404": { description: There is no such station. }
  "409": { description: The station is closed. }
paths:
  /stations/{station}:
    get:
      operationId: getStation
      parameters: [{ name: station, in: path, required: true, schema: { type: string } }]
      responses:
        <<: *failures
        "200": { description: ok, content: { application/json: { schema: { $ref: '#/components/schemas/Station' } } } }
components:
  schemas:
    Place: &place { type: object, properties: { lat: { type: number }, lon: { type: number } } }
    Station:
      <<: *place
      description: A station
`

test('merge keys of YAML are merged', async () => {
  const { environment } = await drafted(MERGED)
  assert.ok(Object.values(environment.failures).includes('The station is closed.'))
  assert.equal(Object.keys(environment.toolsByName.get('get_station')!.output.shape), ['lat', 'lon'])
})

for (const [what, source] of [
  [
    'a version without quotes',
    'openapi: 3.0\ninfo: { title: Tax Office, version: 1.2 }\npaths: { /a: { get: { responses: {} } } }',
  ],
  ['version 3.1 without quotes', 'openapi: 3.1\npaths: { /a: { get: {} } }'],
  ['version 3.2', JSON.stringify(listing({ openapi: '3.2.0' }))],
  ['a byte order mark', `\uFEFF${JSON.stringify(listing({}))}`],
  ['a byte order mark before YAML', `\uFEFF${stringify(listing({}))}`],
  ['a comma after the last item', JSON.stringify(listing({})).replace(/}$/, ',}')],
  ['no info', JSON.stringify(listing({ info: undefined }))],
  [
    'wrong parts that no call needs',
    JSON.stringify(listing({ servers: 'here', tags: 7, components: { schemas: [] } })),
  ],
  [
    'references in an example',
    JSON.stringify(
      listing(
        {},
        {
          ...BARE,
          content: {
            'application/json': {
              schema: { type: 'object' },
              example: { schema: { $ref: 'https://example.com/x.json' } },
            },
          },
        },
      ),
    ),
  ],
] as const)
  test(`a document with ${what} is imported without a note`, async () => {
    const { environment, decisions } = await drafted(source)
    assert.is(environment.tools.length, 1)
    assert.not.match(decisions, 'Left out or guessed')
  })

test('a wrong part of a call is left out with a note, and the other parts stay', async () => {
  const source = listing({})
  Object.assign(source.paths['/schemas'].get, {
    parameters: [
      { in: 'query' },
      { $ref: '#/components/parameters/None' },
      { name: 'kind', in: 'query', schema: { type: 'strng' } },
      { name: 'shape', in: 'query', schema: { $ref: 'other.yaml#/Shape' } },
      { name: 'id', in: 'query', schema: { type: ['string', 'integer'] } },
    ],
  })
  Object.assign(source.paths, { '/others': { $ref: './others.yaml' }, '/bad': { get: { parameters: {} } } })
  const { environment, inputOf, decisions } = await drafted(JSON.stringify(source))
  assert.equal([...environment.toolsByName.keys()], ['list_schemas', 'get_bad'])
  assert.equal(Object.keys(inputOf('list_schemas').properties), ['kind', 'shape', 'id'])
  for (const expected of [
    'a parameter without a name is left out',
    'parameters/None" refers to nothing',
    'the type strng is unknown',
    'other.yaml',
    'one of the types string, integer',
    'its parameters are not a list',
  ])
    assert.ok(decisions.replaceAll('\\', '').includes(expected), `${expected} is not in\n${decisions}`)
})

test('a body field with the name of a path parameter is an argument of its own, and no table comes from it', async () => {
  const change = (schema: object) => ({
    parameters: [{ name: 'id', in: 'path', required: true, schema: text }],
    requestBody: { required: true, content: { 'application/json': { schema } } },
    responses: { 204: BARE },
  })
  const { environment, inputOf } = await drafted(
    JSON.stringify({
      ...listing({}),
      paths: {
        '/labels/{id}': {
          post: { operationId: 'addLabels', ...change({ type: 'object', properties: { id: text, text } }) },
          put: {
            operationId: 'setLabels',
            ...change({ type: 'array', items: { type: 'object', properties: { id: text } } }),
          },
        },
        '/pets/{petId}': {
          put: {
            operationId: 'putPet',
            ...change({ type: 'object', properties: { petId: text } }),
            parameters: [
              { name: 'petId', in: 'path', required: true, schema: text },
              { name: 'petId', in: 'query', schema: text },
            ],
          },
        },
      },
    }),
  )
  assert.equal(Object.keys(environment.tables), ['labels', 'pets'])
  assert.equal(Object.keys(inputOf('add_labels').properties), ['id', 'id_in_body', 'text'])
  assert.equal(Object.keys(inputOf('set_labels').properties), ['id', 'body'])
  assert.equal(Object.keys(inputOf('put_pet').properties), ['petId', 'petId_in_query', 'petId_in_body'])
})

test('arguments get names that every language can write', async () => {
  const names = ['DateSent', 'DateSent<', 'DateSent>=', '$top', 'filter[status]', '名称', 'größe', 'ids[]', 'class']
  const source = listing({})
  Object.assign(source.paths['/schemas'].get, {
    parameters: names.map((name) => ({ name, in: 'query', schema: text })),
  })
  const { inputOf } = await drafted(JSON.stringify(source))
  assert.equal(Object.keys(inputOf('list_schemas').properties), [
    ...['DateSent', 'date_sent_lt', 'date_sent_gte', 'top', 'filter_status', 'field', 'grosse', 'ids', 'class_'],
  ])
})

test('notes are grouped, and a draft has only those of its calls', () => {
  const properties = Object.fromEntries(
    Array.from({ length: 9 }, (_, i) => [`f${i}`, { type: 'string', pattern: '^x$' }]),
  )
  const service = readOpenApi(
    JSON.stringify({
      ...listing({}),
      paths: {
        '/many': {
          get: { responses: { 200: { ...BARE, content: { 'application/json': { schema: { properties } } } } } },
        },
        '/other': { get: { parameters: [{ name: 'X-Trace', in: 'header' }], responses: {} } },
      },
    }),
  )
  const decisionsOf = (only: string[]) => draftEnvironment(service, { only, taken: [] }).files.get('DECISIONS.md')!
  assert.match(decisionsOf(['many']), `and ${9 - IMPORT_LIMITS.placesPerNote} more places: must match`)
  assert.not.match(decisionsOf(['many']), 'X-Trace')
  assert.match(decisionsOf(['other']), 'X-Trace')
})

test.run()
