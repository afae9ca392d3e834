import '../../../swarm/polyfill.js'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { hasPlace, keepsPlace } from '../../../coordinator/leases/unproven-room.js'
import type { RunFold } from '../../../coordinator/ledger/run-fold.js'
import { lockout } from '../../support/lockout.js'
import { begun, done, leased, published, released } from '../../support/run-events.js'

const MINUTES = 20

test('keys of a few blocks that hold leases for nothing keep no newcomer waiting for a minute, and cost next to no version', async () => {
  const alone = await lockout({ sybils: 0, blocks: 1, minutes: MINUTES, fromMinute: 0, renew: false })
  const beset = await lockout({ sybils: 300, blocks: 8, minutes: MINUTES, fromMinute: 4, renew: true })
  assert.is(beset.waitedS.length, 3)
  for (const waited of beset.waitedS) assert.ok(waited !== null && waited <= 60, `${waited} s`)
  assert.ok(beset.wasted > 30, 'they did take what they could get')
  assert.ok(beset.versions >= 0.95 * alone.versions, `${beset.versions} of ${alone.versions}`)
})

const TERMS = { maxStaleness: 1, batchGroups: 10, leases: { durationMs: 60_000, perNode: 2 } }

/** Keys of a block take what they can get. @returns  how many they got */
function take(state: RunFold, block: string, most = 100): number {
  let taken = 0
  while (taken < most && hasPlace(state, TERMS, `${block}-${taken}`, block)) {
    state.apply(leased(`${block}-${taken}`, `${block}-${taken}`, 0, { addressBlock: block }))
    taken += 1
  }
  return taken
}

test('a block gets places while it holds fewer than are left, and one that has none finds some', () => {
  const state = begun()
  for (const event of [published(0), ...done('proof', 'proven', 0)]) state.apply(event)
  assert.equal(
    ['a', 'b', 'c', 'd', 'e'].map((block) => take(state, block)),
    [5, 3, 1, 1, 0],
    'of half of 20',
  )
  assert.ok(hasPlace(state, TERMS, 'proven', 'e'), 'a key that delivers needs none of these')
})

test('before anybody has delivered the part is all of the room', () => {
  const state = begun()
  state.apply(published(0))
  assert.equal(
    ['a', 'b'].map((block) => take(state, block)),
    [10, 5],
  )
})

test('keys that left their last lease lying have half of the part, and the rest is for those that never did', () => {
  const state = begun()
  for (const event of [published(0), ...done('proof', 'proven', 0)]) state.apply(event)
  const names = Array.from({ length: 10 }, (_, i) => `left-${i}`)
  for (const node of names) for (const event of [leased(node, node, 0), released(node)]) state.apply(event)
  let held = 0
  for (const node of names) {
    if (!hasPlace(state, TERMS, node, null)) continue
    state.apply(leased(`${node} again`, node, 0))
    held += 1
  }
  assert.is(held, 5)
  assert.ok(hasPlace(state, TERMS, 'fresh', null))
  assert.is(state.nodes.get('left-0')!.abandoned, 1)
})

test('a block that holds more than its part gives way when its leases lapse, and a slow newcomer does not', () => {
  const state = begun()
  state.apply(published(0))
  take(state, 'crowd')
  state.apply(leased('slow', 'slow', 0, { addressBlock: 'elsewhere' }))
  const keeps = (leaseId: string): boolean => keepsPlace(state, TERMS, state.openLeases.get(leaseId)!)
  assert.ok(keeps('crowd-0'))
  for (const event of done('proof', 'proven', 0)) state.apply(event)
  assert.not(keeps('crowd-0'))
  assert.ok(keeps('slow'))
})

test.run()
