import '../../swarm/polyfill.js'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { packageVersion } from '../../common/cli/index.js'
import { BackupError } from '../../coordinator/backup/backup-error.js'
import { checkBackup } from '../../coordinator/backup/read-backup.js'
import { readEvents } from '../../coordinator/commands/run-log.js'
import { openEventLog, openRecordStore, StoreError } from '../../coordinator/ledger/event-log.js'
import type { RunEvent } from '../../coordinator/ledger/events.js'
import { chain, LOG_START, type LogHead } from '../../coordinator/ledger/log-chain.js'
import { openHeadFile } from '../../coordinator/ledger/log-head.js'
import { openRecorder } from '../../coordinator/ledger/recorder.js'
import { noteProgram } from '../../coordinator/ledger/written-by.js'
import { createHost, requestLeases, serveLeases } from '../../swarm/index.js'
import { ask, leases } from '../support/proto-samples.js'
import { agreed, published } from '../support/run-events.js'
import { connect, createTestSwarm, failure, keyOf, soon } from '../support/swarm-nodes.js'

const folders: string[] = []
const folder = async (): Promise<string> => {
  const path = await mkdtemp(join(tmpdir(), 'prove-versions-'))
  folders.push(path)
  return path
}
test.after(async () => {
  for (const path of folders) await rm(path, { recursive: true, force: true })
})

const now = { now: () => 5 }
const here = packageVersion()
const LATER: RunEvent = { type: 'written-by', atMs: 2, program: '9001.2.3', needs: '9001.0.0' }
/** What no version so far writes. */
const UNKNOWN = { type: 'teleported', atMs: 3, node: 'ann' } as unknown as RunEvent

/** A data folder whose log holds these events. @param vouched  so many of them are in the head */
async function logOf(events: readonly RunEvent[], vouched = events.length): Promise<string> {
  const dataDir = await folder()
  await mkdir(join(dataDir, 'log'))
  await writeFile(join(dataDir, 'identity.key'), '')
  const store = await openRecordStore(join(dataDir, 'log'))
  const heads: LogHead[] = [LOG_START]
  const records = events.map((event) => {
    const { record, head } = chain(heads.at(-1)!, event)
    heads.push(head)
    return record
  })
  await store.append(0, records)
  await store.close()
  const headFile = await openHeadFile(join(dataDir, 'log.head'))
  await headFile.write(heads[vouched]!)
  await headFile.close()
  return dataDir
}

async function codeOf(dataDir: string): Promise<string> {
  return refusalOf(dataDir).then(({ code }) => code)
}

/** The error with which reading all of a log ends. */
async function refusalOf(dataDir: string): Promise<StoreError> {
  try {
    for await (const _ of readEvents(dataDir, soon()));
  } catch (why) {
    assert.instance(why, StoreError)
    return why as StoreError
  }
  throw new Error('the log was read')
}

test('the error for a log of a later program names that program and the needed version, and says that the log is not damaged', async () => {
  const events = [agreed(), LATER, UNKNOWN]
  for (const vouched of [0, 1, 2, 3]) {
    const why = await refusalOf(await logOf(events, vouched))
    assert.is(why.code, 'newer_version', `${vouched} vouched for`)
    assert.ok(why.detail.includes('written by prove-swarm 9001.2.3'), why.detail)
    assert.ok(why.detail.includes(`needs 9001.0.0 or newer, but this is ${here}`), why.detail)
  }
})

test('a later program whose log this one can read changes nothing', async () => {
  const dataDir = await logOf([agreed(), { ...LATER, needs: here } as RunEvent, published(0)])
  const read: string[] = []
  for await (const { type } of readEvents(dataDir, soon())) read.push(type)
  assert.equal(read, ['configured', 'written-by', 'published'])
})

test('an event that no program announced is damage, and so is an announcement in a broken chain', async () => {
  assert.is(await codeOf(await logOf([agreed(), UNKNOWN], 1)), 'unreadable')
  const dataDir = await logOf([agreed(), LATER])
  const store = await openRecordStore(join(dataDir, 'log'))
  await store.append(1, [chain(LOG_START, LATER).record])
  await store.close()
  assert.is(await codeOf(dataDir), 'tampered')
})

test('a coordinator notes its version once, and again when another has written in between', async () => {
  const dataDir = await folder()
  const noted = async (): Promise<RunEvent[]> => {
    const recorder = await openRecorder(await openEventLog(join(dataDir, 'log')), () => undefined)
    await noteProgram(recorder, now)
    await recorder.close()
    const log = await openEventLog(join(dataDir, 'log'))
    const events: RunEvent[] = []
    for await (const event of log.replay()) events.push(event)
    await log.close()
    return events
  }
  const own = { type: 'written-by', atMs: 5, program: here, needs: '0.1.0' }
  assert.equal(await noted(), [own])
  assert.equal(await noted(), [own])
  const log = await openEventLog(join(dataDir, 'log'))
  const other: RunEvent = { type: 'written-by', atMs: 6, program: '9001.2.3', needs: here }
  await log.append(other)
  await log.close()
  assert.equal(await noted(), [own, other, own])
})

test('the error for a backup of a later program names the needed version, whatever else the backup contains', async () => {
  const backup = await folder()
  await writeFile(
    join(backup, 'backup.json'),
    JSON.stringify({ schema: 7, program: '9001.2.3', needs: '9001.0.0', shards: [] }),
  )
  const why = await checkBackup(backup, soon()).then(String, (error: BackupError) => error)
  assert.instance(why, BackupError)
  assert.is((why as BackupError).code, 'newer_version')
  assert.match((why as BackupError).detail, /made by prove-swarm 9001\.2\.3 and needs 9001\.0\.0 or newer/)
})

test('a node hears from a coordinator of later protocols which program to install, and not that it is unreachable', async () => {
  const swarm = await createTestSwarm()
  const ann = await swarm.node(2, false)
  const host = await createHost({
    privateKey: await keyOf(1),
    runId: swarm.runId,
    listen: ['/ip4/127.0.0.1/tcp/0'],
    program: '9001.2.3',
  })
  try {
    const coordinator = { host, key: await keyOf(1), refusals: [] }
    await connect(ann, coordinator)
    const asked = () => failure(requestLeases(ann.host, host.peerId, ask, soon()))
    assert.is((await asked()).code, 'unreachable', 'it is not in service yet')
    const stop = await host.handle('/prove/lease/7', (stream) => stream.abort(new Error('never')))
    const why = await asked()
    assert.is(why.code, 'other_version')
    assert.match(
      why.detail,
      /speaks \/prove\/lease\/7 \(prove-swarm 9001\.2\.3\).*install prove-swarm 9001\.2\.3 or newer/,
    )
    await stop()
    const serving = await serveLeases(host, async () => leases)
    assert.is((await requestLeases(ann.host, host.peerId, ask, soon())).leases.length, leases.leases.length)
    await serving.close()
  } finally {
    await host.close()
    await swarm.close()
  }
})

test.run()
