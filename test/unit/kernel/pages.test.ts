import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { z } from 'zod'
import { environmentContract } from '../../../servers/authoring/contract/environment-contract.js'
import { toolMaker } from '../../../servers/kernel/define-environment.js'
import {
  createSeedStateCache,
  defineEnvironment,
  type Environment,
  jsonSchemaOf,
  PAGE,
  ref,
} from '../../../servers/kernel/index.js'

const tables = { pebbles: { row: z.object({ pebble: z.string() }), key: 'pebble', missing: 'unknown_pebble' } } as const
const failures = { unknown_pebble: 'There is no such pebble.' }
const tool = toolMaker(tables, failures)

/** A beach with so many pebbles, which are listed in two ways at once. */
const beachOf = (pebbles: number): Environment =>
  defineEnvironment({
    name: 'beach',
    title: 'Beach',
    description: 'Pebbles.',
    tables,
    entities: { pebble: { noun: 'pebble', table: 'pebbles' } },
    failures,
    tools: [
      tool({
        name: 'list_pebbles',
        description: 'List the pebbles, and those with an odd number.',
        input: z.strictObject({}),
        output: z.object({
          found: z.int(),
          pebbles: z.array(z.object({ pebble: ref('pebble') })),
          odd: z.array(z.string()),
        }),
        pages: { pebbles: 'short', odd: 'longest' },
        annotations: { readOnly: true },
        sample: () => ({}),
        run: (_, { db }) => ({
          found: db.pebbles.count(),
          pebbles: db.pebbles.list(),
          odd: db.pebbles.list().flatMap(({ pebble }) => (Number(pebble.slice(7)) % 2 === 1 ? [pebble] : [])),
        }),
      }),
      tool({
        name: 'throw_pebble',
        description: 'Throw a pebble.',
        input: z.strictObject({ pebble: ref('pebble'), other: ref('pebble', 'A second one.').optional() }),
        output: z.object({ gone: z.string() }),
        annotations: { readOnly: false },
        sample: () => null,
        run: ({ pebble }, { db }) => {
          db.pebbles.remove(pebble)
          return { gone: pebble }
        },
      }),
    ],
    invariants: [],
    seed: () => ({ pebbles: Array.from({ length: pebbles }, (_, i) => ({ pebble: `pebble-${i + 1}` })) }),
  })

const list = (pebbles: number, args: object) => {
  const result = createSeedStateCache().open(beachOf(pebbles), 1).call('list_pebbles', args)
  assert.ok(result.ok)
  return result.ok
    ? (result.output as { found: number; pebbles: unknown[]; odd: unknown[]; next_page?: number })
    : null!
}

test('a list that fits is shown whole and names no next page', () => {
  const { pebbles, next_page } = list(PAGE.short, {})
  assert.is(pebbles.length, PAGE.short)
  assert.is(next_page, undefined)
})

test('a longer list is read to its end by its pages, which its lists turn together', () => {
  const [first, second, third] = [list(11, {}), list(11, { page: 2 }), list(11, { page: 3 })]
  assert.equal(
    [first, second, third].map(({ pebbles, odd, next_page }) => [pebbles.length, odd.length, next_page]),
    [
      [5, 3, 2],
      [5, 3, 3],
      [1, 0, undefined],
    ],
  )
  assert.equal(second.odd, ['pebble-7', 'pebble-9', 'pebble-11'])
  assert.is(first.found, 11)
  assert.equal(list(11, { page: 1 }), first)
  assert.equal(list(11, { page: 9 }).pebbles, [])
})

test('a page is a number from 1 on', () => {
  const session = createSeedStateCache().open(beachOf(3), 1)
  for (const page of [0, -1, 1.5, '2', 1001]) assert.not.ok(session.call('list_pebbles', { page }).ok)
})

test('a key without a description gets one that says where it comes from, and no other is replaced', () => {
  const { input } = beachOf(1).toolsByName.get('throw_pebble')!
  const { properties } = jsonSchemaOf(input, 'input') as { properties: Record<string, { description: string }> }
  assert.is(properties.pebble!.description, 'Key of the pebble, from list_pebbles.')
  assert.is(properties.other!.description, 'A second one.')
})

test('the contract finds a list that is cut by hand, and passes one that the kernel cuts', () => {
  const beach = beachOf(11)
  const shown = beach.toolsByName.get('list_pebbles')!
  const output = z.object({ found: z.int(), pebbles: z.array(z.object({ pebble: ref('pebble') })) })
  const cut = {
    ...shown,
    output,
    run: () => ({ found: 11, pebbles: Array.from({ length: 5 }, (_, i) => ({ pebble: `pebble-${i}` })) }),
  }
  const { pages: _, ...byHand } = cut
  const check = (environment: Environment) =>
    environmentContract(environment, { provoke: {} })
      .find(({ name }) => name.startsWith('hides no entries'))!
      .run()
  check(beach)
  const hiding = { ...beach, tools: [byHand], toolsByName: new Map([[byHand.name, byHand]]) }
  assert.throws(() => check(hiding), /list_pebbles \{\} found 11 pebbles and shows 5 on 1 page/)
})

test.run()
