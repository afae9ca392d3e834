import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { createLeaseTiming } from '../../../node/work/lease-timing.js'
import { createMovedClock } from '../../support/moved-clock.js'

const LEASE_MS = 720_000

test('two leases that end one after the other make a machine too slow, and a delivered group starts the count again', () => {
  const clock = createMovedClock()
  const timing = createLeaseTiming(clock)
  const lose = (): string | null => {
    clock.advance(LEASE_MS)
    return timing.lost({ ms: LEASE_MS, hasSlept: false })
  }
  assert.is(lose(), null)
  timing.delivered(1000)
  assert.is(lose(), null)
  assert.match(lose()!, /^this machine is too slow for the run: groups were not ready 2 times in a row after 12 minutes/)
})

test('leases that were held at the same time count once', () => {
  const clock = createMovedClock()
  const timing = createLeaseTiming(clock)
  clock.advance(LEASE_MS)
  for (const ms of [LEASE_MS, LEASE_MS - 1000, 5000]) assert.is(timing.lost({ ms, hasSlept: false }), null)
  clock.advance(LEASE_MS)
  assert.ok(timing.lost({ ms: LEASE_MS - 1, hasSlept: false }))
})

test('leases that end while the machine sleeps do not count', () => {
  const clock = createMovedClock()
  const timing = createLeaseTiming(clock)
  for (let night = 0; night < 5; night++) {
    clock.advance(8 * 3_600_000)
    assert.is(timing.lost({ ms: 8 * 3_600_000, hasSlept: true }), null)
  }
})

test.run()
