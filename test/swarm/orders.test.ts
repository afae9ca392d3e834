import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { reachControl, serveControl } from '../../common/control/index.js'
import { NEW_EVENTS, ORDER } from '../../coordinator/service/control-routes.js'
import { type OrderAsk, orderAnswer } from '../../coordinator/service/order-service.js'
import { forTerminal } from '../../node/report/progress.js'
import { topicsOf } from '../../proto/index.js'
import { createBlobStore, createSnapshotExchange, openAddressNotices, type SealedNotice } from '../../swarm/index.js'
import { createJobTrainer, type JobTrainer } from '../chaos/job-trainer.js'
import { connect, eventually, patientClock, soon } from '../support/swarm-nodes.js'
import { TASKS, type TestRun, type Volunteer } from '../support/test-run.js'
import { leaseFor, offer, runSuite, verdictOn } from './run-suite.js'

const { test, opened } = runSuite('orders of the operator', { batchGroups: 1 })
const never = new AbortController().signal
const pause: OrderAsk = { order: 'pause', reason: ' disk \u001b[2Jis full ' }
const resume: OrderAsk = { order: 'resume', reason: null }

/** Sets a run to work, which its end stops: it trains, by a trainer whose adapters are noise, and looks after itself. */
function work({ coordinator }: TestRun, trainer: JobTrainer): void {
  coordinator.run(trainer).catch((why: unknown) => {
    // Whatever else it was, a test waits in vain for what follows.
    if (!String(why).includes('the coordinator is closing')) process.stderr.write(`the run ended: ${String(why)}\n`)
  })
}

async function trainerOf(run: TestRun): Promise<JobTrainer> {
  const trainer = createJobTrainer({
    ...{ jobs: join(run.folder, 'jobs'), clock: patientClock, stepMs: 0, adapterBytes: 512 },
    ...{ driftsAt: null, canaries: [] },
  })
  await trainer.start(never)
  return trainer
}

const versionOf = (run: TestRun): number => run.coordinator.recorder.state.current!.version

/** An accepted group, and the version that is made of it. */
async function advance(run: TestRun, node: Volunteer): Promise<void> {
  const next = versionOf(run) + 1
  const lease = await leaseFor(node)
  await offer(node, await node.finish(lease))
  await eventually(`version ${next}`, () => versionOf(run) >= next)
  await eventually('the step is on record', () => run.coordinator.recorder.state.pendingBatch === undefined)
}

async function restart(run: TestRun, ...nodes: readonly Volunteer[]): Promise<void> {
  await run.restart()
  for (const node of nodes) await connect(node, run.coordinator.node)
}

test('while a run is paused nobody gets a lease and nothing is trained, honest work counts, and a restart changes nothing', async ({
  open,
}) => {
  const run = await open()
  const trainer = await trainerOf(run)
  work(run, trainer)
  const ann = await run.admitted(2)
  const lease = await leaseFor(ann)
  const { changed, effects } = await run.coordinator.order(pause)
  assert.ok(changed)
  assert.match(effects.join(), /1 open leases may still be delivered/)
  await offer(ann, await ann.finish(lease))
  assert.ok((await verdictOn(run, lease.leaseId)).accepted)
  for (const again of [false, true]) {
    if (again) {
      await restart(run, ann)
      work(run, trainer)
    }
    const { leases, reason, detail } = await ann.ask()
    assert.equal([leases, reason, detail], [[], 'paused', 'disk  [2Jis full'])
    assert.equal((await run.coordinator.order(pause)).changed, false)
  }
  await run.coordinator.order(resume)
  await eventually('the group is trained on', () => versionOf(run) === 1)
  const types = run.events.map(({ type }) => type)
  assert.ok(types.indexOf('batched') > types.indexOf('resumed'), 'no batch was formed before')
  assert.is((await leaseFor(ann)).version, 1)
})

test('a rollback publishes the earlier policy again, signed, and nothing is trained on what it withdraws, over a restart', async ({
  open,
}) => {
  const run = await open({ maxStaleness: 4 })
  const trainer = await trainerOf(run)
  work(run, trainer)
  const ann = await run.admitted(2)
  for (let version = 1; version <= 3; version++) await advance(run, ann)
  const late = await leaseFor(ann)
  await run.coordinator.order({ order: 'rollback', version: 1, reason: 'it has forgotten how to stop' })
  await restart(run, ann)
  assert.ok(run.coordinator.recorder.state.orders.rollback ?? versionOf(run) === 4, 'the order holds, or is done')
  work(run, trainer)
  await eventually('version 4', () => versionOf(run) === 4)
  const { state } = run.coordinator.recorder
  assert.equal([state.current!.adapterStep, [...state.withdrawn]], [1, [2, 3]])
  const policyOf = (version: number) => state.publication(version).policyId
  assert.is(policyOf(4), policyOf(1))
  assert.is(run.coordinator.snapshots.newest()!.manifest.taskSpec.withdrawn, '2,3')
  await eventually('the step is on record', () => state.pendingBatch === undefined)
  await offer(ann, await ann.finish(late))
  const verdict = await verdictOn(run, late.leaseId)
  assert.ok(verdict.accepted && verdict.credit > 0, 'the work was honest')
  assert.is(state.trainableCount(4), 0, 'and of a version that is withdrawn')
  await advance(run, ann)
  assert.equal([versionOf(run), state.current!.adapterStep], [5, 5])
  assert.equal(
    state.batchesBehind(5).map(({ step }) => step),
    [1, 5],
    'what it was trained on',
  )
})

test('a rollback that is ordered while the last version is made is carried out after it', async ({ open }) => {
  const run = await open({ maxStaleness: 4, versions: 2 })
  const trainer = await trainerOf(run)
  const running = run.coordinator.run(trainer)
  running.catch(() => undefined)
  const ann = await run.admitted(2)
  await advance(run, ann)
  const lease = await leaseFor(ann)
  const { state } = run.coordinator.recorder
  const ordered = Promise.withResolvers<unknown>()
  const stop = run.coordinator.recorder.listen(({ type }) => {
    if (type !== 'batched') return
    stop()
    ordered.resolve(run.coordinator.order({ order: 'rollback', version: 0, reason: null }))
  })
  await offer(ann, await ann.finish(lease))
  await ordered.promise
  await running
  assert.equal([versionOf(run), state.current!.adapterStep, state.orders.rollback], [3, 0, null])
  assert.equal([...state.withdrawn], [1, 2])
})

test('a banned key gets no lease, what it delivers is refused by that name, and an unban lets it in again', async ({
  open,
}) => {
  const run = await open({ batchGroups: 10 })
  const [ann, ben] = [await run.admitted(2), await run.admitted(3)]
  const kept = await leaseFor(ann)
  await offer(ann, await ann.finish(kept))
  await verdictOn(run, kept.leaseId)
  const lease = await leaseFor(ann)
  const key = ann.host.peerId
  const { effects } = await run.coordinator.order({ order: 'ban', key: key.slice(-10), reason: 'two keys, one person' })
  assert.match(effects.join(), /1 of its accepted groups/)
  await run.coordinator.leases.takeBack()
  assert.is(run.coordinator.recorder.state.openLeases.size, 0)
  await restart(run, ann, ben)
  const { reason, detail } = await ann.ask()
  assert.equal([reason, detail], ['banned', 'two keys, one person'])
  await offer(ann, await ann.finish(lease))
  const verdict = await verdictOn(run, lease.leaseId)
  assert.equal([verdict.code, verdict.detail, verdict.credit], ['banned', 'two keys, one person', 0])
  const { state } = run.coordinator.recorder
  const record = state.nodes.get(key)!
  assert.equal([record.abandoned, record.reputation.doubt, state.trainableCount(4)], [0, 0, 0])
  assert.is((await ben.ask()).leases.length, 1, 'others work on')
  await run.coordinator.order({ order: 'unban', key, reason: null })
  assert.is(state.trainableCount(4), 1)
  assert.is((await ann.ask()).leases.length, 1)
})

test('a dropped task is given to nobody, not even in the round that was open, and a lease of it still earns its credit', async ({
  open,
}) => {
  const run = await open({ batchGroups: 40, leases: { durationMs: 60_000, perNode: 20 } })
  const ann = await run.admitted(2)
  const lease = await leaseFor(ann)
  const left = TASKS.find(({ id }) => id !== lease.taskId)!
  for (const { id } of TASKS.filter((task) => task !== left))
    await run.coordinator.order({ order: 'drop-task', task: id, reason: 'its answer is wrong' })
  const { leases } = await ann.ask({ count: 5, holding: [lease.leaseId] })
  assert.equal(new Set(leases.map(({ taskId }) => taskId)), new Set([left.id]))
  await restart(run, ann)
  await run.coordinator.publisher.openRound()
  const holding = [lease, ...leases].map(({ leaseId }) => leaseId)
  const further = await ann.ask({ count: 5, holding })
  assert.equal(new Set(further.leases.map(({ taskId }) => taskId)), new Set([left.id]))
  await offer(ann, await ann.finish(lease))
  const verdict = await verdictOn(run, lease.leaseId)
  assert.ok(verdict.accepted && verdict.credit > 0)
  assert.is(run.coordinator.recorder.state.trainableCount(4), 0)
  await offer(ann, await ann.finish(leases[0]!))
  await verdictOn(run, leases[0]!.leaseId)
  assert.is(run.coordinator.recorder.state.trainableCount(4), 1)
})

test('an announcement reaches nodes signed, is repeated after a restart, and can be withdrawn', async ({ open }) => {
  const run = await open()
  const trainer = await trainerOf(run)
  work(run, trainer)
  const ann = await run.volunteer(2)
  const news: SealedNotice['notice'][] = []
  const notices = await openAddressNotices({ host: ann.host, known: null, onNewer: ({ notice }) => news.push(notice) })
  opened.push(async () => notices.close())
  const blobs = await createBlobStore(await run.swarm.folder())
  const snapshots = await createSnapshotExchange(ann.host, { store: blobs })
  opened.push(() => snapshots.close())
  const { addresses: topic } = topicsOf(run.swarm.runId)
  const listens = () =>
    eventually('it listens', () => run.coordinator.node.host.gossip.listeners({ topic }).length === 1)
  /** By gossip, as a node does that is connected; and whoever has just connected and asks for it is given the same. */
  const hears = async (message: string): Promise<void> => {
    await eventually(`it hears "${message}"`, () => news.at(-1)?.message === message)
    const sealed = await snapshots.fetchNotice(run.swarm.runId, soon())
    assert.equal(Buffer.from(sealed!), Buffer.from(notices.newest()!.sealed))
  }
  await listens()
  const address = '/dns4/new.example.org/tcp/4001'
  const message = 'We move on\nMonday \u202eevening'
  await run.coordinator.order({
    ...{ order: 'announce', reason: null, message },
    addresses: [`${address}/p2p/${run.swarm.runId}`],
  })
  await hears('We move on Monday evening')
  assert.is(news.at(-1)!.addresses[0], address)
  assert.ok(news.at(-1)!.addresses.length > 1, 'its own are told too')
  const { number } = news.at(-1)!
  await restart(run, ann)
  work(run, trainer)
  await listens()
  await run.coordinator.order({ order: 'announce', reason: null, message: '', addresses: [] })
  await hears('')
  assert.is(news.at(-1)!.number > number, true)
  assert.not(news.at(-1)!.addresses.includes(address))
})

test('a hostile announcement cannot reach beyond its line of a terminal', () => {
  assert.is(forTerminal('\u001b[2J\u0007a\u202eb\nc\u2028d'), ' [2J a b c d')
})

const MISTAKES: readonly (readonly [OrderAsk, RegExp])[] = [
  [{ order: 'ban', key: 'nobody', reason: null }, /no key of this run ends with "nobody"/],
  [{ order: 'ban', key: '1', reason: null }, /keys of this run end|no key of this run ends/],
  [{ order: 'drop-task', task: 'no-such-task', reason: null }, /no task "no-such-task".*number, 0 to 2/],
  [
    { order: 'disable-environment', environment: 'casino', reason: null },
    /no environment "casino": its environments are library/,
  ],
  [
    { order: 'disable-environment', environment: 'library', reason: null },
    /no task would be left.*pause the run instead/,
  ],
  [{ order: 'rollback', version: 9, reason: null }, /version 9 is not served; the newest is 1/],
  [
    { order: 'rollback', version: 1, reason: null },
    /version 1 has the policy of version 1 already; the versions that can be restored are 0/,
  ],
  [{ order: 'rollback', version: 0, reason: null }, /the trainer cannot restore version 0/],
  [
    { order: 'announce', message: 'x'.repeat(600), addresses: [], reason: null },
    /600 bytes, and at most 512 are allowed/,
  ],
  [
    { order: 'announce', message: '', addresses: ['new.example.org'], reason: null },
    /is no libp2p address: type one such as/,
  ],
  [{ order: 'fly' } as unknown as OrderAsk, /Expected .pause. /],
]

test('orders arrive over the socket, impossible ones are refused in one line without a trace, and events follow', async ({
  open,
}) => {
  const run = await open()
  await run.coordinator.publish()
  const server = await serveControl(run.folder, run.coordinator.routes)
  opened.push(() => server.close())
  const leaving = new AbortController()
  const control = (await reachControl(run.folder, leaving.signal))!
  const before = run.coordinator.log.end.count
  for (const [ask, words] of MISTAKES) {
    const why = await control.post(ORDER, ask).then(
      () => 'it was taken',
      (error: Error) => error.message,
    )
    assert.match(why, words)
    assert.not(why.includes('\n'))
  }
  assert.is(run.coordinator.log.end.count, before)
  const followed: { type: string; by?: object }[] = []
  const following = (async () => {
    for await (const line of control.lines(`${NEW_EVENTS}?from=0`)) {
      assert.not(line.includes('roundSecret'))
      followed.push(JSON.parse(line))
    }
  })().catch((why: unknown) => why)
  await eventually('those that were there', () => followed.length === before)
  const answer = orderAnswer.parse(await control.post(ORDER, pause))
  assert.ok(answer.changed)
  await eventually('the order', () => followed.at(-1)?.type === 'paused')
  assert.equal(followed.at(-1)!.by, { who: 'operator', via: 'control socket' })
  leaving.abort()
  await following
  assert.equal(
    followed.map(({ type }) => type),
    run.events.map(({ type }) => type),
  )
})

test.run()
