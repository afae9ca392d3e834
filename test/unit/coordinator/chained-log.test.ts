import '../../../swarm/polyfill.js'
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { MOST_BEHIND, openChainedLog, type RecordStore } from '../../../coordinator/ledger/chained-log.js'
import type { RunEvent } from '../../../coordinator/ledger/events.js'
import type { LogHead } from '../../../coordinator/ledger/log-chain.js'
import type { HeadFile } from '../../../coordinator/ledger/log-head.js'
import { StoreError } from '../../../coordinator/ledger/store-error.js'
import { released } from '../../support/run-events.js'

/** What lies on a disk: it outlives the process that writes to it. */
interface Disk {
  records: string[]
  head: LogHead | null
}

/** How many turns of the event loop an operation takes. */
type Slowness = (operation: number) => number

/**
 * A store and a head file over a disk. From its operation `killAt` on the process does nothing any more; that operation has
 * taken effect if `effective`.
 */
function mount(disk: Disk, slowness: Slowness = () => 0, killAt = Number.POSITIVE_INFINITY, effective = false) {
  let operations = 0
  const operate = async (effect: () => void): Promise<void> => {
    const number = operations++
    for (let turns = slowness(number); turns > 0; turns--) await turn()
    if (number > killAt || (number === killAt && !effective)) return new Promise(() => {})
    effect()
    if (number === killAt) return new Promise(() => {})
  }
  let newest = disk.head
  const store: RecordStore = {
    count: async () => disk.records.length,
    append: (first, records) =>
      operate(() => {
        assert.is(first, disk.records.length, 'a record has its place behind the one before it')
        disk.records.push(...records)
      }),
    async *records(from, until) {
      for (const [i, record] of disk.records.slice(from, until).entries()) yield [from + i, record] as const
    },
    close: async () => undefined,
  }
  const head: HeadFile = {
    path: 'log.head',
    get newest() {
      return newest
    },
    async write(next) {
      await operate(() => {
        disk.head = next
      })
      newest = next
    },
    close: async () => undefined,
  }
  return { store, head, operations: () => operations }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
const STORY = Array.from({ length: 12 }, (_, i) => released(`lease ${i}`))

/**
 * Appends the story from where the log is, until it ends or nothing more comes back.
 * @param together  events of one write
 * @returns  events that were told of
 */
async function tell(disk: Disk, mounted: ReturnType<typeof mount>, together = 1): Promise<number> {
  let stated = disk.records.length
  let lastOperations = -1
  const telling = (async () => {
    const log = await openChainedLog(mounted.store, mounted.head, 'log')
    for (const from = stated; stated < STORY.length; ) {
      const group = STORY.slice(stated, stated + 1 + ((stated - from) % together))
      await log.append(...group)
      stated += group.length
    }
    await log.close()
    return true
  })()
  let over = false
  telling.then(() => {
    over = true
  })
  // Frozen: no operation is begun while everything has had its turns.
  for (let still = 0; !over && still < 40; still++) {
    if (mounted.operations() !== lastOperations) still = 0
    lastOperations = mounted.operations()
    await turn()
  }
  return stated
}

async function readAll(disk: Disk): Promise<RunEvent[]> {
  const { store, head } = mount(disk)
  const log = await openChainedLog(store, head, 'log')
  const events: RunEvent[] = []
  for await (const event of log.replay()) events.push(event)
  assert.equal(disk.head, log.end, 'opened, the head has caught up')
  await log.close()
  return events
}

test('a kill at any operation, before or after its effect and however slow the others are, never trips the next start', async () => {
  const slowness = fc.array(fc.nat(4), { minLength: 1, maxLength: 7 })
  await fc.assert(
    fc.asyncProperty(slowness, fc.nat(26), fc.boolean(), fc.integer({ min: 1, max: 5 }), async (...drawn) => {
      const [turns, killAt, effective, together] = drawn
      const disk: Disk = { records: [], head: null }
      const slow: Slowness = (operation) => turns[operation % turns.length]!
      const stated = await tell(disk, mount(disk, slow, killAt, effective), together)
      assert.ok((disk.head?.count ?? 0) <= disk.records.length, 'the head is never ahead of the log')
      const events = await readAll(disk)
      assert.ok(events.length >= stated, 'whatever was told of is there')
      assert.equal(events, STORY.slice(0, events.length))
      await tell(disk, mount(disk, slow), together)
      assert.equal(await readAll(disk), STORY)
    }),
    { seed: 1010, numRuns: 300 },
  )
})

test('of a log that ended in peace every loss and every change is noticed, wherever it is', async () => {
  const whole: Disk = { records: [], head: null }
  await tell(whole, mount(whole))
  const codeOf = async (disk: Disk): Promise<string> => {
    const why = await readAll(disk).then(
      () => null,
      (error: unknown) => error,
    )
    assert.instance(why, StoreError)
    return (why as StoreError).code
  }
  for (let left = 0; left < STORY.length; left++)
    assert.is(await codeOf({ ...whole, records: whole.records.slice(0, left) }), 'truncated')
  assert.is(await codeOf({ ...whole, head: null }), 'headless')
  const records = fc.array(fc.nat(STORY.length - 1), { minLength: STORY.length, maxLength: STORY.length + 2 })
  await fc.assert(
    fc.asyncProperty(records, async (places) => {
      if (places.every((place, i) => place === i)) return
      const code = await codeOf({ ...whole, records: places.map((place) => whole.records[place]!) })
      assert.is(code, 'tampered', 'events in another order, or in place of others')
    }),
    { seed: 1011, numRuns: 200 },
  )
  await fc.assert(
    fc.asyncProperty(
      fc.nat(STORY.length - 1),
      fc.nat(200),
      fc.integer({ min: 1, max: 127 }),
      async (place, at, bits) => {
        const record = Buffer.from(whole.records[place]!)
        record[at % record.length]! ^= bits
        const bent = whole.records.with(place, record.toString('latin1'))
        assert.ok(['tampered', 'unreadable'].includes(await codeOf({ ...whole, records: bent })))
      },
    ),
    { seed: 1012, numRuns: 200 },
  )
})

test('two logs with the same events have the same end, and with other events another', async () => {
  const [one, same, other] = [STORY, STORY, STORY.toReversed()].map(async (events) => {
    const disk: Disk = { records: [], head: null }
    const { store, head } = mount(disk)
    const log = await openChainedLog(store, head, 'log')
    await Promise.all(events.map((event) => log.append(event)))
    await log.close()
    return disk
  })
  assert.equal(await one, await same)
  assert.is.not((await one)!.head!.hash, (await other)!.head!.hash)
})

test('a head that is slow to write holds the log up before it is too far behind', async () => {
  const disk: Disk = { records: [], head: null }
  const { store, head } = mount(disk)
  const gate = Promise.withResolvers<void>()
  let wrote = 0
  const slowHead: HeadFile = {
    path: head.path,
    get newest() {
      return head.newest
    },
    async write(next) {
      if (wrote++ > 0) await gate.promise
      await head.write(next)
    },
    close: () => head.close(),
  }
  const log = await openChainedLog(store, slowHead, 'log')
  const appended = Array.from({ length: 2 * MOST_BEHIND }, (_, i) => log.append(released(String(i))))
  for (let i = 0; i < 10 * MOST_BEHIND; i++) await turn()
  assert.is(disk.records.length, MOST_BEHIND)
  gate.resolve()
  await Promise.all(appended)
  await log.close()
  assert.equal(disk.head, log.end)
  assert.is(disk.records.length, 2 * MOST_BEHIND)
})

test('a head that cannot be written ends the log with the reason', async () => {
  const disk: Disk = { records: [], head: null }
  const { store, head } = mount(disk)
  let full = false
  const log = await openChainedLog(
    store,
    {
      path: head.path,
      get newest() {
        return head.newest
      },
      write: (next) => (full ? Promise.reject(new Error('no space left on device')) : head.write(next)),
      close: () => head.close(),
    },
    'log',
  )
  await log.append(STORY[0]!)
  full = true
  await log.append(STORY[1]!)
  const why = await log.append(STORY[2]!).catch((error: unknown) => error)
  assert.match((why as Error).message, /^unwritable: log\.head: no space left/)
  await log.close()
  assert.equal(await readAll(disk), STORY.slice(0, 2))
})

test.run()
