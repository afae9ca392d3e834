import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Orders } from '../../../coordinator/ledger/orders.js'
import { ALARM_LIMITS, alarmsOf } from '../../../coordinator/report/alarms.js'
import type { RunReport } from '../../../coordinator/report/run-report.js'
import type { VersionReport } from '../../../coordinator/report/version-report.js'

const healthy: VersionReport = {
  ...{ version: 0, publishedAtMs: 0, adapterSha256: '', skipped: false, stats: {}, tokens: 0 },
  ...{ skippedFor: null, withdrawn: false, step: null, staleness: null, parts: {} },
  ...{ accepted: ALARM_LIMITS.groups, flat: 4, refused: 1, reward: 0.9, solved: 0.5, calls: 3 },
}

const run = (versions: readonly Partial<VersionReport>[], refused: Record<string, number> = {}): RunReport => {
  const reports = versions.map((change, version) => ({ ...healthy, version, ...change }))
  return {
    ...{ terms: undefined, startedAtMs: 0, lastEventAtMs: 0, versions: reports, round: 0, keys: 3, openLeases: 0 },
    ...{ accepted: reports.reduce((sum, { accepted }) => sum + accepted, 0), flat: 0, tokens: 0 },
    ...{ refused: new Map(Object.entries(refused)) as RunReport['refused'], refusedBatches: [] },
    ...{ quarantinedWorlds: [], orders: new Orders(), pendingBatch: null, completeAtMs: null },
    ...{ audits: { passed: 0, failed: 0 }, doubtedGroups: 0 },
  }
}

const codes = (report: RunReport): string[] => alarmsOf(report).map(({ code }) => code)
const times = (count: number, change: Partial<VersionReport> = {}): Partial<VersionReport>[] =>
  Array.from({ length: count }, () => change)

test('a run that learns gives no alarm, and neither does one that has hardly begun', () => {
  assert.equal(codes(run(times(12))), [])
  assert.equal(codes(run([])), [])
  assert.equal(codes(run(times(1, { accepted: ALARM_LIMITS.groups - 1, flat: 15, solved: 0 }))), [])
})

test('rewards around nothing, tasks that never vary and refusals are each said', () => {
  assert.equal(codes(run(times(2, { solved: 0 }))), ['nothing_solved'])
  assert.equal(codes(run(times(2, { flat: 15 }))), ['mostly_flat'])
  assert.equal(codes(run(times(1), { stale_policy: 8, reward_mismatch: 2 })), ['mostly_refused'])
  assert.match(
    alarmsOf(run(times(1), { stale_policy: 8, reward_mismatch: 2 }))[0]!.text,
    /10 of 26 .* 8 of them as stale_policy/,
  )
})

test('what was solved long ago does not hide that nothing is solved any more', () => {
  assert.equal(codes(run([...times(6), ...times(2, { solved: 0 })])), ['nothing_solved'])
})

test('a policy that stands still, falls, or makes ever more calls is said', () => {
  assert.equal(codes(run([...times(3), ...times(3, { skipped: true })])), ['steps_skipped'])
  assert.equal(codes(run([...times(3), ...times(2, { skipped: true })])), [])
  assert.equal(codes(run([...times(4), ...times(4, { reward: 0.7 })])), ['reward_falls'])
  assert.equal(codes(run([...times(4, { calls: 3 }), ...times(4, { calls: 5.6 })])), ['calls_run_away'])
})

test.run()
