import { join } from 'node:path'
import * as assert from 'uvu/assert'
import type { AuditReport, AuditRequest } from '../../coordinator/intake/auditor.js'
import { listProofs, openProof } from '../../coordinator/intake/proofs.js'
import { TrainerError } from '../../coordinator/jobs/errors.js'
import { type Lease, sha256 } from '../../proto/index.js'
import { offerGroup, requestLeases } from '../../swarm/index.js'
import { NO_LOGIT_ERRORS } from '../support/audit-groups.js'
import { eventually, soon } from '../support/swarm-nodes.js'
import type { TestRun, Volunteer } from '../support/test-run.js'
import { court, deliver, MISMATCH, ownWords, scriptsFor } from './court.js'
import { refusalOf, runSuite } from './run-suite.js'

// What the coordinator makes of audits, copies and lies. What audits find out is decided by the tests here: scripted tokens come
// from no policy that could be recomputed. The real audits are tested in test/proc/audit.test.ts and by the attackers.

const { test } = runSuite('live judging', { batchGroups: 50 })

test('a verdict waits for its audit, and a group that fails it is refused with what was found', async ({ open }) => {
  const auditor = court()
  const run = await open({ auditor })
  const ann = await run.admitted(2)
  const first = await deliver(run, ann)
  assert.equal([first.verdict.accepted, first.verdict.audit], [true, 'passed'])
  auditor.find = () => MISMATCH
  const { verdict } = await deliver(run, ann)
  assert.equal(
    [verdict.accepted, verdict.code, verdict.audit, verdict.detail, verdict.credit],
    [false, 'sampler_mismatch', 'failed', '9 of 20 tokens', 0],
  )
})

test('a group that is not drawn is accepted without an audit, and audited when its node is caught', async ({
  open,
}) => {
  const auditor = court()
  const drawn = new Set<string>()
  const run = await open({ auditor, draws: (body) => drawn.has(body) })
  const ann = await run.admitted(2)
  const ben = await run.admitted(3)
  const trusted = await deliver(run, ann, ['Well.', 'I will not.'])
  const other = await deliver(run, ben, ['Perhaps.', 'Later.'])
  assert.equal(auditor.audited, [])
  auditor.find = ({ leaseId }) => (leaseId === other.lease.leaseId ? null : MISMATCH)
  const { leases } = await ann.ask()
  const lie = await ann.finish(leases[0]!)
  drawn.add(lie.bodySha256)
  await offerGroup(ann.host, run.swarm.runId, lie.sealed, soon())
  await eventually('the refusal', () => run.coordinator.recorder.state.judged.has(lie.leaseId))
  assert.equal([...run.coordinator.recorder.state.suspects.keys()], [trusted.lease.leaseId])
  run.coordinator.intake.auditSuspects()
  await run.coordinator.intake.idle()
  assert.equal(
    run.eventsOf('audited').map(({ leaseId, accepted, code }) => [leaseId, accepted, code]),
    [[trusted.lease.leaseId, false, 'sampler_mismatch']],
  )
  assert.equal(
    run.coordinator.recorder.state.trainable(1).map(({ leaseId }) => leaseId),
    [other.lease.leaseId],
  )
  assert.is(run.coordinator.recorder.state.nodes.get(ann.host.peerId)!.credit, 0)
})

test('while audits do not keep up, groups of keys on probation are audited, and of others those that no training would check', async ({
  open,
}) => {
  const auditor = court()
  const run = await open({
    auditor,
    draws: () => true,
    audit: { calibrations: [], probation: 1, leastShare: 0.1, processes: 1 },
  })
  const ann = await run.admitted(2)
  auditor.isBehind = true
  const [fresh, proven] = [await deliver(run, ann), await deliver(run, ann)]
  const later = await deliver(run, ann)
  assert.equal(auditor.audited, [fresh.lease.leaseId, proven.lease.leaseId])
  assert.equal([later.verdict.accepted, later.verdict.audit], [true, 'none'])
  const [lease] = (await ann.ask()).leases
  const zeroVariance = await ann.finish(lease!, { scripts: [ownWords(), ownWords()] })
  await offerGroup(ann.host, run.swarm.runId, zeroVariance.sealed, soon())
  await eventually('its verdict', () => run.coordinator.recorder.state.judged.has(lease!.leaseId))
  assert.is(auditor.audited.at(-1), lease!.leaseId)
  auditor.isBehind = false
  const { lease: last } = await deliver(run, ann)
  assert.is(auditor.audited.at(-1), last.leaseId)
})

test('suspects survive a restart and are audited then', async ({ open }) => {
  const auditor = court()
  const run = await open({ auditor, draws: () => false })
  const ann = await run.admitted(2)
  const { lease } = await deliver(run, ann)
  const { leases } = await ann.ask()
  const lie = await ann.finish(leases[0]!, { announce: { rewards: [1.3, 1] } })
  await offerGroup(ann.host, run.swarm.runId, lie.sealed, soon())
  await eventually('the refusal', () => run.coordinator.recorder.state.judged.has(lie.leaseId))
  await run.restart()
  run.coordinator.intake.auditSuspects()
  await run.coordinator.intake.idle()
  assert.equal(
    run.eventsOf('audited').map(({ leaseId, accepted }) => [leaseId, accepted]),
    [[lease.leaseId, true]],
  )
})

test('a provable lie excludes its key: no leases and no verdicts any more', async ({ open }) => {
  const run = await open()
  const ann = await run.admitted(2)
  const ben = await run.admitted(3)
  const { leases } = await ann.ask({ count: 2 })
  const lie = await ann.finish(leases[0]!, { announce: { rewards: [1.3, 1] } })
  await offerGroup(ann.host, run.swarm.runId, lie.sealed, soon())
  await eventually('the refusal', () => run.coordinator.recorder.state.judged.has(lie.leaseId))
  assert.is((await ann.ask()).reason, 'quarantined')
  assert.is(
    await refusalOf(offerGroup(ann.host, run.swarm.runId, (await ann.finish(leases[1]!)).sealed, soon())),
    'quarantined',
  )
  assert.is((await ben.ask()).reason, null, 'another key at the same address is not punished')
  run.clock.nowMs += 100 * 24 * 3_600_000
  assert.is((await ann.ask()).reason, 'quarantined')
})

test('of a provable lie the signed announcement and the body are kept, of other groups nothing', async ({ open }) => {
  const run = await open()
  const folder = join(run.folder, 'evidence')
  const ann = await run.admitted(2)
  await deliver(run, ann)
  assert.equal(await listProofs(folder), [])
  const { leases } = await ann.ask()
  const lie = await ann.finish(leases[0]!, { announce: { rewards: [1.3, 1] } })
  await offerGroup(ann.host, run.swarm.runId, lie.sealed, soon())
  await eventually('the refusal', () => run.coordinator.recorder.state.judged.has(lie.leaseId))
  await run.restart()
  assert.equal(
    (await listProofs(folder)).map(({ leaseId }) => leaseId),
    [lie.leaseId],
  )
  const { node, announcement, body } = await openProof(folder, lie.leaseId, run.swarm.runId)
  assert.equal([node, announcement.rewards], [ann.host.peerId, [1.3, 1]])
  assert.is(sha256(body!), lie.bodySha256)
})

test('tokens that came before from another node have to be one’s own draws, or they are a copy', async ({ open }) => {
  const auditor = court()
  const run = await open({ auditor, draws: () => false })
  const words = ['A long and improbable story about a librarian.', 'And how it ended in the end, on a Sunday.']
  const ann = await run.admitted(2)
  const ben = await run.admitted(3)
  const original = await deliver(run, ann, words)
  auditor.find = ({ leaseId }) => (leaseId === original.lease.leaseId ? null : MISMATCH)
  const copy = await sameTask(run, ben, original.lease.taskId, words)
  assert.equal([copy.accepted, copy.code], [false, 'duplicate'])
  assert.ok(run.coordinator.recorder.state.nodes.get(ben.host.peerId)!.reputation.isQuarantined(run.clock.nowMs))
  assert.ok(run.coordinator.recorder.state.accepted.has(original.lease.leaseId))
})

test('a copy that arrives before its victim does not make the victim the copier', async ({ open }) => {
  const auditor = court()
  const run = await open({ auditor, draws: () => false })
  const words = ['A long and improbable story about a librarian.', 'And how it ended in the end, on a Sunday.']
  const thief = await run.admitted(2)
  const victim = await run.admitted(3)
  const copy = await deliver(run, thief, words)
  auditor.find = ({ leaseId }) => (leaseId === copy.lease.leaseId ? MISMATCH : null)
  const original = await sameTask(run, victim, copy.lease.taskId, words)
  assert.equal([original.accepted, original.audit], [true, 'passed'])
  assert.equal(
    run.eventsOf('audited').map(({ leaseId, code }) => [leaseId, code]),
    [[copy.lease.leaseId, 'duplicate']],
  )
  const { nodes } = run.coordinator.recorder.state
  assert.ok(nodes.get(thief.host.peerId)!.reputation.isQuarantined(run.clock.nowMs))
  assert.not(nodes.get(victim.host.peerId)!.reputation.isQuarantined(run.clock.nowMs))
})

/** Delivers groups until the node's lease is about this task, and then one with these words. */
async function sameTask(run: TestRun, node: Volunteer, taskId: string, words: readonly string[]) {
  for (let i = 0; i < 40; i++) {
    const { leases } = await node.ask()
    const [lease] = leases
    assert.ok(lease)
    const own = lease!.taskId === taskId
    const group = await node.finish(lease!, { scripts: scriptsFor(lease!, own ? words : [`Try ${i}.`, 'No.']) })
    await offerGroup(node.host, run.swarm.runId, group.sealed, soon())
    const { judged } = run.coordinator.recorder.state
    await eventually('the verdict', () => judged.has(lease!.leaseId))
    if (own) return judged.get(lease!.leaseId)!
  }
  throw new Error('the task did not come up')
}

test('without audits a copy is known by who came first', async ({ open }) => {
  const run = await open({ draws: () => false })
  const words = ['A long and improbable story about a librarian.', 'And how it ended in the end, on a Sunday.']
  const [ann, ben] = [await run.admitted(2), await run.admitted(3)]
  const original = await deliver(run, ann, words)
  assert.is((await sameTask(run, ben, original.lease.taskId, words)).code, 'duplicate')
})

test('a drawn zero-variance group has to show its body, like any other', async ({ open }) => {
  const auditor = court()
  const run = await open({ auditor, draws: () => true })
  const ann = await run.admitted(2)
  const { leases: before } = await ann.ask()
  const zeroVariance = await ann.finish(before[0]!, {
    scripts: [
      ['No.', 'No.'],
      ['Never.', 'No.'],
    ],
  })
  await offerGroup(ann.host, run.swarm.runId, zeroVariance.sealed, soon())
  await eventually('the verdict', () => run.coordinator.recorder.state.judged.has(zeroVariance.leaseId))
  const verdict = run.coordinator.recorder.state.judged.get(zeroVariance.leaseId)!
  assert.equal([verdict.zeroVariance, verdict.audit, ann.pulls.length], [true, 'passed', 1])
  const { leases } = await ann.ask()
  const lie = await ann.finish(leases[0]!, { announce: { rewards: [0, 0] } })
  await offerGroup(ann.host, run.swarm.runId, lie.sealed, soon())
  await eventually('the refusal', () => run.coordinator.recorder.state.judged.has(lie.leaseId))
  assert.is(run.coordinator.recorder.state.judged.get(lie.leaseId)!.code, 'reward_mismatch')
})

const FLAT_WORDS = [
  ['No.', 'No.'],
  ['Never.', 'No.'],
]

test('a drawn zero-variance group cannot be exchanged for another, and a withheld body costs the groups that were believed before', async ({
  open,
}) => {
  const drawn = new Set<string>()
  const run = await open({ auditor: court(), draws: (body) => drawn.has(body) })
  const { intake, recorder } = run.coordinator
  const ann = await run.admitted(2)
  const offered = async (lease: Lease, nonce: string, isDrawn: boolean) => {
    const group = await ann.finish(lease, { scripts: [FLAT_WORDS[0]!, ['Never.', `No, ${nonce}.`]] })
    if (isDrawn) drawn.add(group.bodySha256)
    await offerGroup(ann.host, run.swarm.runId, group.sealed, soon())
    await intake.idle()
  }
  const credit = (): number => recorder.state.nodes.get(ann.host.peerId)!.credit
  const [seen] = (await ann.ask()).leases
  await offered(seen!, 'seen', true)
  const earned = credit()
  const [believed] = (await ann.ask()).leases
  await offered(believed!, 'believed', false)
  assert.is(credit(), earned, 'what nobody has seen earns nothing')
  const [lease] = (await ann.ask()).leases
  const { serve } = ann
  ann.serve = async () => null
  await offered(lease!, 'one', true)
  assert.is(await refusalOf(offered(lease!, 'another', false)), 'replayed')
  assert.not(recorder.state.judged.has(lease!.leaseId))
  // Nothing is held against a node that can show it later, and nothing is forgotten of one that gives the lease back.
  await requestLeases(
    ann.host,
    run.swarm.runId,
    { kind: 'return', leaseIds: [lease!.leaseId], reason: 'failed' },
    soon(),
  )
  assert.is((await ann.ask()).leases[0]!.leaseId, lease!.leaseId)
  run.clock.nowMs = lease!.deadlineMs + 5001
  intake.auditSuspects()
  await intake.idle()
  assert.is(recorder.state.judged.get(lease!.leaseId)!.code, 'body_withheld')
  intake.auditSuspects()
  await intake.idle()
  assert.is(credit(), earned)
  assert.equal(
    run.eventsOf('audited').map(({ leaseId, code }) => [leaseId, code]),
    [[believed!.leaseId, 'unconfirmed']],
  )
  assert.equal([...recorder.state.suspects], [])
  ann.serve = serve
})

test('a zero-variance group whose body arrives late is verified as if it had arrived at once', async ({ open }) => {
  const run = await open({ auditor: court(), draws: () => true })
  const { intake, recorder } = run.coordinator
  const ann = await run.admitted(2)
  const [lease] = (await ann.ask()).leases
  const group = await ann.finish(lease!, { scripts: FLAT_WORDS })
  const { serve } = ann
  ann.serve = async () => null
  await offerGroup(ann.host, run.swarm.runId, group.sealed, soon())
  await intake.idle()
  ann.serve = serve
  await offerGroup(ann.host, run.swarm.runId, group.sealed, soon())
  await intake.idle()
  run.clock.nowMs = lease!.deadlineMs + 5001
  intake.auditSuspects()
  await intake.idle()
  assert.ok(recorder.state.judged.get(lease!.leaseId)!.accepted)
})

test('a node that hangs up before its verdict keeps its address', async ({ open }) => {
  const auditor = court()
  const run = await open({ auditor })
  const ann = await run.admitted(2)
  const [lease] = (await ann.ask()).leases
  const gone = Promise.withResolvers<AuditReport>()
  auditor.find = () => gone.promise
  const { sealed } = await ann.finish(lease!, { inline: true })
  await offerGroup(ann.host, run.swarm.runId, sealed, soon())
  await eventually('the audit', () => auditor.audited.length === 1)
  await ann.host.hangUp(run.swarm.runId)
  await eventually('it is gone', () => !run.coordinator.node.host.isConnected(ann.host.peerId))
  gone.resolve({ accepted: true, logitErrors: NO_LOGIT_ERRORS })
  await run.coordinator.intake.idle()
  assert.is(run.coordinator.recorder.state.judged.get(lease!.leaseId)!.addressBlock, 'ip4/7f0000')
})

test('waiting groups of unproven nodes leave capacity for those of proven nodes', async ({ open }) => {
  const auditor = court()
  const run = await open({ auditor, batchGroups: 160, leases: { durationMs: 60_000, perNode: 8 } })
  const ann = await run.admitted(2)
  await deliver(run, ann)
  const never = Promise.withResolvers<AuditReport>()
  const isAnns = ({ leaseId }: AuditRequest): boolean =>
    run.coordinator.recorder.state.leases.get(leaseId)!.node === ann.host.peerId
  auditor.find = (request) => (isAnns(request) ? null : never.promise)
  const offerNext = async (stranger: Volunteer, lease: Lease) => {
    const { sealed } = await stranger.finish(lease, {
      scripts: scriptsFor(lease, ownWords()),
      inline: true,
    })
    await offerGroup(stranger.host, run.swarm.runId, sealed, soon())
  }
  for (let seed = 3; seed < 11; seed++) {
    const stranger = await run.admitted(seed)
    for (const lease of (await stranger.ask({ count: 8 })).leases) await offerNext(stranger, lease)
  }
  const last = await run.admitted(11)
  assert.is(await refusalOf(offerNext(last, (await last.ask()).leases[0]!)), 'overloaded')
  assert.ok((await deliver(run, ann)).verdict.accepted)
  never.resolve({ accepted: true, logitErrors: NO_LOGIT_ERRORS })
})

test('when audits fail for good the run stops, and nothing is accepted instead', async ({ open }) => {
  const auditor = court()
  auditor.find = () => Promise.reject(new TrainerError('trainer_failed', 'out of memory'))
  const run = await open({ auditor })
  const ann = await run.admitted(2)
  let failure: unknown
  run.coordinator.failure.catch((why: unknown) => {
    failure = why
  })
  const { leases } = await ann.ask()
  await offerGroup(ann.host, run.swarm.runId, (await ann.finish(leases[0]!)).sealed, soon())
  await eventually('the failure', () => failure instanceof TrainerError)
  assert.equal(run.eventsOf('judged'), [])
})

test.run()
