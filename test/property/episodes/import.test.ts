import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import ts from 'typescript'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { parse } from 'yaml'
import { checkEnvironment } from '../../../servers/authoring/check-environment.js'
import {
  draftEnvironment,
  type ForeignService,
  IMPORT_LIMITS,
  readMcpTools,
  readOpenApi,
} from '../../../servers/authoring/importing/index.js'
import { loadEnvironmentFolder } from '../../../servers/authoring/load-environment.js'
import { writeEnvironmentFolder } from '../../../servers/authoring/new-environment.js'
import { type Environment, generateSeedState, jsonSchemaOf, Session } from '../../../servers/kernel/index.js'
import { checkout } from '../../support/checkout.js'

const test = suite('an environment drafted from an interface')

const parent = mkdtempSync(join(tmpdir(), 'prove-import-'))
test.after(() => rmSync(parent, { recursive: true }))

let drafts = 0

/** The draft as a folder, and the world that its code makes. */
async function drafted(service: ForeignService, taken: string[] = []) {
  const made = draftEnvironment(service, { name: `shelter_${drafts++}`, taken })
  await writeEnvironmentFolder(made.name, parent, made.files)
  const folder = join(parent, made.name)
  return { made, folder, environment: await loadEnvironmentFolder(folder), decisions: made.files.get('DECISIONS.md')! }
}

/** Returns the messages of the check for a failing environment. */
async function checked(folder: string): Promise<string> {
  const said: string[] = []
  assert.ok((await checkEnvironment(folder, (line) => said.push(line))) > 0)
  return said.join('\n')
}

const SHELTER = `
openapi: 3.0.3
info: { title: The Animal Shelter API, version: 1.2.0, description: Animals and who takes them home. }
paths:
  /animals:
    get:
      operationId: listAnimals
      summary: List the animals
      parameters:
        - { name: kind, in: query, description: Only these., schema: { type: string, enum: [dog, cat, "guinea pig's"] } }
        - { name: limit, in: query, schema: { type: integer, maximum: 100 } }
        - { name: X-Trace, in: header, schema: { type: string } }
      responses:
        '200': { description: ok, content: { application/json: { schema: { type: array, items: { $ref: '#/components/schemas/Animal' } } } } }
  /animals/{id}:
    parameters: [{ $ref: '#/components/parameters/Id' }]
    get:
      responses:
        '200': { description: ok, content: { application/json; charset=utf-8: { schema: { $ref: '#/components/schemas/Animal' } } } }
        '404': { description: Animal not found }
    delete:
      operationId: delete
      responses: { '204': { description: gone } }
  /adoptions:
    post:
      operationId: adopt-animal
      summary: Take an animal home.
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              required: [animalId, from, when]
              properties:
                animalId: { type: integer }
                from: { type: string, description: Where it will live., pattern: '^[A-Z]' }
                when: { type: string, format: date, description: The day. }
                note: { type: string, nullable: true, description: Anything else. }
      responses:
        '201': { description: done, content: { application/json: { schema: { $ref: '#/components/schemas/Adoption' } } } }
        '409': { description: Animal is reserved for somebody }
        '401': { description: Who are you }
components:
  parameters:
    Id: { name: id, in: path, required: true, description: Which one., schema: { type: integer } }
  schemas:
    Animal:
      type: object
      required: [id, name]
      properties:
        id: { type: integer }
        name: { type: string }
        mother: { $ref: '#/components/schemas/Animal' }
    Adoption:
      allOf:
        - { type: object, required: [id], properties: { id: { type: string, format: uuid } } }
        - { type: object, properties: { animalId: { type: integer }, paid: { type: number, minimum: 0 } } }
`

const schema = (environment: Environment, tool: string) =>
  jsonSchemaOf(environment.toolsByName.get(tool)!.input, 'input')

test('an OpenAPI document gives calls, arguments, tables and failures', async () => {
  const { made, environment } = await drafted(readOpenApi(SHELTER))
  assert.equal(
    environment.tools.map(({ name, annotations }) => [name, annotations.readOnly]),
    [
      ['list_animals', true],
      ['get_animals_id', true],
      ['delete', false],
      ['adopt_animal', false],
    ],
  )
  assert.equal(Object.keys(environment.tables), ['animals', 'adoptions'])
  assert.equal(Object.keys(environment.tables.adoptions!.row.shape), ['id', 'animalId', 'paid'])
  assert.equal(environment.entities.animal, { noun: 'animal', table: 'animals', label: 'name' })
  assert.equal(Object.keys(environment.failures), ['unknown_animal', 'unknown_adoption', 'animal_is_reserved_for'])
  const { properties, required } = schema(environment, 'adopt_animal') as {
    properties: Record<string, { type?: string; format?: string; description?: string }>
    required: string[]
  }
  assert.equal(required, ['animalId', 'from_', 'when'])
  assert.is(properties.animalId!.type, 'string', 'a key is a text')
  assert.match(properties.animalId!.description!, 'list_animals')
  assert.is(properties.when!.format, 'date')
  assert.match(JSON.stringify(schema(environment, 'list_animals')), "guinea pig's")
  assert.match(made.files.get('index.js')!, "The argument from_ is 'from' there.")
})

test('the draft lists the open decisions and the omitted parts', async () => {
  const { made, decisions } = await drafted(readOpenApi(SHELTER))
  for (const expected of [
    '`seed`',
    '`animals`: whether these are the fields',
    '`animal_is_reserved_for`: which calls end with it',
    '`list_animals` (GET /animals): which rows it looks at',
    'what to say of `limit`; whether `limit` can be removed',
    'whether `from_` are good names',
    'header X-Trace is left out',
    'contains itself',
    'must match ^\\[A-Z\\]|must match ^',
  ])
    assert.ok(
      expected.split('|').some((part) => decisions.includes(part)),
      `${expected} is not in\n${decisions}`,
    )
  assert.is(decisions.split('- [ ] ').length - 1, made.decisions)
})

test('an undecided tool returns an error, and the check names every such tool', async () => {
  const { folder, environment } = await drafted(readOpenApi(SHELTER))
  const session = Session.open(generateSeedState(environment, 1))
  const before = session.stateHash()
  const result = session.call('get_animals_id', { id: 'animal-1' })
  assert.equal(result.ok ? result : { code: result.code, message: result.message }, {
    code: 'undecided',
    message:
      'The author has not decided yet what this tool does: which rows GET /animals/{id} looks at, and what it answers',
  })
  assert.is(session.stateHash(), before)
  const report = await checked(folder)
  const said = report.split('\n')
  assert.match(report, '4 of 4 tools do nothing yet: list_animals, get_animals_id, delete, adopt_animal')
  for (const passed of [
    'declares tools, failures (1 at least) and invariants (1 at least)',
    'takes no date or month that does not exist',
    'produces every entity and fact that one of its tools consumes',
    'stays sound, transactional and reproducible over any sequence of calls',
  ])
    assert.ok(said.includes(`ok    ${passed}`), report)
})

test('the summary uses the singular for one item', async () => {
  const shelter = readOpenApi(SHELTER)
  const { folder, made } = await drafted({ ...shelter, tools: shelter.tools.slice(0, 1) }, ['list_animals'])
  assert.is(made.tools.length, 1)
  const report = await checked(folder)
  assert.match(report, /^shelter_\d+: 1 tool, /)
  assert.match(report, /1 of 1 tool does nothing yet: /)
  assert.match(report, /speech\.yaml:\d+: \w+ has 1 clause in `ask`$/m)
})

test('the draft compiles in strict mode', async () => {
  const { folder } = await drafted(readOpenApi(SHELTER))
  const program = ts.createProgram([join(folder, 'index.js')], {
    allowJs: true,
    checkJs: true,
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    target: ts.ScriptTarget.ES2023,
    lib: ['lib.es2023.d.ts', 'lib.es2024.promise.d.ts', 'lib.es2024.string.d.ts', 'lib.dom.d.ts'],
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    types: ['node'],
    typeRoots: [join(checkout, 'node_modules', '@types')],
    paths: { 'prove-swarm/environments': [join(checkout, 'servers', 'authoring', 'index.ts')] },
  })
  const draft = program.getSourceFile(join(folder, 'index.js'))!
  const problems = [...program.getSemanticDiagnostics(draft), ...program.getSyntacticDiagnostics(draft)]
  assert.equal(
    problems.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n')),
    [],
  )
  // The kit's type was found: without it, everything would be allowed.
  const kit = (draft.statements.find(ts.isExportAssignment)!.expression as ts.ArrowFunction).parameters[0]!
  assert.ok(program.getTypeChecker().getTypeAtLocation(kit).getProperty('defineEnvironment'))
})

test('a decided tool leaves the list, and the others stay', async () => {
  const service = readOpenApi(SHELTER)
  const made = draftEnvironment(service, {
    name: 'half_decided',
    taken: ['list_animals', 'get_animals_id', 'delete', 'adopt_animal'],
  })
  const files = new Map(made.files)
  const question = "...undecided('which rows GET /animals/{id} looks at, and what it answers'),"
  assert.ok(files.get('index.js')!.includes(question))
  files.set(
    'index.js',
    files
      .get('index.js')!
      .replace(question, "sample: () => ({ id: 'a' }), run: ({ id }, { rowOf }) => rowOf('animals', id),"),
  )
  await writeEnvironmentFolder('half_decided', parent, files)
  const environment = await loadEnvironmentFolder(join(parent, 'half_decided'))
  const result = Session.open(generateSeedState(environment, 1)).call('half_decided_get_animals_id', { id: 'animal-1' })
  assert.is(result.ok ? 'ok' : result.code, 'unknown_animal')
  const said: string[] = []
  await checkEnvironment(join(parent, 'half_decided'), (line) => said.push(line))
  assert.match(
    said.join('\n'),
    '3 of 4 tools do nothing yet: half_decided_list_animals, half_decided_delete, half_decided_adopt_animal',
  )
})

test('names are unique among each other, other environments and reserved names', async () => {
  const tools = ['open', 'find pets', 'findPets', 'find-pets', 'find_pets2', 'list_accounts', '2fa', '…'].map(
    (name) => ({
      name,
      description: '',
      inputSchema: { type: 'object' },
      outputSchema: undefined,
    }),
  )
  const { environment, made } = await drafted(readMcpTools({ title: 'T', instructions: '', tools }), ['list_accounts'])
  assert.equal(
    environment.tools.map(({ name }) => name),
    [
      `${made.name}_open`,
      'find_pets',
      'find_pets_2',
      'find_pets_3',
      'find_pets2',
      `${made.name}_list_accounts`,
      'n2fa',
      'tool',
    ],
  )
})

test('a name from a title omits common words', async () => {
  assert.is(draftEnvironment(readOpenApi(SHELTER), { taken: [] }).name, 'animal_shelter')
})

test('texts of the document are never executed', async () => {
  const evil = `*/ }) ; throw new Error('ran') /* \u2028 \${process.exit(1)} \` ' " \\ {x} [y] // `
  const names = ['__proto__', 'constructor', 'prototype', 'class', 'toString', evil, `${evil}2`, 'this', '']
  const fields = Object.fromEntries(
    names.map((name) => [name, { type: 'string', description: evil, enum: [evil, 'b'] }]),
  )
  Object.defineProperty(fields, '__proto__', { value: { type: 'string' }, enumerable: true })
  const tools = [evil, 'delete', 'new', '__proto__', 'constructor'].map((name) => ({
    name,
    description: evil,
    inputSchema: { type: 'object', properties: fields, required: names },
    outputSchema: {
      type: 'object',
      properties: {
        thi: {
          type: 'array',
          items: {
            type: 'object',
            properties: { id: { type: 'string' }, [`${evil}_id`]: { type: 'string' }, class_id: { type: 'integer' } },
          },
        },
        ...fields,
      },
    },
  }))
  const { environment } = await drafted(readMcpTools({ title: evil, instructions: evil, tools }))
  assert.is(environment.tools.length, tools.length)
  for (const tool of environment.tools) {
    const own = Object.keys(tool.input.shape).filter((name) => name !== 'page')
    assert.is(own.length, names.length)
    for (const name of Object.keys(tool.input.shape)) assert.match(name, /^[A-Za-z][A-Za-z0-9_]*$/)
  }
  assert.is(Session.open(generateSeedState(environment, 1)).violations().length, 0)
})

const document = (change: (value: Record<string, unknown>) => void): string => {
  const value = parse(SHELTER) as Record<string, unknown>
  change(value)
  return JSON.stringify(value)
}

for (const depth of [IMPORT_LIMITS.schemaNesting + 1, 20_000])
  test(`schemas nested ${depth} times become any object, with a note`, async () => {
    const { environment, decisions } = await drafted(readOpenApi(withSchema(nested(depth))))
    assert.is(environment.tools.length, 4)
    assert.match(decisions, `nested more than ${IMPORT_LIMITS.schemaNesting} times`)
  })

const nested = (depth: number): string => `${'{"allOf":['.repeat(depth)}{}${']}'.repeat(depth)}`
const withSchema = (text: string): string =>
  document((value) => {
    value.components = { ...(value.components as object), schemas: { Animal: {}, Adoption: {} } }
  }).replace('"Animal":{}', `"Animal":${text}`)

for (const [what, text, code] of [
  ['no document', 'just words', 'unreadable_document'],
  ['neither JSON nor YAML', '{"openapi": ', 'unreadable_document'],
  [
    'aliases that grow without end',
    `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefghij'
      .split('')
      .map((name, i) => `${name}: &${name} [${Array(9).fill(`*${'abcdefghij'[i]}`).join(',')}]`)
      .join('\n')}`,
    'unreadable_document',
  ],
  ['another version', '{"swagger": "2.0"}', 'invalid_document'],
  [
    'a document whose calls are in other files',
    document((value) => {
      value.paths = { '/a': { $ref: '../../etc/passwd' }, '/b': { get: { $ref: 'https://127.0.0.1:1/evil.json' } } }
    }),
    'no_tools',
  ],
  [
    'no calls',
    document((value) => {
      value.paths = {}
    }),
    'no_tools',
  ],
] as const)
  test(`refuses ${what}`, () => {
    assert.throws(
      () => draftEnvironment(readOpenApi(text), { taken: [] }),
      (error: { code?: string }) => error.code === code,
    )
  })

test('the draft has at most the limit of calls, and --only chooses among more', async () => {
  const many = (count: number): ForeignService =>
    readMcpTools({
      title: 'Many',
      instructions: '',
      tools: Array.from({ length: count }, (_, i) => ({
        name: `call_${i}`,
        description: '',
        inputSchema: { type: 'object' },
        outputSchema: undefined,
      })),
    })
  assert.is(draftEnvironment(many(IMPORT_LIMITS.tools), { taken: [] }).tools.length, IMPORT_LIMITS.tools)
  assert.throws(() => draftEnvironment(many(IMPORT_LIMITS.tools + 1), { taken: [] }), /too_large.*--only/)
  assert.equal(
    draftEnvironment(many(IMPORT_LIMITS.tools + 1), { taken: [], only: ['call_12', 'call_7'] }).tools.length,
    10 + 11,
  )
  assert.throws(() => draftEnvironment(many(3), { taken: [], only: ['nothing'] }), /no_tools/)
})

test('an exploding schema is truncated, and the draft says so', async () => {
  const schemas = Object.fromEntries(
    Array.from({ length: 12 }, (_, i) => [
      `S${i}`,
      {
        type: 'object',
        properties: Object.fromEntries(
          Array.from({ length: 20 }, (_, j) => [
            `f${j}`,
            i === 11 ? { type: 'string' } : { $ref: `#/$defs/S${i + 1}` },
          ]),
        ),
      },
    ]),
  )
  const inputSchema = { $ref: '#/$defs/S0', $defs: schemas }
  const { decisions } = await drafted(
    readMcpTools({
      title: 'Wide',
      instructions: '',
      tools: [{ name: 'wide', description: '', inputSchema, outputSchema: undefined }],
    }),
  )
  assert.match(decisions, `more than ${IMPORT_LIMITS.schemaParts} parts`)
})

test.run()
