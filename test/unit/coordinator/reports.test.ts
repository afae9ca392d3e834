import * as fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { listText } from '../../../coordinator/commands/groups.js'
import { nodesText } from '../../../coordinator/commands/nodes.js'
import { statusText } from '../../../coordinator/commands/status.js'
import type { EventOf, RunEvent } from '../../../coordinator/ledger/events.js'
import { publicEvent } from '../../../coordinator/ledger/public-event.js'
import { RunReducer } from '../../../coordinator/ledger/run-reducer.js'
import { GroupsTally } from '../../../coordinator/report/group-report.js'
import { NodesTally } from '../../../coordinator/report/node-report.js'
import { RunTally } from '../../../coordinator/report/run-report.js'
import { numberOf } from '../../../coordinator/report/words.js'
import { randomLogs } from '../../support/random-logs.js'
import { agreed, hex, judged, leased, published, trained } from '../../support/run-events.js'

const NODES = ['ann', 'ben', 'cleo', 'dora']
const registered = NODES.map((node): RunEvent => ({ type: 'registered', atMs: 0, node, round: 0 }))
const logs = randomLogs.map((log): RunEvent[] => [agreed(), ...registered, ...log])

const of = <T extends RunEvent['type']>(log: readonly RunEvent[], type: T): EventOf<T>[] =>
  log.filter((event) => event.type === type) as unknown as EventOf<T>[]

function tallied<T extends { add(event: RunEvent): void }>(tally: T, log: readonly RunEvent[]): T {
  for (const event of log) tally.add(event)
  return tally
}

const mean = (values: readonly number[]): number | null =>
  values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length

test('a number that rounds to nothing has no sign', () => {
  assert.equal(
    [numberOf(-0.00004, 4), numberOf(-0.04, 1), numberOf(-0.06, 1), numberOf(null)],
    ['0.0000', '0.0', '-0.1', '-'],
  )
})

test('the report of a run counts what its log holds, and what a later audit refused counts as refused', () => {
  fc.assert(
    fc.property(logs, (log) => {
      const report = tallied(new RunTally(), log).report()
      const takenBack = new Set(of(log, 'audited').flatMap(({ accepted, leaseId }) => (accepted ? [] : [leaseId])))
      const groups = of(log, 'judged')
      const kept = groups.filter(({ accepted, leaseId }) => accepted && !takenBack.has(leaseId))
      assert.is(report.accepted, kept.length)
      const refused = [...report.refused.values()].reduce((sum, count) => sum + count, 0)
      assert.is(refused, groups.length - kept.length)
      const reducer = new RunReducer()
      for (const event of log) reducer.apply(event)
      assert.is(report.openLeases, reducer.openLeases.size)
      assert.is(report.pendingBatch, reducer.pendingBatch?.batchId ?? null)
      for (const { version, accepted, reward } of report.versions) {
        const own = kept.filter((group) => group.version === version)
        assert.is(accepted, own.length)
        const expected = mean(own.flatMap(({ rewards }) => rewards))
        if (expected === null) assert.is(reward, null)
        else assert.ok(Math.abs(reward! - expected) < 1e-9)
      }
      statusText(report, true, 1e6)
    }),
  )
})

test('the report of the keys gives each its own groups, and the credit that the run owes it', () => {
  fc.assert(
    fc.property(logs, (log) => {
      const reducer = new RunReducer()
      for (const event of log) reducer.apply(event)
      const reports = tallied(new NodesTally(), log).report(1e6)
      assert.equal(reports.map(({ node }) => node).sort(), NODES)
      for (const { node, accepted, refused, credit } of reports) {
        const groups = of(log, 'judged').filter((group) => group.node === node)
        assert.is(accepted + [...refused.values()].reduce((sum, count) => sum + count, 0), groups.length)
        assert.is(credit, reducer.nodes.get(node)?.credit ?? 0)
      }
      nodesText(reports, 1e6)
    }),
  )
})

test('the report of keys shows the program of each, also before its first lease', () => {
  const log: RunEvent[] = [
    agreed(),
    { type: 'registered', atMs: 0, node: 'ann', round: 0, agent: 'prove-node/0.1.0' },
    { type: 'registered', atMs: 0, node: 'ben', round: 0, agent: 'prove-node/0.1.0' },
    published(0),
    leased('a', 'ben', 0, { agent: 'prove-node/0.2.0' }),
  ]
  const reports = tallied(new NodesTally(), log).report(1e6)
  assert.equal(new Set(reports.map(({ agent }) => agent)), new Set(['prove-node/0.1.0', 'prove-node/0.2.0']))
  assert.match(nodesText(reports, 1e6), /prove-node\/0\.2\.0/)
})

test('the report of keys shows the speed that determines their leases, for keys with timed groups', () => {
  const log: RunEvent[] = [
    agreed(),
    ...['ann', 'ben'].map((node): RunEvent => ({ type: 'registered', atMs: 0, node, round: 0 })),
    published(0),
    leased('a', 'ann', 0),
    judged('a', 'ann', 0, { sampledTokens: 500, tookMs: 4000 }),
    leased('b', 'ben', 0),
    judged('b', 'ben', 0, { sampledTokens: 500 }),
  ]
  const reports = tallied(new NodesTally(), log).report(1e6)
  assert.equal(
    new Map(reports.map(({ node, deliveredTokensPerSecond }) => [node, deliveredTokensPerSecond])),
    new Map([
      ['ann', 125],
      ['ben', null],
    ]),
  )
  const [header, ...lines] = nodesText(reports, 1e6).split('\n')
  const shown = (node: string): string | undefined => {
    const line = lines.find((text) => text.startsWith(node))!
    const end = header!.indexOf('tokens/s') + 'tokens/s'.length
    return line.slice(0, end).split(/ +/).at(-1)
  }
  assert.equal([shown('ann'), shown('ben')], ['125.0', '-'])
})

test('the report of a group names the batches it was in and what became of them', () => {
  fc.assert(
    fc.property(logs, (log) => {
      const tally = tallied(new GroupsTally(), log)
      const trainedBatches = new Set(of(log, 'trained').map(({ batchId }) => batchId))
      for (const { batchId, leaseIds } of of(log, 'batched'))
        for (const leaseId of leaseIds) {
          const [group] = tally.find(leaseId).filter(({ lease }) => lease.leaseId === leaseId)
          const found = group!.batches.find((batch) => batch.batchId === batchId)
          assert.is(found!.outcome === 'trained', trainedBatches.has(batchId))
        }
      listText([...tally.reports()].filter(({ verdict }) => verdict !== null))
    }),
  )
})

test('a forecast goes by the time that the newest versions took, and a complete run has none', () => {
  const tally = new RunTally()
  tally.add(agreed({ versions: 3 }))
  for (const version of [0, 1, 2]) tally.add(published(version, { atMs: 1000 * version }))
  assert.is(tally.report().completeAtMs, 3000)
  tally.add(published(3, { atMs: 9000 }))
  const report = tally.report()
  assert.is(report.completeAtMs, null)
  assert.match(statusText(report, false, 10_000), /no coordinator is running; the last event was 1s ago/)
  assert.match(statusText(report, false, 10_000), /the run is complete/)
})

test('a status shows the numbers of the step that made a version', () => {
  const log: RunEvent[] = [
    ...[agreed(), ...registered, published(0), leased('a', 'ann', 0), judged('a', 'ann', 0), published(1)],
    { ...trained('batch', 1), stats: { loss: 0.1234, mismatchKl: 0.01, gradNorm: 2 } },
  ]
  assert.match(statusText(tallied(new RunTally(), log).report(), true, 0), /^1 .*0\.1234 +0\.01000 +2\.000$/m)
})

test('an event that is shown never holds the secret of its round', () => {
  fc.assert(
    fc.property(logs, (log) => {
      assert.ok(JSON.stringify(log).includes(hex(4)))
      assert.not.ok(JSON.stringify(log.map(publicEvent)).includes(hex(4)))
    }),
  )
})

test.run()
