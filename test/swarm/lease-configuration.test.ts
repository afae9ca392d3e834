import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { nodesText } from '../../coordinator/commands/nodes.js'
import { NodesTally } from '../../coordinator/report/node-report.js'
import { type Lease, LIMITS } from '../../proto/index.js'
import { offerGroup, requestLeases } from '../../swarm/index.js'
import { connect, eventually, soon } from '../support/swarm-nodes.js'
import type { Volunteer } from '../support/test-run.js'
import { court, deliver } from './court.js'
import { runSuite } from './run-suite.js'

const { test } = runSuite('who gets leases', { batchGroups: 50 })

test('a new key gets no lease before a round that was opened after it came, and its coming opens one', async ({
  open,
}) => {
  const run = await open()
  const ann = await run.volunteer(2)
  const first = await ann.ask()
  assert.equal([first.leases.length, first.reason], [0, 'not_registered'])
  const { publisher, snapshots } = run.coordinator
  const before = snapshots.newest()!
  await publisher.openRound()
  assert.is(snapshots.newest(), before, 'not at once: many keys share a round')
  run.clock.nowMs += 1
  await publisher.openRound()
  const { manifest } = snapshots.newest()!
  assert.equal([manifest.version, manifest.round, manifest.policyId], [0, 1, before.manifest.policyId])
  assert.equal(
    manifest.closedRounds.map(({ round }) => round),
    [0],
  )
  assert.is((await ann.ask()).leases.length, 1)
  run.clock.nowMs += 60_000
  await publisher.openRound()
  assert.is(snapshots.newest()!.manifest, manifest, 'nobody waits')
})

test('a lease that is forgotten, given back or left to lapse comes back: there is no other task to be had', async ({
  open,
}) => {
  const run = await open({ leases: { durationMs: 1000, perNode: 1 } })
  const ann = await run.admitted(2)
  const seen = new Set<string>()
  for (let i = 0; i < 6; i++) {
    const [lease] = (await ann.ask()).leases
    seen.add(`${lease!.leaseId} ${lease!.taskId} ${lease!.seed}`)
    if (i % 2 === 1) run.clock.nowMs += 1001
    await run.coordinator.leases.releaseLapsed()
  }
  assert.is(seen.size, 1)
  await run.admitted(3)
  assert.is((await ann.ask()).leases[0]!.leaseId, [...seen][0]!.split(' ')[0], 'a further round is no way out')
})

test('strangers that come one by one do not fill the disk with manifests', async ({ open }) => {
  const run = await open()
  const { recorder, publisher } = run.coordinator
  for (let i = 0; i < LIMITS.manifestsServed.value + 8; i++) {
    await recorder.record(({ round }) => ({ type: 'registered', atMs: 0, node: `stranger ${i}`, round: round!.round }))
    run.clock.nowMs += 1
    await publisher.openRound()
  }
  const { round } = recorder.state.round!
  assert.is(round, LIMITS.manifestsServed.value + 8)
  const files = await readdir(join(run.folder, 'manifests'))
  assert.is(files.length, LIMITS.manifestsServed.value)
  await run.restart()
  assert.is(run.coordinator.snapshots.newest()!.manifest.round, round)
})

test('a key that takes leases and forgets them leaves few records, and gets its lease again after a while', async ({
  open,
}) => {
  const run = await open({ leases: { durationMs: 600_000, perNode: 1 } })
  const ann = await run.admitted(2)
  const reasons: (string | null)[] = []
  for (let i = 0; i < 40; i++) reasons.push((await ann.ask()).reason)
  assert.is(reasons.at(-1), 'rate_limited')
  assert.ok(run.eventsOf('leased').length < 20, String(run.eventsOf('leased').length))
  assert.ok(run.eventsOf('released').length < 20, String(run.eventsOf('released').length))
  run.clock.nowMs += 5000
  assert.is((await ann.ask()).leases.length, 1)
})

test('a lease that is worked on is renewed, by its owner, while its group is of use, and not for ever', async ({
  open,
}) => {
  const run = await open({ maxStaleness: 0, leases: { durationMs: 1000, perNode: 1 } })
  const ann = await run.admitted(2)
  const ben = await run.admitted(3)
  const renewed = async (node: Volunteer, lease: Lease) => {
    const request = { kind: 'renew', leaseIds: [lease.leaseId] } as const
    const [answer] = (await requestLeases(node.host, run.swarm.runId, request, soon())).renewed
    return answer ? answer.deadlineMs - startMs : null
  }
  const startMs = run.clock.nowMs
  const [lease] = (await ann.ask()).leases
  assert.is(await renewed(ben, lease!), null)
  assert.is(await renewed(ann, lease!), 1000, 'too soon for a record')
  const deadlines: (number | null)[] = []
  for (let turn = 0; turn < 8; turn++) {
    run.clock.nowMs += 500
    await run.coordinator.leases.releaseLapsed()
    deadlines.push(await renewed(ann, lease!))
  }
  assert.equal(deadlines, [1500, 2000, 2500, 3000, 3500, 4000, 4000, null])
  assert.is(run.eventsOf('renewed').length, 6)
  run.clock.nowMs += 1
  await run.coordinator.leases.releaseLapsed()
  assert.equal(
    run.eventsOf('released').map(({ reason }) => reason),
    ['lapsed'],
  )
  const [again] = (await ann.ask()).leases
  run.clock.nowMs += 500
  await run.coordinator.publish()
  assert.is(await renewed(ann, again!), again!.deadlineMs - startMs, 'a group for it would be stale')
})

test('a group of a renewed lease gets a verdict after the first deadline, and after a restart', async ({ open }) => {
  const run = await open({ leases: { durationMs: 1000, perNode: 1 } })
  const ann = await run.admitted(2)
  const [lease] = (await ann.ask()).leases
  for (let turn = 0; turn < 6; turn++) {
    run.clock.nowMs += 500
    const request = { kind: 'renew', leaseIds: [lease!.leaseId] } as const
    await requestLeases(ann.host, run.swarm.runId, request, soon())
  }
  await run.restart()
  run.clock.nowMs = run.coordinator.recorder.state.leases.get(lease!.leaseId)!.deadlineMs
  assert.ok(run.clock.nowMs > lease!.deadlineMs)
  await connect(ann, run.coordinator.node)
  const group = await ann.finish(lease!)
  await offerGroup(ann.host, run.swarm.runId, group.sealed, soon())
  await eventually('the verdict', () => run.coordinator.recorder.state.judged.has(lease!.leaseId))
  assert.ok(run.coordinator.recorder.state.judged.get(lease!.leaseId)!.accepted)
})

test('how fast a node has delivered is in the operator’s table, and makes its next lease as long as it needs', async ({
  open,
}) => {
  const run = await open({ leases: { durationMs: 1000, perNode: 1 } })
  const [ann, ben] = [await run.admitted(2), await run.admitted(3)]
  const [lease] = (await ann.ask()).leases
  run.clock.nowMs += 900
  const group = await ann.finish(lease!)
  await offerGroup(ann.host, run.swarm.runId, group.sealed, soon())
  await eventually('the verdict', () => run.coordinator.recorder.state.judged.has(lease!.leaseId))
  const [judged] = run.eventsOf('judged')
  const tally = new NodesTally()
  for (const event of run.events) tally.add(event)
  const reports = tally.report(run.clock.nowMs)
  const pace = judged!.sampledTokens / 0.9
  assert.ok(pace > 0)
  assert.equal(
    reports.map((report) => report.deliveredTokensPerSecond),
    [pace, null],
  )
  assert.ok(nodesText(reports, run.clock.nowMs).includes(` ${pace.toFixed(1)} `), nodesText(reports, run.clock.nowMs))
  const termOf = async (node: Volunteer) => (await node.ask()).leases[0]!.deadlineMs - run.clock.nowMs
  assert.is(await termOf(ann), 1350, 'half as long again as a usual group takes it')
  assert.is(await termOf(ben), 1000, 'who has shown nothing yet')
})

test('keys that hold leases without delivering leave half of the capacity to those that deliver', async ({ open }) => {
  const run = await open({ batchGroups: 4, maxStaleness: 1, leases: { durationMs: 1000, perNode: 8 } })
  const hoarder = await run.admitted(2)
  const ann = await run.admitted(3)
  assert.is((await hoarder.ask({ count: 8 })).leases.length, 4, 'nobody has shown anything yet: as many as are left')
  const eve = await run.admitted(4)
  assert.is((await eve.ask({ count: 8 })).leases.length, 1, 'beside them a newcomer has its first one, and no more')
  run.clock.nowMs += 1001
  await run.coordinator.leases.releaseLapsed()
  const { leases, reason } = await hoarder.ask({ count: 8 })
  assert.equal([leases.length, reason], [2, 'no_work'])
  await deliver(run, ann)
  assert.is(
    (await ann.ask({ count: 8 })).leases.length,
    7,
    'as many as one key may supply: of a key whose block abandons leases, each counts as a part',
  )
  const stranger = await run.admitted(4)
  assert.is((await stranger.ask()).reason, 'no_work')
})

test('nodes that cannot be audited get no leases, and hear why', async ({ open }) => {
  const run = await open({ auditor: court() })
  const ann = await run.admitted(2)
  assert.is((await ann.ask({ backend: 'abacus' })).reason, 'uncalibrated')
  assert.is((await ann.ask()).leases.length, 1)
})

test.run()
