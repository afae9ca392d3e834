import { isDeepStrictEqual } from 'node:util'
import canonicalize from 'canonicalize'
import * as fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Row, RowWriter } from '../../../servers/kernel/row-text.js'
import { SeedTable } from '../../../servers/kernel/seed-table.js'
import { OverlayTable, UndoLog } from '../../../servers/kernel/table.js'

const SEED: readonly Row[] = ['kettle', 'toaster', 'lamp'].map((id) => ({ id, price: 0 }))
const seedMap = new Map(SEED.map((row) => [row.id as string, row]))
const open = (log = new UndoLog()) => new OverlayTable(new SeedTable('id', SEED), log)

type Step =
  | { readonly do: 'insert' | 'update' | 'remove'; readonly id: string; readonly price: number }
  | { readonly do: 'commit' | 'rollback' | 'fork' }

/** What a table is, said plainly: rows by key, and the keys in the order they were first written. */
interface Model {
  readonly rows: Map<string, Row>
  readonly order: string[]
}

const copy = ({ rows, order }: Model): Model => ({ rows: new Map(rows), order: [...order] })
const rowsOf = ({ rows, order }: Model): Row[] => order.filter((id) => rows.has(id)).map((id) => rows.get(id)!)

function applyToModel(model: Model, step: Extract<Step, { id: string }>): boolean {
  const { id, price } = step
  const known = model.rows.has(id)
  if (known === (step.do === 'insert')) return false
  if (step.do === 'remove') model.rows.delete(id)
  else model.rows.set(id, { id, price })
  if (!model.order.includes(id)) model.order.push(id)
  return true
}

function applyToTable(table: OverlayTable, step: Extract<Step, { id: string }>): boolean {
  try {
    if (step.do === 'insert') table.insert({ id: step.id, price: step.price })
    else if (step.do === 'update') table.update(step.id, { price: step.price })
    else table.remove(step.id)
    return true
  } catch {
    return false
  }
}

function assertAgrees(table: OverlayTable, model: Model): void {
  assert.equal(table.list(), rowsOf(model))
  assert.is(table.count(), model.rows.size)
  for (const id of ['kettle', 'toaster', 'lamp', 'radio', 'clock', 'never']) {
    assert.equal(table.get(id), model.rows.get(id))
    assert.is(table.has(id), model.rows.has(id))
  }
  const dear = (row: Row): boolean => (row.price as number) > 2
  assert.equal(table.list(dear), rowsOf(model).filter(dear))
  assert.equal(table.find(dear), rowsOf(model).find(dear))
  assert.is(table.count(dear), rowsOf(model).filter(dear).length)
  for (let price = 0; price <= 4; price++)
    assert.equal(
      table.by('price', price),
      rowsOf(model).filter((row) => row.price === price),
    )
  const ids = [...new Set([...seedMap.keys(), ...model.rows.keys()])].sort()
  const changed = ids.flatMap((id) =>
    isDeepStrictEqual(seedMap.get(id), model.rows.get(id)) ? [] : [[id, canonicalize(model.rows.get(id) ?? null)]],
  )
  assert.equal(table.changes(), changed)
}

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    fc.record({
      do: fc.constantFrom('insert' as const, 'update' as const, 'remove' as const),
      id: fc.constantFrom('kettle', 'toaster', 'lamp', 'radio', 'clock'),
      price: fc.nat({ max: 4 }),
    }),
    fc.record({ do: fc.constantFrom('commit' as const, 'rollback' as const, 'fork' as const) }),
  ),
  { maxLength: 30 },
)

test('a table behaves like a map with a first-written order, through commits, rollbacks and forks', () => {
  fc.assert(
    fc.property(steps, (list) => {
      let log = new UndoLog()
      let table = open(log)
      let model: Model = { rows: new Map(seedMap), order: [...seedMap.keys()] }
      let committed = copy(model)
      const left: (readonly [OverlayTable, Model])[] = []
      for (const step of list) {
        if ('id' in step) {
          assert.is(applyToTable(table, step), applyToModel(model, step), JSON.stringify(step))
        } else if (step.do === 'commit') {
          log.commit()
          committed = copy(model)
        } else if (step.do === 'rollback') {
          log.rollback()
          model = copy(committed)
        } else {
          // Forks are taken between transactions; both go on, the original untouched by what follows.
          log.commit()
          left.push([table, copy(model)])
          log = new UndoLog()
          table = table.fork(log)
          committed = copy(model)
        }
        assertAgrees(table, model)
      }
      for (const [original, asItWas] of left) assertAgrees(original, asItWas)
      assert.equal([...seedMap.values()], SEED, 'the shared seed was written to')
    }),
    { numRuns: 300, seed: 20260302 },
  )
})

test('rows are written as RFC 8785 wants them, whatever they hold and in whatever order their fields come', () => {
  const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' }), fc.constant('\ud800 "\\\n'))
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { maxDepth: 3 },
      text,
      fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean()),
      fc.constantFrom(null, undefined, -0),
      fc.array(tie('any'), { maxLength: 3 }),
      fc.dictionary(text, tie('any'), { maxKeys: 4 }),
    ),
  })).any
  const writer = new RowWriter()
  fc.assert(
    fc.property(fc.dictionary(text, value, { maxKeys: 6 }), (row) => {
      const again = Object.fromEntries(Object.entries(row).reverse()) as Row
      assert.is(writer.write(row), canonicalize(row))
      assert.is(writer.write(again), canonicalize(again))
      assert.is(writer.write({ ...row, last: 1 }), canonicalize({ ...row, last: 1 }))
    }),
    { numRuns: 200, seed: 20260302 },
  )
  for (const wrong of [Number.NaN, Number.POSITIVE_INFINITY, () => 1]) {
    assert.throws(() => writer.write({ wrong }), /cannot hold/)
  }
})

test('a write to the original after a fork does not reach the fork', () => {
  const table = open()
  const fork = table.fork(new UndoLog())
  table.update('lamp', { price: 9 })
  assert.is(fork.get('lamp')!.price, 0)
  assert.is(table.get('lamp')!.price, 9)
})

test('an update may not change the key', () => {
  const table = open()
  assert.throws(() => table.update('lamp', { id: 'candle' }), /key of lamp cannot change/)
  assert.equal(table.changes(), [])
})

test('keys that every object inherits are ordinary keys', () => {
  const table = open()
  for (const id of ['constructor', '__proto__', 'toString']) {
    assert.is(table.get(id), undefined)
    table.insert({ id, price: 1 })
    assert.is(table.get(id)!.price, 1)
  }
  assert.is(table.count(), 6)
})

test.run()
