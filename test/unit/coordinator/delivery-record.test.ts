import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus'
import { uniformInt } from 'pure-rand/distribution/uniformInt'
import {
  afterDelivery,
  afterLateDelivery,
  afterLoss,
  type DeliveryRecord,
  expectedShare,
  NO_LEASES,
  reliabilityOf,
  withBlock,
} from '../../../coordinator/ledger/delivery-record.js'

/** Returns the mean of a measure over the life of a key that loses this share of its leases by chance. */
function meanOver(lossPercent: number, measure: (record: DeliveryRecord) => number, leases = 20_000): number {
  const random = xoroshiro128plus(20261128)
  let record = NO_LEASES
  let sum = 0
  for (let i = 0; i < leases; i++) {
    record = uniformInt(random, 1, 100) <= lossPercent ? afterLoss(record) : afterDelivery(record)
    sum += measure(record)
  }
  return sum / leases
}

test('a key that loses one lease in twenty loses nothing of its share', () => {
  assert.ok(meanOver(5, reliabilityOf) > 0.9999)
  assert.ok(meanOver(5, (record) => (reliabilityOf(record) === 1 ? 1 : 0)) > 0.995)
})

test('a key that drops half of its leases counts for about half, and the square for less than a third', () => {
  const reliability = meanOver(52, reliabilityOf)
  assert.ok(reliability > 0.5 && reliability < 0.58, `${reliability}`)
  assert.ok(meanOver(52, (record) => reliabilityOf(record) ** 2) < 0.33)
})

test('a crash that loses two leases is forgiven, also for a new key', () => {
  assert.is(reliabilityOf(afterLoss(afterLoss(NO_LEASES))), 1)
  assert.ok(reliabilityOf([1, 2, 3].reduce(afterLoss, NO_LEASES)) < 1)
})

test('a lease that is delivered late cancels its loss', () => {
  assert.equal(afterLateDelivery(afterLoss(NO_LEASES)), { delivered: 1, lost: 0 })
  assert.equal(afterLateDelivery(NO_LEASES), { delivered: 1, lost: 0 })
})

test('a new key has the record of its block, and a known key its own', () => {
  const block = { delivered: 20, lost: 20 }
  assert.ok(reliabilityOf(withBlock(NO_LEASES, block)) < 0.8)
  const own = { delivered: 16, lost: 0 }
  assert.equal(withBlock(own, block), own)
  assert.is(reliabilityOf(withBlock(NO_LEASES, NO_LEASES)), 1)
})

test('the expected share is a multiple of a 64th, above 0 and at most 1', () => {
  assert.is(expectedShare(NO_LEASES), 1)
  for (const lost of [1, 3, 10, 64]) {
    const share = expectedShare({ delivered: 0, lost })
    assert.ok(share > 0 && share < 1 && Number.isInteger(64 * share), `${share}`)
  }
})

test.run()
