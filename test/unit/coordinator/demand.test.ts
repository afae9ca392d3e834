import '../../../swarm/polyfill.js'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { capacityForLeases } from '../../../coordinator/leases/lease-capacity.js'
import { retryAfterMs } from '../../../coordinator/leases/retry-after.js'
import { createIdleNodes } from '../../../coordinator/service/idle-nodes.js'
import { type Lease, LIMITS, type RefusalCode } from '../../../proto/index.js'
import { stepsOf } from '../../support/counted-steps.js'
import { createMovedClock } from '../../support/moved-clock.js'
import { batched, begun, done, judged, leased, published, released, trained } from '../../support/run-events.js'

const HOUR_MS = 3_600_000
const CONFIGURATION = { batchGroups: 2, maxStaleness: 1 }

test('capacity for leases is what batches can still use, minus groups in progress, waiting and in training', () => {
  const state = begun()
  const steps = [
    [published(0), 4],
    [leased('a', 'ann', 0), 3],
    [leased('b', 'ann', 0), 2],
    [judged('a', 'ann', 0), 2],
    [judged('b', 'ann', 0), 2],
    [leased('c', 'ann', 0), 1],
    [released('c'), 2],
    [leased('d', 'ann', 0), 1],
    [judged('d', 'ann', 0, { zeroVariance: true }), 2],
    [batched('one', 1, ['a', 'b']), 2],
    [published(1), 2],
    [trained('one', 1), 4],
  ] as const
  for (const [event, capacity] of steps) {
    state.apply(event)
    assert.is(capacityForLeases(state, CONFIGURATION, 0), capacity, event.type)
  }
})

test('a node is asked to return when its reason may be over', () => {
  const state = begun()
  state.apply(published(0, { atMs: 10_000 }))
  const after = (reason: RefusalCode, nowMs = 10_500): number => retryAfterMs(reason, state, 'ann', 2000, nowMs)
  assert.is(after('not_registered'), 2000 - 500 + 500)
  assert.is(after('not_registered', 60_000), 500, 'the round is due')
  assert.is(after('not_registered', 5000), 500, 'the clock was set back')
  for (const reason of ['no_work', 'too_many_leases', 'influence_cap', 'rate_limited'] as const)
    assert.ok(after(reason) >= 1000 && after(reason) <= 5000, reason)
  for (const reason of ['complete', 'uncalibrated'] as const) assert.is(after(reason), 60_000, reason)
  // Once for an hour, then for a day, then for good.
  for (const [i, expected] of [HOUR_MS, 24 * HOUR_MS, 2 ** 31 - 1].entries()) {
    const atMs = i * 48 * HOUR_MS
    const copy = { accepted: false, code: 'duplicate', credit: 0, atMs } as const
    for (const event of done(`copy ${i}`, 'ann', 0, copy)) state.apply(event)
    assert.is(after('quarantined', atMs), expected)
    if (i < 2) assert.is(after('quarantined', atMs + expected - 3), 3)
  }
})

test('nodes that wait for work are counted once each, until they get some or are gone', () => {
  const clock = createMovedClock()
  const idle = createIdleNodes(clock)
  const answered = (node: string, reason: RefusalCode | null, leases: readonly Lease[] = []): void =>
    idle.answered(node, { leases, reason })
  answered('ann', 'no_work')
  answered('ann', 'influence_cap')
  answered('ben', 'not_registered')
  answered('cleo', 'quarantined')
  answered('dora', 'wrong_policy')
  assert.is(idle.count(), 2)
  answered('ann', 'no_work', [{} as Lease])
  assert.is(idle.count(), 1)
  clock.advance(60_000)
  answered('emma', 'no_work')
  clock.advance(61_000)
  assert.is(idle.count(), 1, 'ben has gone')
})

test('counting them costs the same however many wait, and of too many those that asked last are known', async () => {
  const idle = createIdleNodes(createMovedClock())
  const wait = (from: number, count: number): void => {
    for (let i = from; i < from + count; i++) idle.answered(`node-${i}`, { leases: [], reason: 'no_work' })
  }
  wait(0, 4000)
  assert.is(await stepsOf(() => idle.count()), 1)
  assert.is(idle.count(), 4000)
  const most = LIMITS.coordinatorConnections.value
  wait(3000, most)
  assert.is(idle.count(), most)
})

test.run()
