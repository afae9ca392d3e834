import '../../../swarm/polyfill.js'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { progressLine } from '../../../coordinator/commands/progress-line.js'
import { statusText } from '../../../coordinator/commands/status.js'
import type { EventOf, RunEvent } from '../../../coordinator/ledger/events.js'
import { openRecorder } from '../../../coordinator/ledger/recorder.js'
import { RunReducer } from '../../../coordinator/ledger/run-reducer.js'
import { alarmsOf } from '../../../coordinator/report/alarms.js'
import { LiveReport } from '../../../coordinator/report/live-report.js'
import { createStrainWatch } from '../../../coordinator/service/strain-watch.js'
import { watchAlarms } from '../../../coordinator/service/watch-alarms.js'
import { createServing } from '../../../swarm/serving.js'
import { memoryLog } from '../../support/memory-log.js'
import { createMovedClock } from '../../support/moved-clock.js'
import { agreed, judged, leased, published } from '../../support/run-events.js'

const MINUTE_MS = 60_000

async function openRun() {
  const clock = createMovedClock()
  const log: RunEvent[] = [
    agreed({ versions: 9, maxStaleness: 8, batchGroups: 1000 }),
    published(0),
    { type: 'registered', atMs: 0, node: 'ann', round: 0, agent: 'test/1' },
  ]
  const report = new LiveReport()
  for (const event of log) report.add(event)
  const alarms: string[] = []
  watchAlarms(report, ({ code, text }) => alarms.push(`${code}: ${text}`))
  const recorder = await openRecorder(memoryLog(log), () => undefined)
  const events: RunEvent[] = []
  recorder.listen((event) => {
    report.add(event)
    if (event.type === 'strained' || event.type === 'relieved') events.push(event)
  })
  const serving = createServing({ clock, runId: 'run', connections: () => [] })
  const run = { peers: 12, groupsPerMinute: 24, isBusy: false, hasCapacity: true, isAuditBehind: false }
  const watch = createStrainWatch({
    host: {
      clock,
      serving,
    },
    recorder,
    peers: () => run.peers,
    capacity: () => (run.hasCapacity ? 8 : 0),
    isAuditBehind: () => run.isAuditBehind,
    signal: new AbortController().signal,
  })
  let groups = 0
  let due = 0
  const pass = async (ms: number): Promise<void> => {
    for (let second = 0; second < ms / 1000; second++) {
      clock.advance(1000)
      due += run.groupsPerMinute / 60
      for (; due >= 1; due--) {
        const leaseId = `lease-${groups++}`
        await recorder.record(() => leased(leaseId, 'ann', 0))
        await recorder.record(() => judged(leaseId, 'ann', 0, { zeroVariance: true }))
      }
      if (run.isBusy)
        serving.crowded('/prove/snapshot/2', () => ({
          ...{ streams: 256, block: 'ip4/cb0071', ofBlock: 240, keysOfBlock: 34 },
        }))
      await watch.look()
    }
  }
  return { run, pass, events, alarms, report, recorder, clock }
}

const typesOf = (events: readonly RunEvent[]): string[] => events.map(({ type }) => type)

test('groups that stop raise an alarm within a minute on every surface, and it ends when they are back', async () => {
  const { run, pass, events, alarms, report, recorder, clock } = await openRun()
  await pass(5 * MINUTE_MS)
  assert.equal(events, [])
  run.groupsPerMinute = 0
  await pass(MINUTE_MS)
  assert.equal(typesOf(events), ['strained'])
  const stated = alarms.filter((alarm) => alarm.startsWith('strained'))
  assert.is(stated.length, 1)
  assert.match(
    stated[0]!,
    /^strained: since .* only \d\.\d groups a minute arrive, of 2[0-9]\.\d before: the coordinator sees no cause/,
  )
  assert.match(statusText(report.run.report(), true, clock.now()), /^alarm: since .* groups a minute arrive/m)
  assert.is(RunReducer.of((recorder.state as RunReducer).snapshot).strain, events[0], 'also from a checkpoint')
  await pass(5 * MINUTE_MS)
  assert.equal(typesOf(events), ['strained'], 'a fall that lasts is one fall')
  run.groupsPerMinute = 24
  await pass(2 * MINUTE_MS)
  assert.equal(typesOf(events), ['strained', 'relieved'])
  assert.not(alarmsOf(report.run.report()).some(({ code }) => code === 'strained'))
  assert.match(progressLine({ type: 'event', event: events[1] as EventOf<'relieved'> })!, /as before again/)
})

test('an attack on the streams is named as the cause, with the block of its addresses', async () => {
  const { run, pass, events, alarms } = await openRun()
  await pass(5 * MINUTE_MS)
  run.isBusy = true
  run.groupsPerMinute = 1
  await pass(MINUTE_MS)
  assert.equal(typesOf(events).at(-1), 'strained')
  assert.match(
    alarms.join('\n'),
    /streams are full \(all 256 streams of \/prove\/snapshot\/2 are open, 240 of them by 34 keys of 203\.0\.113\.0\/24\)/,
  )
})

test('connections that fall to a third raise an alarm within a minute', async () => {
  const { run, pass, alarms } = await openRun()
  await pass(3 * MINUTE_MS)
  run.peers = 4
  await pass(MINUTE_MS)
  assert.match(alarms.join('\n'), /only 4 nodes are connected, of 12 before: nodes have disconnected \(8 nodes\)/)
})

test('a run without capacity for leases, one that pauses regularly and one with few groups raise no alarm', async () => {
  const waiting = await openRun()
  await waiting.pass(5 * MINUTE_MS)
  await waiting.recorder.record(() => ({ type: 'batched', atMs: 0, batchId: 'b', step: 1, leaseIds: [] }))
  Object.assign(waiting.run, { hasCapacity: false, groupsPerMinute: 0 })
  await waiting.pass(5 * MINUTE_MS)
  assert.equal(waiting.events, [])
  const regular = await openRun()
  for (let version = 0; version < 8; version++) {
    regular.run.groupsPerMinute = 24
    await regular.pass(MINUTE_MS)
    regular.run.groupsPerMinute = 0
    await regular.pass(MINUTE_MS)
  }
  assert.equal(regular.events, [])
  const slow = await openRun()
  slow.run.groupsPerMinute = 1
  await slow.pass(10 * MINUTE_MS)
  slow.run.groupsPerMinute = 0
  await slow.pass(3 * MINUTE_MS)
  assert.equal(slow.events, [])
})

test.run()
