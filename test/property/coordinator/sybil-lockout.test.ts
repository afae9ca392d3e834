import '../../../swarm/polyfill.js'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { hasPlace, keepsPlace } from '../../../coordinator/leases/unproven-capacity.js'
import type { RunReducer } from '../../../coordinator/ledger/run-reducer.js'
import { openServiceRun } from '../../support/lease-service-run.js'
import { lockout } from '../../support/lockout.js'
import { begun, done, leased, published, released } from '../../support/run-events.js'

const MINUTES = 20

test('keys of a few blocks that hold leases for nothing keep no newcomer waiting for a minute, and cost next to no version', async () => {
  const alone = await lockout({ sybils: 0, blocks: 1, minutes: MINUTES, fromMinute: 0, habit: 'idle' })
  const beset = await lockout({ sybils: 300, blocks: 8, minutes: MINUTES, fromMinute: 4, habit: 'renew' })
  assert.is(beset.waitedS.length, 3)
  for (const waited of beset.waitedS) assert.ok(waited !== null && waited <= 60, `${waited} s`)
  assert.ok(beset.wasted > 30, 'they did take what they could get')
  assert.ok(beset.versions >= 0.95 * alone.versions, `${beset.versions} of ${alone.versions}`)
})

const CONFIGURATION = { maxStaleness: 1, batchGroups: 10, leases: { durationMs: 60_000, perNode: 2 } }

/** Keys of a block take what they can get. @returns  how many they got */
function take(state: RunReducer, block: string, most = 100): number {
  let taken = 0
  while (taken < most && hasPlace(state, CONFIGURATION, { node: `${block}-${taken}`, addressBlock: block })) {
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
  assert.ok(
    hasPlace(state, CONFIGURATION, { node: 'proven', addressBlock: 'e' }),
    'a key that delivers needs none of these',
  )
})

test('before any key has delivered, unproven keys may use all capacity', () => {
  const state = begun()
  state.apply(published(0))
  assert.equal(
    ['a', 'b'].map((block) => take(state, block)),
    [10, 5],
  )
})

test('keys that abandoned their last lease have half of the part, and the rest is for the others', () => {
  const state = begun()
  for (const event of [published(0), ...done('proof', 'proven', 0)]) state.apply(event)
  const names = Array.from({ length: 10 }, (_, i) => `left-${i}`)
  for (const node of names) for (const event of [leased(node, node, 0), released(node)]) state.apply(event)
  let held = 0
  for (const node of names) {
    if (!hasPlace(state, CONFIGURATION, { node, addressBlock: null })) continue
    state.apply(leased(`${node} again`, node, 0))
    held += 1
  }
  assert.is(held, 5)
  assert.ok(hasPlace(state, CONFIGURATION, { node: 'fresh', addressBlock: null }))
  assert.is(state.nodes.get('left-0')!.abandoned, 1)
})

test('a block that holds more than its part gives way when its leases lapse, and a slow newcomer does not', () => {
  const state = begun()
  state.apply(published(0))
  take(state, 'crowd')
  state.apply(leased('slow', 'slow', 0, { addressBlock: 'elsewhere' }))
  const keeps = (leaseId: string): boolean => keepsPlace(state, CONFIGURATION, state.openLeases.get(leaseId)!)
  assert.ok(keeps('crowd-0'))
  for (const event of done('proof', 'proven', 0)) state.apply(event)
  assert.not(keeps('crowd-0'))
  assert.ok(keeps('slow'))
})

const MINUTE_MS = 60_000
const SMALL = {
  maxStaleness: 1,
  batchGroups: 4,
  leases: { durationMs: 20 * MINUTE_MS, perNode: 8 },
  influence: { perKey: 1, perAddressBlock: 1 },
}
/** A run of few places in which somebody delivers, and these keys, admitted. */
async function small(nodes: readonly string[], blockOf: (node: string) => string) {
  const run = await openServiceRun(SMALL, blockOf)
  await run.admit(['volunteer', ...nodes])
  const { leases } = await run.ask('volunteer')
  await run.deliver(leases[0]!.leaseId)
  const take = async (node: string): Promise<number> => (await run.ask(node, { count: 8 })).leases.length
  return { ...run, take }
}

for (const [where, blockOf] of [
  ['of blocks of their own', (node: string) => `ip4/${node}`],
  ['of the newcomer’s own block', () => 'ip4/one'],
] as const)
  test(`three keys ${where} that hold leases of twenty minutes do not keep a newcomer from its first`, async () => {
    const hoarders = ['h-0', 'h-1', 'h-2']
    const {
      take,
      ask,
      deliver,
      clock,
      leases: desk,
      recorder,
    } = await small([...hoarders, 'newcomer', 'next'], blockOf)
    for (const node of hoarders) assert.ok((await take(node)) > 0)
    for (const node of hoarders) assert.is(await take(node), 0, 'who holds one already gets none of those')
    const { leases } = await ask('newcomer')
    assert.is(leases.length, 1)
    await deliver(leases[0]!.leaseId)
    assert.ok((await take('newcomer')) > 0, 'who has delivered shares the room of all')
    // When theirs have lapsed they are no newcomers any more, and hold what is there for such as left theirs lying.
    clock.advance(SMALL.leases.durationMs + 1)
    await desk.releaseLapsed()
    for (const node of hoarders) await take(node)
    assert.ok((await take('next')) > 0)
    assert.ok(recorder.state.openLeasesBy('doubtful') <= 2)
  })

test('ever new keys of one block keep no newcomer of another waiting for a minute', async () => {
  const hoarders = Array.from({ length: 60 }, (_, i) => `h-${i}`)
  const newcomers = Array.from({ length: 4 }, (_, i) => `newcomer-${i}`)
  const blockOf = (node: string): string => (node.startsWith('h-') ? 'ip4/crowd' : `ip4/${node}`)
  const { take, clock, leases, recorder } = await small([...hoarders, ...newcomers], blockOf)
  const waitedMs: number[] = []
  for (const newcomer of newcomers) {
    for (let minute = 0; minute < 10; minute += 1) {
      for (const node of hoarders) await take(node)
      clock.advance(MINUTE_MS)
      await leases.releaseLapsed()
    }
    const sinceMs = clock.now()
    for (const node of hoarders) await take(node)
    while (clock.now() - sinceMs < 3 * MINUTE_MS && (await take(newcomer)) === 0) clock.advance(1000)
    waitedMs.push(clock.now() - sinceMs)
  }
  assert.ok(
    waitedMs.every((waited) => waited < MINUTE_MS),
    `${waitedMs} ms`,
  )
  assert.ok((await take('volunteer')) > 0, 'and take no room from those that deliver')
  const { state } = recorder
  assert.ok(state.openLeasesBy('untried') > 8, 'though they did take what they could get')
})

test.run()
