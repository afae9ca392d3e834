import * as fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { chooseBatch, mostOfBatch } from '../../../coordinator/leases/batch-shares.js'
import type { JudgedGroup, Supplier } from '../../../coordinator/ledger/run-state.js'
import { judged } from '../../support/run-events.js'

const settings = (batchGroups: number, perKey: number, perAddressBlock = 1) => ({
  batchGroups,
  influence: { perKey, perAddressBlock },
})
const NOBODY: readonly Supplier[] = []
/** Keys at work, named like groups. */
const atWork = (...names: readonly string[]): Supplier[] =>
  names.map((name) => ({ node: name[0]!, addressBlock: name[1] ?? null }))

/** Groups by the first letter of their name; blocks by the second, where there is one. */
const groups = (...names: readonly string[]): JudgedGroup[] =>
  names.map((name, i) => judged(`${name}-${i}`, name[0]!, 0, { addressBlock: name[1] ?? null }))
const names = (batch: readonly JudgedGroup[] | null): string | undefined =>
  batch?.map(({ leaseId }) => leaseId.split('-')[0]).join(' ')

test('a key supplies no more than its share, and the oldest groups come first', () => {
  assert.is(names(chooseBatch(settings(4, 0.5), groups('a', 'a', 'a', 'a', 'b', 'c', 'b'), NOBODY)), 'a a b c')
  assert.is(chooseBatch(settings(4, 0.5), groups('a', 'a', 'a', 'b'), atWork('b')), null)
})

test('no key fills a batch while others at work can still supply their part', () => {
  const waiting = groups('a', 'a', 'a', 'a')
  assert.is(chooseBatch(settings(4, 0.5), waiting, atWork('b')), null)
  assert.is(names(chooseBatch(settings(4, 0.5), waiting, atWork('a'))), 'a a a a')
})

test('where no key at work can fill the rest, the shares grow as little as necessary', () => {
  assert.is(names(chooseBatch(settings(4, 0.25), groups('a', 'a', 'a', 'a'), NOBODY)), 'a a a a')
  assert.is(names(chooseBatch(settings(4, 0.25), groups('a', 'a', 'a', 'b', 'b'), NOBODY)), 'a a b b')
  assert.is(names(chooseBatch(settings(4, 0.5), groups('a', 'a', 'a', 'a', 'b'), NOBODY)), 'a a a b')
})

test('many keys behind one block of addresses supply no more than the share of the block', () => {
  const sybils = groups('ax', 'bx', 'cx', 'dx', 'ex', 'hy', 'iy')
  assert.is(names(chooseBatch(settings(4, 1, 0.5), sybils, NOBODY)), 'ax bx hy iy')
  assert.is(chooseBatch(settings(4, 1, 0.5), sybils.slice(0, 6), atWork('iy')), null)
  assert.is(chooseBatch(settings(4, 1, 0.5), sybils.slice(0, 5), atWork('hy')), null)
  assert.is(names(chooseBatch(settings(4, 1, 0.5), sybils.slice(0, 5), atWork('fx'))), 'ax bx cx dx')
})

/** Groups whose names end in their length in hundreds of tokens, 1 to 9. */
const long = (...names: readonly string[]): JudgedGroup[] =>
  groups(...names).map((group, i) => ({ ...group, sampledTokens: 100 * Number(names[i]!.at(-1)) }))

test('a group that is far longer than usual takes the places that its tokens are worth', () => {
  const others = ['b1', 'c1', 'd2', 'e1', 'f1', 'g1']
  // Four places for a key of eight: one of nine times the usual takes four and a half.
  assert.is(names(chooseBatch(settings(8, 0.5), long('a9', 'a1', 'a2', ...others), NOBODY)), 'a1 a2 b1 c1 d2 e1 f1 g1')
  assert.is(names(chooseBatch(settings(8, 0.5), long('a6', 'a1', 'a1', ...others), NOBODY)), 'a6 a1 b1 c1 d2 e1 f1 g1')
  assert.is(chooseBatch(settings(8, 0.5), long('a9', 'a1', ...others), atWork('h')), null)
  assert.is(names(chooseBatch(settings(8, 0.5), long('a9', 'a1', ...others), NOBODY)), 'a9 a1 b1 c1 d2 e1 f1 g1')
})

test('who works alone fills a batch, however different its groups are', () => {
  assert.is(names(chooseBatch(settings(4, 0.25, 0.25), long('a1', 'a9', 'a1', 'a9'), NOBODY)), 'a1 a9 a1 a9')
})

test('two keys of one block get four of sixteen places while eight others elsewhere are at work', () => {
  const two = Array.from({ length: 40 }, (_, i) => (i % 2 ? 'ax' : 'bx'))
  const eight = ['c1', 'd2', 'e3', 'f4', 'g5', 'h6', 'i7', 'j8']
  assert.is(chooseBatch(settings(16, 0.5, 0.25), groups(...two), atWork(...eight)), null)
  const batch = chooseBatch(settings(16, 0.5, 0.25), groups(...two, ...eight, ...eight), atWork(...eight))
  assert.is(batch!.filter(({ addressBlock }) => addressBlock === 'x').length, 4)
})

test('the share of a block gives way before that of a key', () => {
  assert.is(names(chooseBatch(settings(4, 0.5, 0.25), groups('ax', 'ax', 'ax', 'bx', 'bx'), NOBODY)), 'ax ax bx bx')
})

test('nodes whose address is not known are no block', () => {
  assert.is(names(chooseBatch(settings(4, 1, 0.5), groups('a', 'b', 'c', 'd'), NOBODY)), 'a b c d')
})

const supply = fc.array(fc.constantFrom('ax', 'bx', 'cy', 'dy', 'ez', 'fz'), { maxLength: 40 })
const shares = fc.constantFrom(0.1, 0.25, 0.5, 1)

test('a batch is whole and holds each group once', () => {
  fc.assert(
    fc.property(supply, supply, fc.integer({ min: 1, max: 8 }), shares, shares, (from, busy, size, key, block) => {
      const batch = chooseBatch(settings(size, key, block), groups(...from), atWork(...busy))
      if (batch) assert.is(new Set(batch).size, size)
    }),
    { seed: 8, numRuns: 300 },
  )
})

test('when no key is at work, a batch is formed as soon as there are enough groups, whatever the shares are', () => {
  fc.assert(
    fc.property(supply, fc.integer({ min: 1, max: 8 }), shares, shares, (from, size, key, block) => {
      const batch = chooseBatch(settings(size, key, block), groups(...from), NOBODY)
      assert.is(batch !== null, from.length >= size)
    }),
    { seed: 9, numRuns: 300 },
  )
})

test('while others are at work who could give more, a batch keeps the shares', () => {
  fc.assert(
    fc.property(supply, fc.integer({ min: 2, max: 8 }), fc.constantFrom(0.25, 0.5), (from, size, share) => {
      // Enough idle hands at work that the rest could always be filled.
      const fresh = Array.from({ length: 8 }, (_, i) => ({ node: `fresh ${i}`, addressBlock: `block ${i}` }))
      const batch = chooseBatch(settings(size, share, share), groups(...from), fresh)
      const most = Math.max(1, Math.floor(share * size))
      for (const node of new Set(batch?.map((group) => group.node)))
        assert.ok(batch!.filter((group) => group.node === node).length <= most)
    }),
    { seed: 10, numRuns: 300 },
  )
})

test('a key may work for as much of a batch as the others leave', () => {
  assert.is(mostOfBatch(settings(12, 0.5), [], []), 12, 'alone')
  assert.is(mostOfBatch(settings(12, 0.5), groups('b'), []), 11, 'the other has left one group and gone')
  assert.is(mostOfBatch(settings(12, 0.5), [], atWork('b')), 6)
  assert.is(mostOfBatch(settings(12, 0.25), [], atWork('b')), 6)
  assert.is(mostOfBatch(settings(12, 0.25), [], atWork('b', 'c', 'd')), 3)
})

test.run()
