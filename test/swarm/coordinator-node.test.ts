import { createHash, createHmac } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type Outbox, openOutbox } from '../../node/outbox.js'
import type { PendingGroup } from '../../node/store.js'
import {
  type Lease,
  openGroupAnnouncement,
  openVerdictDigest,
  sealVerdictDigest,
  type Verdict,
} from '../../proto/index.js'
import {
  channelsOf,
  offerGroup,
  requestLeases,
  requestVerdicts,
  serveVerdicts,
  TransportError,
} from '../../swarm/index.js'
import { connect, eventually, soon } from './swarm-nodes.js'
import { createTestRun, GROUP_SIZE, type RunSettings, TASKS, type TestRun, type Volunteer } from './test-run.js'

const test = suite<{ open(settings?: RunSettings): Promise<TestRun> }>('coordinator and nodes')
const opened: (() => Promise<unknown>)[] = []
test.before.each((context) => {
  context.open = async (settings) => {
    const run = await createTestRun(settings)
    opened.push(() => run.close())
    return run
  }
})
test.after.each(async () => {
  for (const close of opened.splice(0).reverse()) await close()
})

const offer = (from: Volunteer, { sealed }: PendingGroup) => offerGroup(from.host, from.host.runId, sealed, soon())

/** The code with which the coordinator turned a request down. */
async function refusalOf(work: Promise<unknown>): Promise<string | null> {
  const error = await work.then(
    () => null,
    (why: unknown) => why,
  )
  assert.instance(error, TransportError)
  return (error as TransportError).refusal
}

const leaseIds = (leases: readonly Lease[]): string[] => leases.map(({ leaseId }) => leaseId)

async function leaseFor(node: Volunteer, holding: readonly string[] = []): Promise<Lease> {
  const { leases, reason } = await node.ask({ holding })
  if (!leases[0]) throw new Error(`no lease: ${reason}`)
  return leases[0]
}

const verdictOn = async (run: TestRun, leaseId: string) => {
  await eventually('the verdict', () => run.coordinator.recorder.state.judged.has(leaseId))
  return run.coordinator.recorder.state.judged.get(leaseId)!
}

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
    onVerdict: (verdict) => verdicts.push(verdict),
    onDropped: (leaseId, code) => dropped.push([leaseId, code]),
  })
  opened.push(() => outbox.close())
  return { outbox, verdicts, dropped }
}

test('a node gets no more leases than the run allows, and is told why', async ({ open }) => {
  const run = await open({ leases: { durationMs: 60_000, perNode: 2 }, batchGroups: 10 })
  const ann = await run.admitted(2)
  const { leases, reason } = await ann.ask({ count: 5 })
  assert.is(leases.length, 2)
  assert.is(reason, 'too_many_leases')
  const more = await ann.ask({ count: 1, holding: leaseIds(leases) })
  assert.equal(more.leases, [])
  assert.is(more.reason, 'too_many_leases')
})

test('a node that has another policy loaded gets no lease but the id of the manifest in force', async ({ open }) => {
  const run = await open()
  const ann = await run.admitted(2)
  const answer = await ann.ask({ policyId: 'ab'.repeat(32) })
  assert.equal(answer.leases, [])
  assert.is(answer.reason, 'wrong_policy')
  assert.is(answer.manifestId, run.coordinator.snapshots.newest()!.manifestId)
})

test('a lease follows from the secret of its round, which is sealed before and shown after', async ({ open }) => {
  const run = await open({ batchGroups: 10, leases: { durationMs: 60_000, perNode: 4 } })
  const ann = await run.admitted(2)
  const ben = await run.admitted(3)
  const first = run.coordinator.snapshots.newest()!.manifest
  const own = (await ann.ask({ count: 2 })).leases
  const other = (await ben.ask({ count: 1 })).leases
  await run.coordinator.publish()
  const { secret } = run.coordinator.snapshots.newest()!.manifest.closedRounds.at(-1)!
  assert.is(createHash('sha256').update(Buffer.from(secret, 'hex')).digest('hex'), first.roundSecretHash)
  const seedOf = (node: Volunteer, index: number): string =>
    createHmac('sha256', Buffer.from(secret, 'hex'))
      .update(JSON.stringify(['prove/lease/1', first.policyId, node.host.peerId, index]))
      .digest('hex')
  assert.equal(
    own.map(({ seed }) => seed),
    [seedOf(ann, 0), seedOf(ann, 1)],
  )
  assert.equal(
    other.map(({ seed }) => seed),
    [seedOf(ben, 0)],
  )
  for (const lease of [...own, ...other]) {
    const draw = createHmac('sha256', Buffer.from(lease.seed, 'hex')).update('["prove/task/1"]').digest()
    assert.is(lease.taskId, TASKS[draw.readUInt32LE(0) % TASKS.length]!.id)
    assert.equal(
      JSON.parse(new TextDecoder().decode(lease.task)),
      TASKS.find(({ id }) => id === lease.taskId),
    )
  }
})

test('leases stop where their groups could only be stale: at S + 1 batches of accepted and running groups', async ({
  open,
}) => {
  const run = await open({ batchGroups: 2, maxStaleness: 1, leases: { durationMs: 60_000, perNode: 2 } })
  const [ann, ben, cleo] = [await run.admitted(2), await run.admitted(3), await run.admitted(4)]
  const { leases } = await ann.ask({ count: 2 })
  assert.is((await ben.ask({ count: 2 })).leases.length, 2)
  assert.is((await cleo.ask()).reason, 'no_work')
  // A group without variance teaches nothing, so its place is free again; that of a useful one is not.
  await offer(
    ann,
    await ann.finish(leases[0]!, {
      scripts: [
        ['No.', 'No.'],
        ['No.', 'No.'],
      ],
    }),
  )
  await verdictOn(run, leases[0]!.leaseId)
  const more = leaseIds((await ann.ask({ count: 2, holding: [leases[1]!.leaseId] })).leases)
  assert.is(more.length, 1)
  await offer(ann, await ann.finish(leases[1]!))
  assert.ok((await verdictOn(run, leases[1]!.leaseId)).accepted)
  assert.is((await ann.ask({ holding: more })).reason, 'no_work')
})

test('a lease that lapsed is released, and its place goes to another node', async ({ open }) => {
  const run = await open({ batchGroups: 1, maxStaleness: 0 })
  const [ann, ben] = [await run.admitted(2), await run.admitted(3)]
  const lease = await leaseFor(ann)
  await run.coordinator.desk.releaseLapsed()
  assert.is((await ben.ask()).reason, 'no_work')
  run.clock.nowMs = lease.deadlineMs + 1
  await run.coordinator.desk.releaseLapsed()
  await run.coordinator.desk.releaseLapsed()
  assert.is((await ben.ask()).leases.length, 1)
  assert.equal(
    run.eventsOf('released').map(({ leaseId, reason }) => [leaseId, reason]),
    [[lease.leaseId, 'lapsed']],
  )
})

test('a node that restarted has forgotten the leases it does not name, and those it names it keeps', async ({
  open,
}) => {
  const run = await open({ batchGroups: 10, leases: { durationMs: 60_000, perNode: 3 } })
  const ann = await run.admitted(2)
  const [kept, forgotten] = leaseIds((await ann.ask({ count: 2 })).leases)
  const [fresh] = leaseIds((await ann.ask({ holding: [kept!] })).leases)
  assert.equal(
    run.eventsOf('released').map(({ leaseId, reason }) => [leaseId, reason]),
    [[forgotten, 'forgotten']],
  )
  assert.equal([...run.coordinator.recorder.state.openLeases.keys()], [kept, fresh])
})

test('a node gives back its own leases and nobody else’s', async ({ open }) => {
  const run = await open({ batchGroups: 10 })
  const [ann, ben] = [await run.admitted(2), await run.admitted(3)]
  const { leaseId } = await leaseFor(ann)
  const giveBack = (node: Volunteer) =>
    requestLeases(node.host, run.swarm.runId, { kind: 'return', leaseIds: [leaseId], reason: 'shutdown' }, soon())
  await giveBack(ben)
  assert.ok(run.coordinator.recorder.state.openLeases.has(leaseId))
  await giveBack(ann)
  assert.not.ok(run.coordinator.recorder.state.openLeases.has(leaseId))
})

test('leases outlive a restart of the coordinator, and their groups are judged by the new one', async ({ open }) => {
  const run = await open()
  const ann = await run.admitted(2)
  const lease = await leaseFor(ann)
  await run.restart()
  await connect(ann, run.coordinator.node)
  await offer(ann, await ann.finish(lease))
  const { accepted, rewards } = await verdictOn(run, lease.leaseId)
  assert.ok(accepted)
  assert.equal(rewards, [1.3, 0])
  assert.is((await ann.ask()).leases[0]!.index, 1)
})

test('a group for a lease that nobody gave out is turned down', async ({ open }) => {
  const run = await open()
  const ann = await run.admitted(2)
  const lease = { ...(await leaseFor(ann)), leaseId: 'ab'.repeat(16) }
  assert.is(await refusalOf(offer(ann, await ann.finish(lease))), 'unknown_lease')
})

test('a group for another node’s lease is turned down, and the owner can still deliver', async ({ open }) => {
  const run = await open()
  const [ann, ben] = [await run.admitted(2), await run.admitted(3)]
  const lease = await leaseFor(ann)
  assert.is(await refusalOf(offer(ben, await ben.finish(lease))), 'lease_owner')
  await offer(ann, await ann.finish(lease))
  assert.is((await verdictOn(run, lease.leaseId)).node, ann.host.peerId)
})

test('an announcement for another policy, task or group size than the lease is turned down', async ({ open }) => {
  const run = await open()
  const ann = await run.admitted(2)
  const lease = await leaseFor(ann)
  const other = TASKS.find(({ id }) => id !== lease.taskId)!.id
  const announced = async (announce: object) => refusalOf(offer(ann, await ann.finish(lease, { announce })))
  assert.is(await announced({ policyId: 'cd'.repeat(32) }), 'wrong_policy')
  assert.is(await announced({ taskId: other }), 'body_mismatch')
  assert.is(await announced({ rewards: new Array(GROUP_SIZE + 1).fill(0.5) }), 'wrong_group_size')
  assert.is(run.eventsOf('judged').length, 0)
})

test('a group that is offered again and again is judged once, and another body for its lease not at all', async ({
  open,
}) => {
  const run = await open()
  const ann = await run.admitted(2)
  const lease = await leaseFor(ann)
  const group = await ann.finish(lease)
  await Promise.all([offer(ann, group), offer(ann, group), offer(ann, group)])
  await verdictOn(run, lease.leaseId)
  await offer(ann, group)
  await run.coordinator.intake.idle()
  assert.is(run.eventsOf('judged').length, 1)
  assert.is(ann.pulls.length, 1)
  const better = await ann.finish(lease, {
    scripts: [
      ['No.', 'No.'],
      ['Hm.', 'No.'],
    ],
    inline: true,
  })
  assert.is(await refusalOf(offer(ann, better)), 'replayed')
  assert.is(run.eventsOf('judged').length, 1)
})

test('a late group is turned down, one that is late by a moment is not', async ({ open }) => {
  const run = await open()
  const ann = await run.admitted(2)
  const [late, lateByAMoment] = (await ann.ask({ count: 2 })).leases
  run.clock.nowMs = lateByAMoment!.deadlineMs + 4000
  await offer(ann, await ann.finish(lateByAMoment!))
  assert.ok((await verdictOn(run, lateByAMoment!.leaseId)).accepted)
  run.clock.nowMs = late!.deadlineMs + 6000
  assert.is(await refusalOf(offer(ann, await ann.finish(late!))), 'lease_expired')
})

test('a group that is older than the staleness limit is refused and its body not pulled', async ({ open }) => {
  const run = await open({ maxStaleness: 1 })
  const ann = await run.admitted(2)
  const [old, older] = (await ann.ask({ count: 2 })).leases
  await run.coordinator.publish()
  await offer(ann, await ann.finish(old!))
  assert.ok((await verdictOn(run, old!.leaseId)).accepted)
  await run.coordinator.publish()
  const pulls = ann.pulls.length
  await offer(ann, await ann.finish(older!))
  const { accepted, code } = await verdictOn(run, older!.leaseId)
  assert.equal([accepted, code], [false, 'stale_policy'])
  assert.is(ann.pulls.length, pulls)
})

test('a group without reward variance that is not drawn is recorded without a pull, with the announced credit', async ({
  open,
}) => {
  const run = await open({ draws: () => false })
  const ann = await run.admitted(2)
  const lease = await leaseFor(ann)
  const group = await ann.finish(lease, {
    scripts: [
      ['No.', 'No.'],
      ['Never.', 'No.'],
    ],
  })
  await offer(ann, group)
  const { accepted, flat, credit, rewards } = await verdictOn(run, lease.leaseId)
  assert.equal({ accepted, flat, rewards }, { accepted: true, flat: true, rewards: [0, 0] })
  assert.is(credit, (await openGroupAnnouncement(group.sealed, run.swarm.runId)).announcement.tokensGenerated)
  assert.equal(ann.pulls, [])
  assert.equal(run.coordinator.recorder.state.trainable(1), [])
})

test('a forged reward is refused with its code, and the node hears it', async ({ open }) => {
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

test('a body that cannot be pulled is no verdict: offered again, the group is judged', async ({ open }) => {
  const run = await open()
  const ann = await run.admitted(2)
  const lease = await leaseFor(ann)
  const group = await ann.finish(lease)
  ann.serve = async () => null
  await offer(ann, group)
  await run.coordinator.intake.idle()
  assert.is(ann.pulls.length, 1)
  assert.is(run.eventsOf('judged').length, 0)
  ann.serve = async () => new Uint8Array([...group.body.subarray(1), 0])
  await offer(ann, group)
  await run.coordinator.intake.idle()
  assert.is(run.eventsOf('judged').length, 0)
  ann.serve = async () => group.body
  await offer(ann, group)
  assert.ok((await verdictOn(run, lease.leaseId)).accepted)
})

test('a node that delivers slowly holds up no other, and its own groups only up to a bound', async ({ open }) => {
  const run = await open({ batchGroups: 10, leases: { durationMs: 60_000, perNode: 1 } })
  const [slow, ben] = [await run.admitted(2), await run.admitted(3)]
  const stalled = Promise.withResolvers<null>()
  slow.serve = () => stalled.promise
  await offer(slow, await slow.finish(await leaseFor(slow)))
  await eventually('the pull', () => slow.pulls.length === 1)
  // A node that forgets a lease gets another when a version is out; that must not make room for more of its groups.
  await run.coordinator.publish()
  assert.is(await refusalOf(offer(slow, await slow.finish(await leaseFor(slow)))), 'overloaded')
  const lease = await leaseFor(ben)
  await offer(ben, await ben.finish(lease))
  assert.ok((await verdictOn(run, lease.leaseId)).accepted)
  assert.is(slow.pulls.length, 1)
  stalled.resolve(null)
})

test('judging that a stop interrupts leaves no verdict, and goes on after the restart', async ({ open }) => {
  const run = await open()
  const ann = await run.admitted(2)
  const lease = await leaseFor(ann)
  const group = await ann.finish(lease)
  const stalled = Promise.withResolvers<null>()
  ann.serve = () => stalled.promise
  await offer(ann, group)
  await eventually('the pull', () => ann.pulls.length === 1)
  await run.restart()
  assert.is(run.eventsOf('judged').length, 0)
  stalled.resolve(null)
  ann.serve = async () => group.body
  await connect(ann, run.coordinator.node)
  await offer(ann, group)
  assert.ok((await verdictOn(run, lease.leaseId)).accepted)
})

test('the outbox hands a group over itself when gossip has no listener', async ({ open }) => {
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

test('unsent groups survive a restart of the node and are sent then', async ({ open }) => {
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

test('the outbox drops what is finally refused, says so, and goes on with the others', async ({ open }) => {
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

test('a group that is not taken now is offered again, and the others do not wait for it', async ({ open }) => {
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
  await eventually(
    'it was turned down',
    () => run.coordinator.node.refusals.some(({ code }) => code === 'overloaded'),
    10_000,
  )
  assert.equal(outbox.waiting, [second.leaseId])
  stalled.resolve(null)
  await eventually('the verdict', () => verdicts.length === 1)
  assert.is(verdicts[0]!.leaseId, second.leaseId)
  assert.equal(dropped, [])
})

test('a node’s ledger goes on after restarts of both sides, every verdict in it once', async ({ open }) => {
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
  assert.equal(await ann.store.addVerdicts(7, [verdict]), [])
  assert.equal(await ann.store.verdicts(), [verdict])
})

test('a later verdict on the same group is told with the one it replaces, and both stay on record', async ({
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
  const told: (readonly [Verdict, Verdict | null])[] = []
  const outbox = await openOutbox({
    host: ann.host,
    coordinator: ann.host.runId,
    store: ann.store,
    onVerdict: (verdict, earlier) => told.push([verdict, earlier]),
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
  await eventually('the first verdict', () => told.length === 1)
  ledger.push(given('sampler_mismatch', 2))
  await eventually('the second', () => told.length === 2)
  assert.equal(told, [
    [ledger[0]!, null],
    [ledger[1]!, ledger[0]!],
  ])
  assert.equal(await ann.store.verdicts(), ledger)
  assert.equal(await ann.store.verdictOn(leaseId), ledger[1])
})

test('a node sees its own verdicts only', async ({ open }) => {
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
