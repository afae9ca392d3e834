import '../../swarm/polyfill.js'
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { openEventLog, StoreError } from '../../coordinator/ledger/event-log.js'
import type { RunEvent } from '../../coordinator/ledger/events.js'
import { openRecorder } from '../../coordinator/ledger/recorder.js'
import { NodeError } from '../../node/errors.js'
import { openNodeStore } from '../../node/store.js'
import { published } from '../support/run-events.js'
import { createTestSwarm } from '../support/swarm-nodes.js'

const opened: (() => Promise<unknown>)[] = []
test.after.each(async () => {
  for (const close of opened.splice(0).reverse()) await close()
})

const released = (leaseId: string): RunEvent => ({ type: 'released', atMs: 1, leaseId, reason: 'lapsed' })

test('an event is on disk before it is applied, and one that could not be written is not applied', async () => {
  const order: string[] = []
  let full = false
  const recorder = await openRecorder(
    {
      async append(event) {
        if (full) throw new Error('no space left on device')
        order.push(`on disk: ${event.type}, ${recorder.state.publications.length} applied`)
      },
      async *replay() {},
      async close() {},
    },
    (event) => order.push(`told: ${event.type}, ${recorder.state.publications.length} applied`),
  )
  await recorder.record(() => published(0))
  full = true
  const error = await recorder.record(() => published(1)).catch((why: Error) => why.message)
  assert.is(error, 'no space left on device')
  full = false
  await recorder.record(() => published(1))
  assert.equal(order, [
    'on disk: published, 0 applied',
    'told: published, 1 applied',
    'on disk: published, 1 applied',
    'told: published, 2 applied',
  ])
})

test('what was reported is found in a copy of the directory, as a kill would leave it', async () => {
  const swarm = await createTestSwarm()
  opened.push(() => swarm.close())
  const folder = await swarm.folder()
  const recorder = await openRecorder(await openEventLog(join(folder, 'log')), () => undefined)
  opened.push(() => recorder.close())
  const decisions = ['one', 'two', 'three'].map((id) => recorder.record(() => released(id)))
  await Promise.all(decisions)
  await cp(join(folder, 'log'), join(folder, 'copy'), { recursive: true })
  const copy = await openEventLog(join(folder, 'copy'))
  opened.push(() => copy.close())
  const found: RunEvent[] = []
  for await (const event of copy.replay()) found.push(event)
  assert.equal(found, ['one', 'two', 'three'].map(released))
  // The copy goes on where the log ended.
  await copy.append(released('four'))
  const again: RunEvent[] = []
  for await (const event of copy.replay()) again.push(event)
  assert.equal(again.at(-1), released('four'))
})

test('a directory that is in use is refused with a sentence that says what to do', async () => {
  const swarm = await createTestSwarm()
  opened.push(() => swarm.close())
  const folder = await swarm.folder()
  const log = await openEventLog(join(folder, 'log'))
  opened.push(() => log.close())
  const store = await openNodeStore(join(folder, 'store'), swarm.runId)
  opened.push(() => store.close())
  const why = await openEventLog(join(folder, 'log')).catch((error: unknown) => error)
  assert.instance(why, StoreError)
  assert.is((why as StoreError).code, 'in_use')
  assert.match((why as StoreError).message, /another process works with .*stop it/)
  const whyNode = await openNodeStore(join(folder, 'store'), swarm.runId).catch((error: unknown) => error)
  assert.instance(whyNode, NodeError)
  assert.match((whyNode as NodeError).message, /^in_use: .*--data-dir/)
})

test.run()
