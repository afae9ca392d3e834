import { setImmediate as turn } from 'node:timers/promises'
import * as fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { createNodeEvents, type NodeEvent } from '../../../node/network/events.js'
import { waitForRetry, waitForWork } from '../../../node/work/wait-for-work.js'
import type { PolicyAnnouncement, RefusalCode } from '../../../proto/index.js'
import { createMovedClock } from '../../support/moved-clock.js'

const settle = async (): Promise<void> => {
  for (let i = 0; i < 5; i++) await turn()
}

const announced = (change: Partial<PolicyAnnouncement> = {}): NodeEvent => ({
  type: 'announced',
  announcement: {
    manifestId: 'a'.repeat(64),
    manifestSizeBytes: 1000,
    round: 3,
    version: 2,
    policyId: 'b'.repeat(64),
    expiresAtMs: 1e13,
    capacity: 0,
    waiting: 0,
    providers: [],
    shards: 1,
    ...change,
  },
})
const NEWER = { round: 4, version: 3 }

interface Setting {
  readonly reason?: RefusalCode
  readonly retryAfterMs?: number
  readonly times?: number
  readonly random?: () => number
}

/** A node that works under round 3 with version 2 and was sent away. */
function waiting({ reason = 'no_work', retryAfterMs = 1000, times = 1, random = () => 0.5 }: Setting = {}) {
  const clock = createMovedClock()
  const startMs = clock.now()
  const events = createNodeEvents(clock)
  const watch = events.listen()
  const stop = new AbortController()
  const idle = {
    answer: { reason, retryAfterMs },
    under: { version: 2, round: 3 },
    times,
    onSettled: () => {
      node.settled += 1
    },
  }
  const node = {
    clock,
    stop,
    tell: async (item: NodeEvent) => {
      events.publish(item)
      await settle()
    },
    /** Lets time pass as the node waits for it, until it asks. @returns  ms since it was sent away, and what it does then */
    async asks(): Promise<readonly [number, 'takes up' | 'asks']> {
      for (let pauses = 0; node.over === null; pauses++) {
        assert.ok(pauses < 5, 'it waits and waits')
        clock.advance(clock.pauses[0]!)
        await settle()
      }
      return node.over
    },
    settled: 0,
    over: null as readonly [number, 'takes up' | 'asks'] | null,
  }
  waitForWork({ clock, random }, idle, watch, stop.signal).then(
    (newer) => {
      node.over = [clock.now() - startMs, newer ? 'takes up' : 'asks']
    },
    () => undefined,
  )
  return node
}

test('a node without work loads a newer version shortly after its announcement, before the next request', async () => {
  for (const reason of ['no_work', 'complete', 'influence_cap', 'quarantined', 'not_registered'] as const) {
    const node = waiting({ reason, retryAfterMs: 60_000 })
    node.clock.advance(100)
    await node.tell(announced({ ...NEWER, waiting: 3 }))
    assert.equal(await node.asks(), [125, 'takes up'], reason)
  }
})

test('an announcement that arrives before the answer counts', async () => {
  const clock = createMovedClock()
  const events = createNodeEvents(clock)
  const watch = events.listen()
  events.publish(announced(NEWER))
  const idle = {
    answer: { reason: 'no_work', retryAfterMs: 1000 },
    under: { version: 2, round: 3 },
    times: 1,
    onSettled: () => undefined,
  } as const
  const waited = waitForWork({ clock, random: () => 0 }, idle, watch, new AbortController().signal)
  await settle()
  clock.advance(0)
  assert.ok(await waited)
})

test('another round of the same version wakes only nodes that wait for registration', async () => {
  const stranger = waiting({ reason: 'not_registered', retryAfterMs: 2000 })
  await stranger.tell(announced({ round: 4 }))
  assert.equal(await stranger.asks(), [25, 'takes up'])
  const member = waiting()
  await member.tell(announced({ round: 4 }))
  assert.equal(await member.asks(), [1000 + 1500, 'asks'])
})

test('a node asks for announced capacity at the coordinator’s earliest time, and at once after that time', async () => {
  const early = waiting()
  early.clock.advance(300)
  await early.tell(announced({ capacity: 1 }))
  assert.equal(await early.asks(), [1025, 'asks'])
  const late = waiting()
  late.clock.advance(1000)
  await settle()
  late.clock.advance(700)
  await late.tell(announced({ capacity: 1 }))
  assert.equal(await late.asks(), [1725, 'asks'])
  const paused = waiting({ reason: 'complete' })
  await paused.tell(announced({ capacity: 9 }))
  assert.equal(await paused.asks(), [2500, 'asks'])
})

test('a verdict wakes only a node with too many leases', async () => {
  const full = waiting({ reason: 'too_many_leases' })
  full.clock.advance(40)
  await full.tell({ type: 'settled' })
  assert.equal(await full.asks(), [40, 'asks'])
  const other = waiting()
  await other.tell({ type: 'settled' })
  assert.is(other.settled, 1)
  assert.equal(await other.asks(), [2500, 'asks'])
})

test('without announcements a node asks with growing pauses: not before its time, then at least every half minute', () =>
  fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 0, max: 2 ** 31 - 1 }),
      fc.integer({ min: 1, max: 1e6 }),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      async (retryAfterMs, times, chance) => {
        const node = waiting({ retryAfterMs, times, random: () => chance })
        const [ms, what] = await node.asks()
        assert.is(what, 'asks')
        const earliestMs = Math.min(60_000, Math.max(100, retryAfterMs))
        assert.ok(ms >= earliestMs + Math.min(15_000, 1000 * 2 ** Math.min(times - 1, 4)))
        assert.ok(ms <= earliestMs + 30_000)
      },
    ),
  ))

test('about two nodes ask per free lease, spread over a millisecond for each waiting node', async () => {
  const WAITING = 1000
  const asked: number[] = []
  for (let i = 0; i < WAITING; i++) {
    // Each node's chance, evenly spread; its second draw is how long it waits.
    const draws = [0.5, i / WAITING, ((i * 7919) % WAITING) / WAITING]
    const node = waiting({ random: () => draws.shift() ?? 0 })
    node.clock.advance(1000)
    await turn()
    await node.tell(announced({ capacity: 20, waiting: WAITING }))
    const pause = node.clock.pauses[0] ?? 0
    if (pause < WAITING && node.clock.pauses.length === 1) asked.push(pause)
    node.stop.abort()
  }
  assert.is(asked.length, 40)
  assert.ok(Math.max(...asked) > 900 && Math.min(...asked) < 100)
})

test('failures in a row lengthen the pauses, and a new manifest ends a pause', async () => {
  const pauses: number[] = []
  const clock = createMovedClock()
  const events = createNodeEvents(clock)
  for (let failures = 0; failures < 8; failures++) {
    const waited = waitForRetry(
      { clock, random: () => 1 },
      { loaded: null, failures },
      events.listen(),
      new AbortController().signal,
    )
    pauses.push(clock.pauses[0]!)
    clock.advance(pauses.at(-1)!)
    await waited
  }
  assert.equal(pauses, [1000, 1000, 2000, 4000, 8000, 8000, 8000, 8000])
  const startMs = clock.now()
  const waited = waitForRetry(
    { clock, random: () => 0.5 },
    { loaded: 'c'.repeat(64), failures: 5 },
    events.listen(),
    new AbortController().signal,
  )
  events.publish(announced({ manifestId: 'c'.repeat(64) }))
  await settle()
  assert.equal(clock.pauses, [6000])
  events.publish(announced())
  await settle()
  clock.advance(25)
  await waited
  assert.is(clock.now() - startMs, 25)
})

test.run()
