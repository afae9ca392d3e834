import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { scalarsOf } from '../../../coordinator/commands/export.js'
import { ABSENCE_REASONS } from '../../../coordinator/ledger/events.js'
import { Orders } from '../../../coordinator/ledger/orders.js'
import { ALARM_LIMITS, alarmsOf } from '../../../coordinator/report/alarms.js'
import type { RunReport } from '../../../coordinator/report/run-report.js'
import type { VersionReport } from '../../../coordinator/report/version-report.js'
import { CONFIGURATION } from '../../support/run-events.js'

const healthy: VersionReport = {
  ...{ version: 0, publishedAtMs: 0, adapterSha256: '', skipped: false, stats: {}, tokens: 0 },
  ...{ skippedFor: null, withdrawn: false, heldOut: null, step: null, staleness: null, parts: {} },
  ...{ accepted: ALARM_LIMITS.groups, zeroVariance: 4, refused: 1, left: {}, reward: 0.9, solved: 0.5, calls: 3 },
}

const run = (versions: readonly Partial<VersionReport>[], refused: Record<string, number> = {}): RunReport => {
  const reports = versions.map((change, version) => ({ ...healthy, version, ...change }))
  return {
    ...{
      configuration: undefined,
      rehearsal: null,
      startedAtMs: 0,
      lastEventAtMs: 0,
      versions: reports,
      round: 0,
      keys: 3,
      openLeases: 0,
    },
    ...{ accepted: reports.reduce((sum, { accepted }) => sum + accepted, 0), zeroVariance: 0, tokens: 0 },
    ...{ refused: new Map(Object.entries(refused)) as RunReport['refused'], refusedBatches: [] },
    ...{ quarantinedEnvironments: [], orders: new Orders(), unattended: null, strain: null, pendingBatch: null, completeAtMs: null },
    ...{ audits: { passed: 0, failed: 0 }, doubtedGroups: 0 },
  }
}

const codes = (report: RunReport): string[] => alarmsOf(report).map(({ code }) => code)
const times = (count: number, change: Partial<VersionReport> = {}): Partial<VersionReport>[] =>
  Array.from({ length: count }, () => change)

test('a run that learns gives no alarm, and neither does one that has hardly begun', () => {
  assert.equal(codes(run(times(12))), [])
  assert.equal(codes(run([])), [])
  assert.equal(codes(run(times(1, { accepted: ALARM_LIMITS.groups - 1, zeroVariance: 15, solved: 0 }))), [])
})

test('rewards around nothing, tasks that never vary and refusals are each said', () => {
  assert.equal(codes(run(times(2, { solved: 0 }))), ['nothing_solved'])
  assert.equal(codes(run(times(2, { zeroVariance: 15 }))), ['mostly_zero_variance'])
  assert.equal(codes(run(times(1), { stale_policy: 8, reward_mismatch: 2 })), ['mostly_refused'])
  assert.match(
    alarmsOf(run(times(1), { stale_policy: 8, reward_mismatch: 2 }))[0]!.text,
    /10 of 26 .* 8 of them as stale_policy/,
  )
})

const ABSENCE: NonNullable<RunReport['unattended']> = {
  type: 'unattended',
  ...{ atMs: 0, version: 3 },
  causes: [
    { reason: 'canary_failed', nodes: 2, detail: 'canary 0 on cpu: 0.0143 nats off on average' },
    { reason: 'disconnected', nodes: 1, detail: '' },
  ],
}

test('a run without volunteers is said with the causes that they reported, and with what to type', () => {
  const alone = { ...run(times(4)), unattended: ABSENCE, configuration: { ...CONFIGURATION, versions: 12 } }
  const [alarm] = alarmsOf(alone)
  assert.is(alarm!.code, 'no_volunteers')
  assert.match(
    alarm!.text,
    /^no volunteer is at work on version 3 since .*: 2 left with canary_failed \(canary 0 on cpu: .*\); 1 disconnected without a reason\. What to do: .*prove-lab calibrate .*prove-coordinator rollback 2$/,
  )
  assert.match(alarmsOf({ ...alone, unattended: { ...ABSENCE, causes: [] } })[0]!.text, /prove-coordinator invitation$/)
  for (const reason of ABSENCE_REASONS) {
    const { text } = alarmsOf({ ...alone, unattended: { ...ABSENCE, causes: [{ reason, nodes: 1, detail: '' }] } })[0]!
    assert.match(text, /What to do: [a-z].{20}/, reason)
  }
})

test('a run that is complete or paused needs no volunteers', () => {
  const alone = { ...run(times(4)), unattended: ABSENCE, configuration: { ...CONFIGURATION, versions: 3 } }
  assert.equal(codes(alone), [])
  const orders = new Orders()
  orders.apply({ type: 'paused', atMs: 0, by: { who: 'operator', via: 'token' }, reason: null })
  assert.equal(codes({ ...alone, orders, configuration: { ...CONFIGURATION, versions: 12 } }), [])
})

test('what was solved long ago does not hide that nothing is solved any more', () => {
  assert.equal(codes(run([...times(6), ...times(2, { solved: 0 })])), ['nothing_solved'])
})

test('a policy that stands still, falls, or makes ever more calls is said', () => {
  assert.equal(codes(run([...times(3), ...times(3, { skipped: true })])), ['steps_skipped'])
  assert.equal(codes(run([...times(3), ...times(2, { skipped: true })])), [])
  assert.equal(codes(run([...times(4), ...times(4, { reward: 0.7 })])), ['reward_falls'])
  const below = (reward: number) => codes(run([...times(4, { reward: -0.3 }), ...times(4, { reward })]))
  assert.equal([below(-0.28), below(-0.4)], [['little_reward'], ['little_reward', 'reward_falls']])
  assert.equal(codes(run([...times(4, { calls: 3 }), ...times(4, { calls: 5.6 })])), ['calls_run_away'])
})

const REHEARSAL: NonNullable<RunReport['rehearsal']> = {
  ...{ type: 'rehearsed', atMs: 0, groups: 8, zeroVariance: 2, rollouts: 64, solved: 20, reward: 0.8, calls: 200 },
  ...{ callsDue: 150, asked: 56, silent: 2, cut: 4, sampledTokens: 9000, isWhole: true },
}
const rehearsed = (change: Partial<typeof REHEARSAL>, versions: readonly Partial<VersionReport>[] = []): RunReport => ({
  ...run(versions),
  rehearsal: { ...REHEARSAL, ...change },
})

test('a dry run says what is wrong before anybody has worked', () => {
  assert.equal(codes(rehearsed({})), [])
  assert.equal(codes(rehearsed({ solved: 0, reward: 0.02, zeroVariance: 8, silent: 50 })), [
    ...['nothing_solved', 'no_calls', 'little_reward', 'mostly_zero_variance'],
  ])
  assert.equal(codes(rehearsed({ calls: 1400 })), ['calls_run_away'])
  assert.equal(codes(rehearsed({ cut: 30 })), ['rollouts_cut'])
})

test('a dry run that was cut short says nothing, and none does once volunteers have said more', () => {
  const bad = { solved: 0, reward: 0.02, zeroVariance: 5, silent: 50, cut: 60 }
  assert.equal(codes(rehearsed({ ...bad, groups: 5 })), [])
  assert.equal(codes(rehearsed({ ...bad, zeroVariance: 8 }, times(1))), [])
  assert.ok(codes(rehearsed(bad, times(1, { accepted: ALARM_LIMITS.groups - 1 }))).includes('nothing_solved'))
})

test('rewards around nothing are said of volunteers’ groups too', () => {
  assert.equal(codes(run(times(2, { reward: 0.05 }))), ['little_reward'])
})

test('a learning rate is held against the size of the model', () => {
  const configuration = (parameters: number, lr: number): RunReport => {
    const base = { ...CONFIGURATION.base, parameters }
    return { ...run(times(1)), configuration: { ...CONFIGURATION, base, training: { optimizer: { lr } } } }
  }
  assert.equal(codes(configuration(4e9, 1e-3)), ['learning_rate'])
  assert.equal(codes(configuration(4e9, 1e-7)), ['learning_rate'])
  assert.equal(codes(configuration(4e9, 1e-4)), [])
  assert.equal(codes(configuration(5e6, 1e-3)), [])
  assert.equal(codes({ ...run(times(1)), configuration: CONFIGURATION }), [], 'earlier terms do not say the size')
})

test('the curves of a version contain its numbers by name, without unknown ones', () => {
  const { step, wallTime, values } = scalarsOf({
    ...healthy,
    version: 3,
    publishedAtMs: 1500,
    parts: { name: 0.2 },
    solved: null,
    stats: { loss: -1 },
  })
  assert.equal([step, wallTime], [3, 1.5])
  assert.equal([values.get('policy/reward'), values.get('reward/name'), values.get('step/loss')], [0.9, 0.2, -1])
  assert.not.ok(values.has('policy/solved'))
})

test.run()
