import '../../../swarm/polyfill.js'
import { setImmediate as turn } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { RunEvent } from '../../../coordinator/ledger/events.js'
import { openRecorder, type Recorder } from '../../../coordinator/ledger/recorder.js'
import { type BroadcastParts, broadcast } from '../../../coordinator/service/broadcast.js'
import { silentLogger } from '../../../swarm/index.js'
import { WITHOUT_HEADS } from '../../support/memory-log.js'
import { createMovedClock, type MovedClock } from '../../support/moved-clock.js'
import { agreed, audited, batched, done, published, released } from '../../support/run-events.js'

/** What has been begun comes as far as it can without time. */
const settle = async (): Promise<void> => {
  for (let i = 0; i < 5; i++) await turn()
}

interface Delivered {
  readonly clock: MovedClock
  /** Pages of verdicts, and announcements, as they were sent. */
  readonly sent: string[]
  readonly errors: unknown[]
  record(...events: RunEvent[]): Promise<void>
  stop(): Promise<void>
}

async function broadcasting(
  change: Partial<BroadcastParts> = {},
  before: readonly RunEvent[] = [],
): Promise<Delivered> {
  const clock = createMovedClock()
  const sent: string[] = []
  const errors: unknown[] = []
  const recorder: Recorder = await openRecorder(
    {
      ...WITHOUT_HEADS,
      append: async () => undefined,
      async *replay() {
        yield agreed()
        yield* before
      },
      close: async () => undefined,
    },
    () => undefined,
  )
  const stop = new AbortController()
  const running = broadcast(
    {
      recorder,
      sendVerdicts: async (node, from, count) => void sent.push(`${node} ${from}+${count}`),
      announcePolicy: async () => void sent.push('policy'),
      isWanted: () => true,
      clock,
      logger: { ...silentLogger, error: (fields: unknown) => errors.push(fields) },
      ...change,
    },
    stop.signal,
  )
  await settle()
  return {
    clock,
    sent,
    errors,
    async record(...events) {
      for (const event of events) await recorder.record(() => event)
      await settle()
    },
    async stop() {
      stop.abort()
      await running
    },
  }
}

test('a verdict is sent when it is on record, and not looked for', async () => {
  const stated = await broadcasting({ isWanted: () => false }, [published(0), ...done('a', 'ann', 0)])
  await stated.record(...done('b', 'ben', 0))
  await stated.record(...done('c', 'ann', 0))
  await stated.record(audited('a', 'ann', 'sampler_mismatch'))
  assert.equal(stated.sent, ['policy', 'ben 0+1', 'ann 1+1', 'ann 2+1'])
  assert.equal(stated.clock.pauses, [5000])
  await stated.stop()
})

test('verdicts that come while others are sent go out together, in as many pages as it takes', async () => {
  const sending = Promise.withResolvers<void>()
  const sent: string[] = []
  const stated = await broadcasting({
    isWanted: () => false,
    async sendVerdicts(node, from, count) {
      sent.push(`${node} ${from}+${count}`)
      await sending.promise
    },
  })
  await stated.record(published(0), ...done('first', 'ann', 0))
  await stated.record(
    ...Array.from({ length: 100 }, (_, i) => done(`lease ${i}`, 'ann', 0)).flat(),
    ...done('b', 'ben', 0),
  )
  sending.resolve()
  await settle()
  assert.equal(sent, ['ann 0+1', 'ann 1+64', 'ben 0+1', 'ann 65+36'])
  await stated.stop()
})

test('capacity for leases is announced at once when a node waits for it, and at most once a second', async () => {
  let wanted = true
  const stated = await broadcasting({ isWanted: () => wanted })
  assert.equal(stated.sent.splice(0), ['policy'])
  await stated.record(published(0), ...done('a', 'ann', 0), ...done('b', 'ann', 0))
  const announcements = (): number => stated.sent.splice(0).filter((what) => what === 'policy').length
  assert.is(announcements(), 1)
  await stated.record(released('a'))
  assert.is(announcements(), 0)
  stated.clock.advance(1000)
  await settle()
  assert.is(announcements(), 1)
  wanted = false
  stated.clock.advance(1000)
  await stated.record(batched('batch', 1, ['a', 'b']))
  assert.is(announcements(), 0)
  await stated.stop()
})

test('the policy in force is announced every five seconds, whatever fails', async () => {
  const calls: string[] = []
  const stated = await broadcasting({
    async announcePolicy() {
      calls.push('policy')
      throw new Error('too many messages')
    },
    async sendVerdicts() {
      calls.push('verdicts')
      throw new Error('too many messages')
    },
    isWanted: () => false,
  })
  await stated.record(published(0), ...done('a', 'ann', 0))
  for (let i = 0; i < 2; i++) {
    stated.clock.advance(5000)
    await settle()
  }
  assert.equal(calls, ['policy', 'verdicts', 'policy', 'policy'])
  assert.is(stated.errors.length, 4)
  await stated.stop()
})

test.run()
