import '../../swarm/polyfill.js'
import { readFile } from 'node:fs/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { RunEvent } from '../../coordinator/ledger/events.js'
import { type HistoryAlarm, openHeadKeeper } from '../../node/history/head-keeper.js'
import { findContradiction, headOfManifest, readProof } from '../../node/history/signed-head.js'
import { checkHistory, type HistoryParts } from '../../node/history/watch-history.js'
import { totalsOf } from '../../node/store/ledger.js'
import { openVerdictDigest, sealManifest } from '../../proto/index.js'
import { createBlobStore, createSnapshotExchange, offerGroup, requestVerdicts } from '../../swarm/index.js'
import { rewriteLog } from '../support/rewritten-log.js'
import { connect, eventually, soon } from '../support/swarm-nodes.js'
import { createTestRun, type TestRun, type Volunteer } from '../support/test-run.js'

/** What nodes remember of a run's history, against a coordinator that tells another one. */

const test = suite<{ run: TestRun }>('history')

test.before.each(async (context) => {
  context.run = await createTestRun()
})
test.after.each((context) => context.run.close())

/** Delivers an honest group and records its verdict on the volunteer's disk. */
async function deliver(run: TestRun, volunteer: Volunteer): Promise<void> {
  const [lease] = (await volunteer.ask()).leases
  const { sealed, leaseId } = await volunteer.finish(lease!)
  await offerGroup(volunteer.host, run.swarm.runId, sealed, soon())
  await eventually('the verdict', () => run.coordinator.recorder.state.judged.has(leaseId))
  await takeVerdicts(run, volunteer)
}

async function takeVerdicts(run: TestRun, { host, store }: Volunteer): Promise<void> {
  const cursor = await store.verdictCount()
  const { digest } = await requestVerdicts(host, run.swarm.runId, { cursor, max: 64 }, soon())
  const { fromCursor, verdicts } = await openVerdictDigest(digest, run.swarm.runId)
  await store.addVerdicts(fromCursor, verdicts)
}

interface Watcher extends HistoryParts {
  readonly alarms: HistoryAlarm[]
  check(): Promise<void>
}

/** Watches a run with the memory of a volunteer. */
async function watcherOf(run: TestRun, volunteer: Volunteer, neighbours: readonly string[] = []): Promise<Watcher> {
  const alarms: HistoryAlarm[] = []
  const onAlarm = (alarm: HistoryAlarm): void => void alarms.push(alarm)
  const store = await createBlobStore(await run.swarm.folder())
  const snapshots = await createSnapshotExchange(volunteer.host, { store })
  await snapshots.fetchManifest([run.swarm.runId], 'newest', soon())
  const keeper = await openHeadKeeper({ folder: await run.swarm.folder(), run: run.swarm.runId, onAlarm })
  const parts: HistoryParts = {
    ...{ host: volunteer.host, store: volunteer.store, snapshots, keeper, onAlarm },
    neighbours: () => neighbours,
    random: () => 0,
  }
  return { ...parts, alarms, check: () => checkHistory(parts, soon()) }
}

test('an honest coordinator proves a verdict, repeats its heads, and raises no alarm', async ({ run }) => {
  const volunteer = await run.admitted(2)
  const watcher = await watcherOf(run, volunteer)
  await deliver(run, volunteer)
  for (let i = 0; i < 3; i++) await watcher.check()
  assert.equal(watcher.alarms, [])
  assert.ok(watcher.keeper.kept.length >= 2)
  // A restart changes nothing.
  await run.restart()
  await connect(volunteer, run.coordinator.node)
  await watcher.check()
  assert.equal(watcher.alarms, [])
})

test('a log that was rewritten with a fresh chain is caught by a node that was there before, with both signatures', async ({
  run,
}) => {
  const volunteer = await run.admitted(2)
  const watcher = await watcherOf(run, volunteer)
  await deliver(run, volunteer)
  await deliver(run, volunteer)
  await watcher.check()
  const earned = totalsOf(await volunteer.store.verdicts()).credit
  const halved = (event: RunEvent): RunEvent =>
    event.type === 'judged' ? { ...event, credit: event.credit / 2 } : event
  await run.restart({}, () => rewriteLog(run.folder, halved))
  await connect(volunteer, run.coordinator.node)
  await watcher.check()
  const [history, ...others] = watcher.alarms
  assert.match(history!.text, /two histories/)
  const proof = await readProof(await readFile(history!.proof!, 'utf8'))
  assert.is(proof.run, run.swarm.runId)
  assert.ok(findContradiction([proof.first], proof.second), 'the two signatures contradict each other')
  const rounded = Math.round(earned * 100) / 100
  assert.ok(
    others.some(({ text }) => text.includes(`signed verdicts for ${rounded} credits`)),
    JSON.stringify(others),
  )
})

test('a log that lost its end is caught, although its chain is whole', async ({ run }) => {
  const volunteer = await run.admitted(2)
  const watcher = await watcherOf(run, volunteer)
  await deliver(run, volunteer)
  // The newest head: later ones would be about a longer log.
  await watcher.check()
  const longest = watcher.keeper.kept.at(-1)!
  let left = longest.head.events - 2
  await run.restart({}, () => rewriteLog(run.folder, (event) => (left-- > 0 ? event : null)))
  await connect(volunteer, run.coordinator.node)
  const again = { ...watcher, random: () => 0.999 }
  await checkHistory(again, soon())
  assert.match(watcher.alarms[0]!.text, /the log had \d+ events, and now has \d+/)
})

test('two neighbours that were told different histories find out from each other', async ({ run }) => {
  const ann = await run.volunteer(2)
  const ben = await run.swarm.node(3, true)
  await connect(ben, run.coordinator.node)
  await connect(ann, ben)
  const told = await createSnapshotExchange(ben.host, { store: await createBlobStore(await run.swarm.folder()) })
  const { runId } = run.swarm
  const { manifest: other } = await told.fetchManifest([runId], 'newest', soon())
  const manifest = { ...other, round: other.round + 1, head: { ...other.head, logHash: 'ab'.repeat(32) } }
  told.offer(await sealManifest(run.coordinator.node.key, runId, manifest))
  const watcher = await watcherOf(run, ann, [ben.host.peerId])
  await watcher.keeper.note(headOfManifest(watcher.snapshots.newest()!))
  await watcher.check()
  assert.match(watcher.alarms[0]!.text, /event \d+ has two hashes/)
})

test.run()
