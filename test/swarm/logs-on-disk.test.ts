import '../../swarm/polyfill.js'
import { cp, open, readdir, rm, stat, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { Level } from 'level'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { openEventLog, StoreError } from '../../coordinator/ledger/event-log.js'
import type { RunEvent } from '../../coordinator/ledger/events.js'
import { openRecorder } from '../../coordinator/ledger/recorder.js'
import { NodeError } from '../../node/report/errors.js'
import { openNodeStore } from '../../node/store/store.js'
import { WITHOUT_HEADS } from '../support/memory-log.js'
import { agreed, published } from '../support/run-events.js'
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
      ...WITHOUT_HEADS,
      async append(...events) {
        if (full) throw new Error('no space left on device')
        for (const { type } of events) order.push(`on disk: ${type}, ${recorder.state.publications.length} applied`)
      },
      async *replay() {
        yield agreed()
      },
      async close() {},
    },
    (event) => order.push(`told: ${event.type}, ${recorder.state.publications.length} applied`),
  )
  await recorder.record(() => published(0))
  full = true
  const reasonOf = (version: number) =>
    recorder.record(() => published(version)).then(String, (why: Error) => why.message)
  assert.is(await reasonOf(1), 'no space left on device')
  full = false
  assert.is(await reasonOf(1), 'no space left on device', 'what follows was decided on what is not on disk')
  assert.equal(order, ['on disk: published, 0 applied', 'told: published, 1 applied'])
  assert.is(recorder.state.publications.length, 1)
})

test('what was reported is found in a copy of the directory, as a kill would leave it', async () => {
  const swarm = await createTestSwarm()
  opened.push(() => swarm.close())
  const folder = await swarm.folder()
  const recorder = await openRecorder(await openEventLog(join(folder, 'log')), () => undefined)
  opened.push(() => recorder.close())
  const decisions = ['one', 'two', 'three'].map((id) => recorder.record(() => released(id)))
  await Promise.all(decisions)
  // What a kill leaves is a head that the log has reached, never one that it has not.
  await cp(join(folder, 'log.head'), join(folder, 'copy.head'))
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

test('a directory that is in use is refused, and the error says what to do', async () => {
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
  assert.match((why as StoreError).message, /another process uses .*stop it/)
  const whyNode = await openNodeStore(join(folder, 'store'), swarm.runId).catch((error: unknown) => error)
  assert.instance(whyNode, NodeError)
  assert.match((whyNode as NodeError).message, /^in_use: .*--data-dir/)
})

/** A log of so many events in a folder of its own. */
async function logOf(events: number): Promise<string> {
  const swarm = await createTestSwarm()
  opened.push(() => swarm.close())
  const path = join(await swarm.folder(), 'log')
  const log = await openEventLog(path)
  for (let i = 0; i < events; i++) await log.append(released(String(i)))
  await log.close()
  return path
}

/** Why a log cannot be opened and read to its end. */
async function refusalOf(path: string): Promise<StoreError> {
  try {
    const log = await openEventLog(path)
    opened.push(() => log.close())
    for await (const _ of log.replay());
  } catch (why) {
    assert.instance(why, StoreError)
    return why as StoreError
  }
  throw new Error('the log is read as if nothing had happened')
}

/** The file of a LevelDB database that holds what was written last. */
async function journalOf(path: string): Promise<string> {
  const names = (await readdir(path)).filter((name) => name.endsWith('.log')).sort()
  return join(path, names.at(-1)!)
}

test('a truncated log is refused, and the error says what is missing and what to do', async () => {
  const path = await logOf(400)
  const journal = await journalOf(path)
  await truncate(journal, Math.floor((await stat(journal)).size * 0.8))
  const why = await refusalOf(path)
  assert.is(why.code, 'truncated')
  const [, left, first, lost] =
    /contains (\d+) events, .*log\.head names 400: events (\d+) to 399 \((\d+)\) are missing/.exec(why.message)!
  assert.ok(Number(left) > 300 && left === first && Number(left) + Number(lost) === 400, why.message)
  assert.match(why.message, /prove-coordinator restore <backup> --data-dir <folder>/)
  assert.match(why.message, /prove-coordinator restore <backup> .*prove-coordinator repair/)
  // Asked again, it says the same.
  assert.is((await refusalOf(path)).message, why.message)
})

test('a log without its file, folder or head is refused, and so is a head without its log', async () => {
  const withoutFile = await logOf(5)
  await rm(await journalOf(withoutFile))
  assert.match((await refusalOf(withoutFile)).message, /^truncated: .*contains 0 events, .*names 5: events 0 to 4/)
  const withoutFolder = await logOf(5)
  await rm(withoutFolder, { recursive: true })
  assert.match((await refusalOf(withoutFolder)).message, /^truncated: .*folder is gone, .*names 5/)
  assert.equal(await readdir(join(withoutFolder, '..')), ['log.head'], 'no empty log takes its place')
  const withoutHead = await logOf(5)
  await rm(`${withoutHead}.head`)
  assert.match((await refusalOf(withoutHead)).message, /^headless: .*contains 5 events, but .*log\.head.*is missing/)
})

test('a log of the length of the head whose newest event is another is refused', async () => {
  const [path, other] = [await logOf(3), await logOf(3)]
  const log = await openEventLog(other)
  await log.append(released('3'))
  await log.close()
  await cp(`${other}.head`, `${path}.head`)
  // As long as the other one, and not with its last event.
  const raw = new Level<string, string>(path, { valueEncoding: 'utf8' })
  await raw.put('0000000000000003', `{"hash":"${'0'.repeat(64)}","event":${JSON.stringify(released('x'))}}`)
  await raw.close()
  assert.is((await refusalOf(path)).code, 'tampered')
})

test('a changed event is refused at its place, although it is a valid event', async () => {
  const path = await logOf(5)
  const raw = new Level<string, string>(path, { valueEncoding: 'utf8' })
  const record = await raw.get('0000000000000002')
  await raw.put('0000000000000002', record!.replace('"leaseId":"2"', '"leaseId":"7"'))
  await raw.close()
  assert.match((await refusalOf(path)).message, /^tampered: .*event 2 does not follow the previous one/)
})

test('a log without a chain is refused as one of an older version', async () => {
  const path = await logOf(0)
  await rm(`${path}.head`)
  const raw = new Level<string, string>(path, { valueEncoding: 'utf8' })
  await raw.put('0000000000000000', JSON.stringify(released('0')))
  await raw.close()
  assert.match((await refusalOf(path)).message, /^older_version: .*older version of this program/)
})

test('a head with a damaged newest copy still proves all but the last events, and one with two damaged copies is refused', async () => {
  const path = await logOf(6)
  const head = await open(`${path}.head`, 'r+')
  const { buffer } = await head.read(Buffer.alloc(8192), 0, 8192, 0)
  const halves = [0, 4096].map((at) => Number(/"count":(\d+)/.exec(buffer.toString('latin1', at))![1]))
  assert.is(Math.max(...halves), 6)
  await head.write('torn', halves[0] === 6 ? 0 : 4096)
  const again = await openEventLog(path)
  assert.is(again.end.count, 6)
  await again.close()
  await head.write('torn', 0)
  await head.write('torn', 4096)
  await head.close()
  assert.match((await refusalOf(path)).message, /^unreadable: .*log\.head is damaged/)
})

test.run()
