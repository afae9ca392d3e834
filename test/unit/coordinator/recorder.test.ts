import '../../../swarm/polyfill.js'
import { setImmediate as turn } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { RunEvent } from '../../../coordinator/ledger/events.js'
import { openRecorder, type Recorder } from '../../../coordinator/ledger/recorder.js'
import type { RunState } from '../../../coordinator/ledger/run-state.js'
import { StoreError } from '../../../coordinator/ledger/store-error.js'
import { LONGEST_PAUSE_MS } from '../../../coordinator/ledger/write-pace.js'
import { WITHOUT_HEADS } from '../../support/memory-log.js'
import { createMovedClock, type MovedClock } from '../../support/moved-clock.js'
import { agreed, published } from '../../support/run-events.js'

interface Slow {
  readonly recorder: Recorder
  /** Versions of each write, in the order in which they were begun. */
  readonly writes: number[][]
  readonly stated: number[]
  /** Ends the write that is under way. */
  end(error?: Error): Promise<void>
}

/** A recorder on a disk whose every write takes until it is told to end. */
async function openSlow(clock?: MovedClock): Promise<Slow> {
  const writes: number[][] = []
  const stated: number[] = []
  const versionOf = (event: RunEvent): number => (event as ReturnType<typeof published>).version
  let under = Promise.withResolvers<void>()
  const recorder = await openRecorder(
    {
      ...WITHOUT_HEADS,
      async append(...events) {
        writes.push(events.map(versionOf))
        under = Promise.withResolvers()
        await under.promise
      },
      async *replay() {
        yield agreed()
      },
      close: async () => undefined,
    },
    (event) => stated.push(versionOf(event)),
    clock ? { clock } : {},
  )
  return {
    recorder,
    writes,
    stated,
    async end(error) {
      if (error) under.reject(error)
      else under.resolve()
      await turn()
    },
  }
}

const next = (state: RunState) => published((state.current?.version ?? -1) + 1)

test('who comes while a write is under way is decided on when it is over, and written with all others who came', async () => {
  const { recorder, writes, stated, end } = await openSlow()
  const all = Array.from({ length: 5 }, () => recorder.record(next))
  await turn()
  const late = Array.from({ length: 100 }, () => recorder.record(next))
  await turn()
  assert.equal(writes, [[0, 1, 2, 3, 4]], 'each was decided on the state with those before it')
  assert.equal(recorder.state.publications, [], 'what is not on disk yet is not shown')
  await end()
  assert.equal(stated, [0, 1, 2, 3, 4])
  assert.equal(
    (await Promise.all(all)).map((event) => event!.version),
    [0, 1, 2, 3, 4],
  )
  assert.is(writes[1]!.length, 64, 'as many as the head of the log may be behind')
  await end()
  await end()
  assert.is((await Promise.all(late)).at(-1)!.version, 104)
  assert.is(recorder.state.current!.version, 104)
  await recorder.close()
})

test('a request without an event resolves when the events that it was decided on are visible', async () => {
  const { recorder, end } = await openSlow()
  const once = (state: RunState) => (state.publications.length > 0 ? null : published(0))
  const seen: number[] = []
  const asked = [1, 2].map(() => recorder.record(once).then(() => seen.push(recorder.state.publications.length)))
  await turn()
  assert.equal(seen, [])
  await end()
  await Promise.all(asked)
  assert.equal(seen, [1, 1])
})

test('a decision that fails, or an event that could not be read back, harms none of the others', async () => {
  const { recorder, writes, end } = await openSlow()
  const outcomes = Promise.allSettled([
    recorder.record(next),
    recorder.record(() => {
      throw new Error('no idea')
    }),
    recorder.record(() => ({ ...published(9), policyId: 'x' })),
    recorder.record(next),
  ])
  await turn()
  await end()
  assert.equal(
    (await outcomes).map(({ status }) => status),
    ['fulfilled', 'rejected', 'rejected', 'fulfilled'],
  )
  assert.equal(writes, [[0, 1]])
})

test('what could not be written is refused with all that came with it and after it, and never shown', async () => {
  const { recorder, stated, end } = await openSlow()
  const full = new StoreError('unwritable', 'no space left on device')
  const why = (record: Promise<unknown>): Promise<unknown> => record.catch((error: unknown) => error)
  const together = [why(recorder.record(next)), why(recorder.record(next))]
  await turn()
  const waiting = why(recorder.record(next))
  await end(full)
  assert.equal(await Promise.all([...together, waiting, why(recorder.record(next)), why(recorder.failure)]), [
    ...Array(5).fill(full),
  ])
  assert.equal(stated, [])
  assert.equal(recorder.state.publications, [])
  await recorder.close()
})

test('with a clock, a busy run writes the events of a short time together, and answers only then', async () => {
  const clock = createMovedClock()
  const { recorder, writes, stated, end } = await openSlow(clock)
  const first = Array.from({ length: 20 }, () => recorder.record(next))
  await turn()
  assert.is(writes.at(-1)!.length, 20, 'the first ones are written at once')
  await end()
  await Promise.all(first)
  const answered: number[] = []
  for (let i = 0; i < 3; i++) {
    void recorder.record(next).then((event) => answered.push(event!.version))
    await turn()
  }
  clock.advance(19)
  await turn()
  assert.is(writes.length, 1, 'a millisecond for each recent event')
  clock.advance(1)
  await turn()
  assert.equal(writes.at(-1), [20, 21, 22])
  assert.equal([stated.length, answered], [20, []], 'nothing is told of before it is on disk')
  await end()
  assert.equal([stated.length, answered], [23, [20, 21, 22]])
  clock.advance(10_000)
  void recorder.record(next)
  await turn()
  assert.equal(writes.at(-1), [23], 'after a pause, an event waits for nothing')
  await end()
  await recorder.close()
})

test('however many events there are, none waits for longer than the longest pause', async () => {
  const clock = createMovedClock()
  const { recorder, writes, end } = await openSlow(clock)
  for (let i = 0; i < 5; i++) {
    const full = Array.from({ length: 64 }, () => recorder.record(next))
    await turn()
    await end()
    await Promise.all(full)
  }
  const late = recorder.record(next)
  await turn()
  clock.advance(LONGEST_PAUSE_MS - 1)
  await turn()
  assert.is(writes.length, 5)
  clock.advance(1)
  await turn()
  assert.equal(writes.at(-1), [320])
  await end()
  await late
  await recorder.close()
})

test('events that fill a write, and those of a recorder that closes, do not wait for the clock', async () => {
  const clock = createMovedClock()
  const { recorder, writes, end } = await openSlow(clock)
  const some = Array.from({ length: 40 }, () => recorder.record(next))
  await turn()
  await end()
  await Promise.all(some)
  const full = Array.from({ length: 64 }, () => recorder.record(next))
  await turn()
  assert.is(writes.at(-1)!.length, 64)
  await end()
  await Promise.all(full)
  const last = recorder.record(next)
  await turn()
  const closed = recorder.close()
  await turn()
  assert.equal(writes.at(-1), [104])
  await end()
  assert.is((await last)!.version, 104)
  await closed
})

test('a request without an event begins no pause', async () => {
  const clock = createMovedClock()
  const { recorder, writes, end } = await openSlow(clock)
  assert.is(await recorder.record(() => null), null)
  void recorder.record(next)
  await turn()
  assert.equal(writes, [[0]])
  await end()
  await recorder.close()
})

test.run()
