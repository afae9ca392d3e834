import * as fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { z } from 'zod'
import {
  defineEnvironment,
  dependencyGraph,
  deriveSeed,
  EnvironmentDefect,
  type EnvironmentSpec,
  entitiesIn,
  entityKinds,
  jsonSchemaOf,
  meaningOf,
  offeredTool,
  ref,
  requiredReferences,
  seededRandom,
  sensitive,
  type Tables,
  toolMaker,
} from '../../../servers/kernel/index.js'
import { CATALOGUE } from '../../support/catalogue.js'
import { library, librarySpec, tools } from '../../support/library-environment.js'

test('a reference keeps its meaning through wrappers and added bounds', () => {
  const account = ref('account', 'Where from')
  for (const wrapped of [
    account,
    account.optional(),
    account.nullable(),
    account.readonly(),
    account.nullable().optional(),
  ]) {
    assert.is(meaningOf(wrapped).entity, 'account')
  }
  assert.is(account.description, 'Where from')
  assert.equal(meaningOf(z.string()), {})
  assert.equal(meaningOf(account.max(5)), { entity: 'account' })
  assert.equal(meaningOf(sensitive(ref('pin'))), { entity: 'pin', sensitive: true })
  assert.equal(meaningOf(sensitive(z.string()).optional()), { sensitive: true })
})

test('entities are found in reading order, at any depth, with the object around them', () => {
  const schema = z.object({
    owner: ref('person').optional(),
    cards: z.array(z.object({ card: ref('card'), label: z.string(), holders: z.array(ref('person')) })),
    spare: ref('card').nullable(),
    note: z.string(),
  })
  const gold = { card: 'gold-1', label: 'Gold', holders: ['ada', 'bo'] }
  const value = { cards: [gold, { card: 'blue-2', label: 'Blue', holders: [] }], spare: null, note: 'gold-1' }
  const found = entitiesIn(schema, value)
  assert.equal(
    found.map(({ entity, key }) => `${entity} ${key}`),
    ['card gold-1', 'person ada', 'person bo', 'card blue-2'],
  )
  assert.is(found[0]!.within, gold)
  assert.is(found[1]!.within, gold)
  assert.equal([...entityKinds(schema)], ['person', 'card'])
  assert.equal(entitiesIn(schema, undefined), [])
  assert.equal(entitiesIn(schema, { owner: 5, cards: [], spare: 'blue-2' }).length, 1)
})

test('only required fields count as references that a tool needs', () => {
  const input = z.strictObject({
    account: ref('account'),
    backup: ref('account').optional(),
    payees: z.array(ref('payee')),
    amount: z.number(),
    lines: z.array(
      z.strictObject({ item: ref('item'), from: ref('shelf').nullable(), coupon: ref('coupon').optional() }),
    ),
    gift: z.strictObject({ wrap: ref('wrap') }).optional(),
    spare: ref('account').optional().nullable(),
  })
  assert.equal(requiredReferences(input), [
    ['account', 'account'],
    ['payees', 'payee'],
    ['lines', 'item'],
    ['lines', 'shelf'],
  ])
})

test('a key within a list makes an edge for each kind that the list must contain', () => {
  const tool = (name: string, input: z.ZodObject, output: z.ZodObject) => ({
    ...tools.listBooks,
    name,
    input,
    output,
  })
  const none = z.strictObject({})
  const shop = defineEnvironment({
    ...librarySpec,
    tools: [
      tool('list_items', none, z.object({ items: z.array(z.object({ item: ref('book') })) })),
      tool('list_coupons', none, z.object({ coupons: z.array(z.object({ coupon: ref('loan') })) })),
      tool(
        'order',
        z.strictObject({ lines: z.array(z.strictObject({ item: ref('book'), coupon: ref('loan').optional() })) }),
        none,
      ),
    ],
  })
  assert.equal(
    dependencyGraph(shop).edges.map(({ from, to }) => `${from} ${to}`),
    ['list_items order'],
  )
})

test('a look-up comes before another one about the same thing only if it lists such things', () => {
  const book = z.strictObject({ book: ref('book') })
  const shown = z.object({ details: z.object({ book: ref('book') }).optional() })
  const tool = (name: string, output: z.ZodObject, readOnly = true) => ({
    ...tools.listBooks,
    name,
    input: book,
    output,
    annotations: { readOnly },
  })
  const shelf = defineEnvironment({
    ...librarySpec,
    tools: [
      tools.listBooks,
      tool('show_book', shown),
      tool('show_reviews', z.object({ text: z.string() })),
      tool('find_alike', z.object({ books: z.array(shown).nullable() })),
      tool('copy_book', shown, false),
      tool('burn_book', z.object({}), false),
    ],
  })
  const { prerequisites, from } = dependencyGraph(shelf)
  assert.equal([...prerequisites('show_reviews')], ['list_books', 'find_alike', 'copy_book'])
  assert.equal([...prerequisites('burn_book')], ['list_books', 'show_book', 'find_alike', 'copy_book'])
  assert.ok(from('show_book').some(({ to }) => to === 'show_reviews'))
})

test('the dependency graph follows from what tools produce, consume, establish and need', () => {
  const { edges, from, prerequisites } = dependencyGraph(library)
  assert.equal(edges, [
    { kind: 'explicit', from: 'list_books', to: 'lend_book', field: 'book', entity: 'book' },
    { kind: 'explicit', from: 'return_book', to: 'lend_book', field: 'book', entity: 'book' },
    { kind: 'explicit', from: 'lend_book', to: 'return_book', field: 'loan', entity: 'loan' },
    { kind: 'implicit', from: 'lend_book', to: 'read_statistics', fact: 'something_lent' },
  ])
  assert.equal(
    from('lend_book').map(({ to }) => to),
    ['return_book', 'read_statistics'],
  )
  assert.equal([...prerequisites('lend_book')], ['list_books', 'return_book'])
  assert.equal(from('fly'), [])
  assert.is(prerequisites('fly').size, 0)
})

test('handlers may ask for rows of tables that declare a failure, which the compiler checks', () => {
  const row = z.object({ key: z.string() })
  const spec = {
    name: 'look_up',
    description: 'Looks up.',
    input: z.strictObject({}),
    output: row,
    annotations: { readOnly: true },
    sample: () => ({}),
  }
  const tables = { named: { row, key: 'key', missing: 'unknown_key' }, nameless: { row, key: 'key' } } as const
  const tool = toolMaker(tables, { unknown_key: 'There is no such key.' })
  tool({ ...spec, run: (_, { rowOf }) => rowOf('named', 'a') })
  // @ts-expect-error no failure is declared for rows of this table
  tool({ ...spec, run: (_, { rowOf }) => rowOf('nameless', 'a') })
  // @ts-expect-error the failure of the first table is not among the failures
  toolMaker(tables, { unknown_name: 'There is no such name.' })
})

type Broken = (spec: EnvironmentSpec<Tables>) => Partial<EnvironmentSpec<Tables>>
const REFUSED: readonly (readonly [string, Broken, RegExp])[] = [
  ['a name that is not snake_case', () => ({ name: 'Library' }), /the name "Library" is not snake_case/],
  ['a tool name that is not snake_case', () => ({ tools: [{ ...tools.listBooks, name: 'listBooks' }] }), /"listBooks"/],
  ['a tool name with a double underscore', () => ({ tools: [{ ...tools.listBooks, name: 'a__b' }] }), /"a__b"/],
  ['a failure code that is not snake_case', () => ({ failures: { 'too-late': '' } }), /"too-late"/],
  ['two tools of one name', ({ tools: all }) => ({ tools: [...all, tools.listBooks] }), /two tools have the same name/],
  [
    'an entity without a table',
    () => ({ entities: { shelf: { noun: 'shelf', table: 'shelves' } } }),
    /no table "shelves"/,
  ],
  [
    'a table whose rows have no such key',
    ({ tables }) => ({ tables: { ...tables, books: { ...tables.books!, key: 'isbn' } } }),
    /table books: the rows have no field "isbn"/,
  ],
  [
    'a table whose missing rows fail with a code that is no failure',
    ({ tables }) => ({ tables: { ...tables, books: { ...tables.books!, missing: 'unknown_tome' } } }),
    /table books: `missing` names "unknown_tome", which is not among the failures/,
  ],
]
for (const [what, broken, message] of REFUSED) {
  test(`a declaration with ${what} is refused`, () => {
    const spec = librarySpec as unknown as EnvironmentSpec<Tables>
    assert.throws(
      () => defineEnvironment({ ...spec, ...broken(spec) }),
      (error: Error) => error instanceof EnvironmentDefect && message.test(error.message),
    )
  })
}

/** Every keyword that occurs in a JSON Schema, at any depth. */
function keysOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(keysOf)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, part]) => [key, ...keysOf(part)])
}

test('schemas of tools hold no reference, no schema tag and no bounds that nobody wrote', () => {
  for (const environment of [library, ...CATALOGUE.values()]) {
    for (const tool of environment.tools) {
      for (const [io, schema] of [
        ['input', tool.input],
        ['output', tool.output],
      ] as const) {
        const json = jsonSchemaOf(schema, io)
        const keys = keysOf(json)
        for (const key of ['$ref', '$schema', '$defs'])
          assert.not(keys.includes(key), `${environment.name}.${tool.name}`)
        assert.not.match(JSON.stringify(json), /9007199254740991/)
        assert.is(json.type, 'object')
      }
      assert.is(jsonSchemaOf(tool.input, 'input').additionalProperties, false, `${environment.name}.${tool.name}`)
    }
  }
})

test('a schema used twice is written out twice', () => {
  const city = z.object({ name: z.string(), stops: z.int() })
  const json = jsonSchemaOf(z.strictObject({ from: city, to: city }), 'input')
  const written = { type: 'object', properties: { name: { type: 'string' }, stops: { type: 'integer' } } }
  const properties = json.properties as Record<string, object>
  assert.equal(properties.from, properties.to)
  assert.equal(properties.from, { ...written, required: ['name', 'stops'] })
})

test('an offered tool is what a client sees of it', () => {
  const { name, description, inputSchema, readOnly } = offeredTool(tools.lendBook)
  assert.is(name, 'lend_book')
  assert.is(description, 'Lend a book to a reader.')
  assert.is(readOnly, false)
  assert.equal(inputSchema.required, ['book', 'reader'])
  assert.equal(inputSchema.properties, {
    book: { type: 'string', minLength: 1, maxLength: 80, description: 'Key of the book' },
    reader: { type: 'string', minLength: 1 },
    weeks: { type: 'integer' },
  })
})

test('a random stream repeats with its seed and stays in bounds', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 0xffffffff }),
      fc.array(fc.nat({ max: 9 }), { maxLength: 10 }),
      (seed, items) => {
        const [one, two] = [seededRandom(seed), seededRandom(seed)]
        const draw = one.int(-3, 3)
        assert.ok(Number.isInteger(draw) && draw >= -3 && draw <= 3)
        assert.is(two.int(-3, 3), draw)
        const sorted = (list: readonly number[]) => [...list].sort()
        const shuffled = one.shuffle(items)
        assert.equal(two.shuffle(items), shuffled)
        assert.equal(sorted(shuffled), sorted(items))
        assert.is(one.sample([1, 2, 3], 2).length, 2)
        assert.is(new Set(one.sample([1, 2, 3], 9)).size, 3)
        assert.is(one.chance(0), false)
        assert.is(one.chance(1), true)
      },
    ),
    { numRuns: 100, seed: 20260302 },
  )
  assert.throws(
    () => seededRandom(1).pick([]),
    (error: Error) => error instanceof RangeError,
  )
})

test('seeds derived from other labels differ, and a label has the same seed on every machine', () => {
  assert.is(deriveSeed('library', 'world', 1), 1311352818)
  const labels = [['a', 1], ['a', '1'], ['a1'], ['a', 1, 0], [1, 'a'], []] as const
  assert.is(new Set(labels.map((parts) => deriveSeed(...parts))).size, labels.length)
})

test.run()
