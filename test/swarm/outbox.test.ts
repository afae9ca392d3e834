import * as assert from 'uvu/assert'
import { type Outbox, openOutbox } from '../../node/delivery/outbox.js'
import { LIMITS, openVerdictDigest, sealVerdictDigest, type Verdict } from '../../proto/index.js'
import { channelsOf, createShardMember, requestVerdicts, serveVerdicts } from '../../swarm/index.js'
import { judged, leased } from '../support/run-events.js'
import { connect, eventually, soon } from '../support/swarm-nodes.js'
import type { Volunteer } from '../support/test-run.js'
import { leaseFor, offer, runSuite, verdictOn } from './run-suite.js'

const { test, opened } = runSuite('outbox and verdicts')

interface Heard {
  readonly outbox: Outbox
  readonly verdicts: Verdict[]
  readonly dropped: (readonly [string, string])[]
}

async function outboxOf(node: Volunteer): Promise<Heard> {
  const verdicts: Verdict[] = []
  const dropped: (readonly [string, string])[] = []
  const outbox = await openOutbox({
    host: node.host,
    coordinator: node.host.runId,
    store: node.store,
    shard: createShardMember(node.host),
    onVerdict: (verdict) => verdicts.push(verdict),
    onDropped: (leaseId, code) => dropped.push([leaseId, code]),
  })
  opened.push(() => outbox.close())
  return { outbox, verdicts, dropped }
}

test('a forged reward is refused with its code, and the node gets the verdict', async ({ open }) => {
  const run = await open()
  const ann = await run.admitted(2)
  const { outbox, verdicts } = await outboxOf(ann)
  const lease = await leaseFor(ann)
  await outbox.add(await ann.finish(lease, { announce: { rewards: [1.3, 1] } }))
  await eventually('the verdict reaches the node', () => verdicts.length > 0)
  const { leaseId, accepted, code, credit } = verdicts[0]!
  assert.equal(
    { leaseId, accepted, code, credit },
    { leaseId: lease.leaseId, accepted: false, code: 'reward_mismatch', credit: 0 },
  )
  assert.equal(outbox.waiting, [])
  assert.equal(await ann.store.pending(), [])
  assert.equal(run.coordinator.recorder.state.trainable(1), [])
})

test('the outbox offers a group directly when gossip does not reach the coordinator', async ({ open }) => {
  const run = await open()
  const { groups } = channelsOf(run.swarm.runId)
  const ann = await run.admitted(2)
  const { outbox, verdicts } = await outboxOf(ann)
  const group = await ann.finish(await leaseFor(ann))
  run.coordinator.node.host.gossip.close()
  await eventually('the coordinator is known to have left', () => ann.host.gossip.listeners(groups).length === 0)
  await outbox.add(group)
  await eventually('the verdict', () => verdicts.length === 1)
  assert.ok(verdicts[0]!.accepted)
  assert.equal(outbox.waiting, [])
})

test('unsent groups survive a restart of the node, and are sent after it', async ({ open }) => {
  const run = await open()
  const ann = await run.admitted(2)
  const lease = await leaseFor(ann)
  await ann.host.hangUp(run.swarm.runId)
  const before = await outboxOf(ann)
  await before.outbox.add(await ann.finish(lease))
  await before.outbox.close()
  await ann.reopenStore()
  const after = await outboxOf(ann)
  assert.equal(after.outbox.waiting, [lease.leaseId])
  await connect(ann, run.coordinator.node)
  await eventually('the verdict', () => after.verdicts.length === 1)
  assert.ok(after.verdicts[0]!.accepted)
  assert.equal(before.verdicts, [])
})

test('the outbox drops a group that is refused for good, reports it, and continues with the others', async ({
  open,
}) => {
  const run = await open()
  const ann = await run.admitted(2)
  const { outbox, verdicts, dropped } = await outboxOf(ann)
  const lease = await leaseFor(ann)
  const nowhere = { ...lease, leaseId: '00'.repeat(16) }
  await outbox.add(await ann.finish(nowhere))
  await outbox.add(await ann.finish(lease))
  await eventually('both are settled', () => verdicts.length === 1 && dropped.length === 1)
  assert.equal(dropped, [[nowhere.leaseId, 'unknown_lease']])
  assert.equal(await ann.store.pending(), [])
})

test('a group that is refused for now is offered again, and delays no other', async ({ open }) => {
  const run = await open({ batchGroups: 10, leases: { durationMs: 60_000, perNode: 1 } })
  const ann = await run.admitted(2)
  const stalled = Promise.withResolvers<null>()
  const { serve } = ann
  const first = await ann.finish(await leaseFor(ann))
  await run.coordinator.publish()
  const second = await ann.finish(await leaseFor(ann))
  ann.serve = (hash) => (hash === first.bodySha256 ? stalled.promise : serve(hash))
  const { outbox, verdicts, dropped } = await outboxOf(ann)
  await offer(ann, first)
  await outbox.add(second)
  await eventually('it was turned down', () => run.coordinator.node.refusals.some(({ code }) => code === 'overloaded'))
  assert.equal(outbox.waiting, [second.leaseId])
  stalled.resolve(null)
  await eventually('the verdict', () => verdicts.length === 1)
  assert.is(verdicts[0]!.leaseId, second.leaseId)
  assert.equal(dropped, [])
})

test('a node’s ledger continues after restarts of both sides, with every verdict once', async ({ open }) => {
  const run = await open({ batchGroups: 10 })
  const ann = await run.admitted(2)
  const first = await outboxOf(ann)
  // Chance may lease one task twice, and the same words again would be a copy.
  const answer = (i: number) => ({
    scripts: [
      [`Not today, ${i}.`, 'No.'],
      [`Ask again, ${i}.`, 'No.'],
    ],
  })
  for (let i = 0; i < 2; i++)
    await first.outbox.add(await ann.finish(await leaseFor(ann, first.outbox.waiting), answer(i)))
  await eventually('two verdicts', () => first.verdicts.length === 2)
  await first.outbox.close()
  await ann.reopenStore()
  await run.restart()
  await connect(ann, run.coordinator.node)
  const second = await outboxOf(ann)
  await second.outbox.add(await ann.finish(await leaseFor(ann), answer(2)))
  await eventually('the third', () => second.verdicts.length === 1)
  const judged = run.eventsOf('judged')
  assert.equal(
    (await ann.store.verdicts()).map(({ leaseId, accepted, credit }) => ({ leaseId, accepted, credit })),
    judged.map(({ leaseId, accepted, credit }) => ({ leaseId, accepted, credit })),
  )
  assert.is(judged.length, 3)
})

test('a verdict on record and the end of its group are one write', async ({ open }) => {
  const run = await open()
  const ann = await run.admitted(2)
  const group = await ann.finish(await leaseFor(ann))
  const { leaseId, bodySha256 } = group
  await ann.store.addPending(group)
  const verdict: Verdict = { leaseId, bodySha256, accepted: true, code: null, detail: '', credit: 3, receivedAtMs: 5 }
  assert.equal(await ann.store.addVerdicts(0, [verdict]), [verdict])
  assert.equal(await ann.store.pending(), [])
  assert.is(await ann.store.body(bodySha256), null)
  assert.equal(await ann.store.addVerdicts(0, [verdict]), [])
  assert.equal(await ann.store.verdicts(), [verdict])
})

test('a node that returns after a long time gets the newest verdicts, after those that the coordinator dropped', async ({
  open,
}) => {
  const most = LIMITS.verdictsKept.value
  const run = await open({ batchGroups: 1000 })
  const ann = await run.admitted(2)
  const { recorder } = run.coordinator
  const { round, version } = recorder.state.round!
  const judge = async (i: number): Promise<void> => {
    const leaseId = i.toString(16).padStart(32, '0')
    await recorder.record(() => leased(leaseId, ann.host.peerId, version, { round, index: 1000 + i }))
    await recorder.record(() => judged(leaseId, ann.host.peerId, version, { atMs: i }))
  }
  for (let i = 0; i < 3 * most; i++) await judge(i)
  const group = await ann.finish(await leaseFor(ann))
  await offer(ann, group)
  await verdictOn(run, group.leaseId)
  await ann.store.addPending(group)
  const { verdicts } = await outboxOf(ann)
  await eventually('the newest', () => verdicts.some(({ leaseId }) => leaseId === group.leaseId))
  assert.is(verdicts.length, most)
  assert.is(await ann.store.verdictCount(), 3 * most + 1)
  assert.equal(await ann.store.pending(), [])
  await judge(3 * most)
  const channel = channelsOf(run.swarm.runId).verdicts
  await eventually('the node listens', () =>
    run.coordinator.node.host.gossip.listeners(channel).includes(ann.host.peerId),
  )
  await run.coordinator.services.sendVerdicts(ann.host.peerId, 3 * most + 1, 1)
  await eventually('what comes then', async () => (await ann.store.verdictCount()) === 3 * most + 2)
  await eventually('it is reported', () => verdicts.length === most + 1)
})

test('a later verdict on the same group is reported with the one it replaces, and both stay on record', async ({
  open,
}) => {
  const run = await open()
  const ann = await run.volunteer(2)
  const leaseId = 'c4'.repeat(16)
  const given = (code: 'sampler_mismatch' | null, receivedAtMs: number): Verdict => {
    const credit = code === null ? 40 : 0
    return { leaseId, bodySha256: 'd'.repeat(64), accepted: code === null, code, detail: '', credit, receivedAtMs }
  }
  const ledger = [given(null, 1)]
  await run.coordinator.services.close()
  await serveVerdicts(run.coordinator.node.host, async ({ cursor }, { peer }) => {
    const page = { peerId: peer, fromCursor: cursor, verdicts: ledger.slice(cursor), totalCredit: 0, issuedAtMs: 0 }
    return { digest: await sealVerdictDigest(run.coordinator.node.key, run.swarm.runId, page), more: false }
  })
  const stated: (readonly [Verdict, Verdict | null])[] = []
  const outbox = await openOutbox({
    host: ann.host,
    coordinator: ann.host.runId,
    store: ann.store,
    shard: createShardMember(ann.host),
    onVerdict: (verdict, earlier) => stated.push([verdict, earlier]),
    onDropped: () => undefined,
  })
  opened.push(() => outbox.close())
  // Something must wait for a verdict, or the node does not ask.
  await outbox.add({
    leaseId: 'e5'.repeat(16),
    bodySha256: 'f'.repeat(64),
    sealed: new Uint8Array(3),
    body: new Uint8Array(3),
  })
  await eventually('the first verdict', () => stated.length === 1)
  ledger.push(given('sampler_mismatch', 2))
  await eventually('the second', () => stated.length === 2)
  assert.equal(stated, [
    [ledger[0]!, null],
    [ledger[1]!, ledger[0]!],
  ])
  assert.equal(await ann.store.verdicts(), ledger)
  assert.equal(await ann.store.verdictOn(leaseId), ledger[1])
})

test('verdicts from gossip are recorded without a request, and a gap among them causes a request', async ({ open }) => {
  const run = await open()
  const ann = await run.volunteer(2)
  const { host, key } = run.coordinator.node
  const { verdicts: channel } = channelsOf(run.swarm.runId)
  const ledger = [0, 1, 2, 3].map((i): Verdict => {
    const leaseId = i.toString(16).padStart(32, '0')
    return { leaseId, bodySha256: 'd'.repeat(64), accepted: true, code: null, detail: '', credit: 1, receivedAtMs: i }
  })
  const page = (peerId: string, from: number, to: number): Promise<Uint8Array> =>
    sealVerdictDigest(key, run.swarm.runId, {
      peerId,
      fromCursor: from,
      verdicts: ledger.slice(from, to),
      totalCredit: to,
      issuedAtMs: 0,
    })
  const questions: number[] = []
  await run.coordinator.services.close()
  await serveVerdicts(host, async ({ cursor }, { peer }) => {
    questions.push(cursor)
    return { digest: await page(peer, cursor, 3), more: false }
  })
  const { verdicts } = await outboxOf(ann)
  const gossip = async (from: number, to: number): Promise<void> => {
    await host.gossip.publish(channel, await page(ann.host.peerId, from, to))
  }
  await eventually('the node listens', () => host.gossip.listeners(channel).includes(ann.host.peerId))
  await gossip(0, 1)
  await eventually('the first', () => verdicts.length === 1)
  assert.equal(questions, [])
  // The second was lost.
  await gossip(2, 3)
  await eventually('the next two', () => verdicts.length === 3)
  assert.equal(questions, [1])
  // What is known already is no news, and what follows it is.
  await gossip(1, 4)
  await eventually('the last', () => verdicts.length === 4)
  assert.equal(verdicts, ledger)
  assert.equal(await ann.store.verdicts(), ledger)
  assert.equal(questions, [1])
})

test('a node receives only its own verdicts', async ({ open }) => {
  const run = await open()
  const [ann, ben] = [await run.admitted(2), await run.admitted(3)]
  const lease = await leaseFor(ann)
  await offer(ann, await ann.finish(lease))
  await verdictOn(run, lease.leaseId)
  const page = await requestVerdicts(ben.host, run.swarm.runId, { cursor: 0, max: 8 }, soon())
  assert.not.ok(page.more)
  const digest = await openVerdictDigest(page.digest, run.swarm.runId)
  assert.is(digest.peerId, ben.host.peerId)
  assert.equal(digest.verdicts, [])
})

test.run()
