import '../../../swarm/polyfill.js'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { statusText } from '../../../coordinator/commands/status.js'
import type { RunEvent } from '../../../coordinator/ledger/events.js'
import { openRecorder } from '../../../coordinator/ledger/recorder.js'
import { RunReducer } from '../../../coordinator/ledger/run-reducer.js'
import { LiveReport } from '../../../coordinator/report/live-report.js'
import { type Attendance, createAttendance } from '../../../coordinator/service/attendance.js'
import { watchAlarms } from '../../../coordinator/service/watch-alarms.js'
import { leaveNotice } from '../../../proto/index.js'
import { memoryLog } from '../../support/memory-log.js'
import { createMovedClock, type MovedClock } from '../../support/moved-clock.js'
import { agreed, published } from '../../support/run-events.js'

const test = suite('attendance of volunteers')

interface Hall {
  readonly attendance: Attendance
  readonly clock: MovedClock
  readonly connected: Set<string>
  readonly report: LiveReport
  readonly alarms: string[]
  readonly events: RunEvent[]
  /** Reports a peer of another version of the protocol. */
  otherVersion(peer: string, detail: string): void
  /** Moves the clock second by second, with a look at each. */
  pass(ms: number): Promise<void>
  /** A node connects, registers and asks for work. */
  arrive(...nodes: string[]): Promise<void>
  record(event: RunEvent): Promise<unknown>
}

async function openHall(log: RunEvent[] = [agreed({ versions: 9 }), published(0)]): Promise<Hall> {
  const clock = createMovedClock()
  const report = new LiveReport()
  for (const event of log) report.add(event)
  const alarms: string[] = []
  watchAlarms(report, ({ code, text }) => alarms.push(`${code}: ${text}`))
  const recorder = await openRecorder(memoryLog(log), () => undefined)
  const events: RunEvent[] = []
  recorder.listen((event) => {
    events.push(event)
    report.add(event)
  })
  const connected = new Set<string>()
  let listener: (event: { peer: string; detail: string }) => void = () => undefined
  const attendance = createAttendance({
    host: {
      clock,
      isConnected: (peer) => connected.has(peer),
      onOtherVersion: (one) => {
        listener = one
        return () => undefined
      },
    },
    recorder,
    signal: new AbortController().signal,
  })
  const record = (event: RunEvent) => recorder.record(() => event)
  return {
    ...{ attendance, clock, connected, report, alarms, events, record },
    otherVersion: (peer, detail) => listener({ peer, detail }),
    async pass(ms) {
      for (let left = ms; left > 0; left -= 1000) {
        clock.advance(1000)
        await attendance.look()
      }
    },
    async arrive(...nodes) {
      for (const node of nodes) {
        connected.add(node)
        if (!recorder.state.registered.has(node))
          await record({ type: 'registered', atMs: clock.now(), node, round: 0, agent: 'test/1' })
        attendance.seen(node)
      }
    },
  }
}

const typesOf = ({ events }: Hall): string[] => events.map(({ type }) => type).filter((type) => type !== 'registered')
const WHY = leaveNotice('canary_failed', 'canary 0 on cpu: 0.0143 nats off on average, at most 0.3925')

test('a run whose nodes all left says so within a minute, with the cause, in log, status and alarms', async () => {
  const hall = await openHall()
  await hall.arrive('ann', 'ben')
  await hall.pass(20_000)
  for (const node of ['ann', 'ben']) {
    await hall.attendance.left(node, WHY)
    hall.connected.delete(node)
  }
  assert.equal(typesOf(hall), ['left', 'left'])
  await hall.pass(60_000)
  assert.equal(typesOf(hall), ['left', 'left', 'unattended'])
  assert.equal(hall.report.state.unattended!.causes, [{ reason: 'canary_failed', nodes: 2, detail: WHY.detail }])
  assert.is(hall.alarms.length, 1)
  assert.match(hall.alarms[0]!, /^no_volunteers: .*2 left with canary_failed \(canary 0 on cpu: 0\.0143 nats/)
  const status = statusText(hall.report.run.report(), true, hall.clock.now())
  assert.match(status, /^alarm: no volunteer is at work on version 0 since .*prove-lab calibrate/m)
  assert.match(status, /^nodes that ended at version 0: 2 canary_failed$/m)
  const [ann] = hall.report.nodes.report(hall.clock.now())
  assert.is(ann!.left!.reason, 'canary_failed')
})

test('a volunteer that comes back ends the alarm', async () => {
  const hall = await openHall()
  await hall.arrive('ann')
  hall.connected.delete('ann')
  await hall.pass(60_000)
  assert.equal(hall.report.state.unattended!.causes, [{ reason: 'disconnected', nodes: 1, detail: '' }])
  await hall.arrive('ann')
  await hall.pass(2000)
  assert.equal(typesOf(hall), ['unattended', 'attended'])
  assert.is(hall.report.run.report().unattended, null)
  hall.connected.delete('ann')
  await hall.pass(60_000)
  assert.is(hall.alarms.length, 2, 'the alarm is raised again')
})

test('a short loss of the connection is no absence, and neither is one of several nodes', async () => {
  const hall = await openHall()
  await hall.arrive('ann', 'ben')
  await hall.attendance.left('ben', WHY)
  await hall.pass(200_000)
  hall.connected.delete('ann')
  await hall.pass(20_000)
  await hall.arrive('ann')
  await hall.pass(60_000)
  assert.equal(typesOf(hall), ['left'])
  assert.equal(hall.alarms, [])
})

test('a run that nobody has joined, or that speaks another version than its visitors, says that', async () => {
  const hall = await openHall()
  await hall.pass(60_000)
  assert.equal(hall.report.state.unattended!.causes, [])
  assert.match(hall.alarms[0]!, /no volunteer has asked for work yet.*prove-coordinator invitation/)
  hall.otherVersion('cleo', 'the peer speaks /prove/group/2')
  await hall.pass(70_000)
  assert.equal(hall.report.state.unattended!.causes, [
    { reason: 'other_version', nodes: 1, detail: 'the peer speaks /prove/group/2' },
  ])
})

test('a node that is connected but sends no request for minutes is not at work', async () => {
  const hall = await openHall()
  await hall.arrive('ann')
  await hall.pass(240_000)
  assert.equal(typesOf(hall), [])
  await hall.pass(120_000)
  assert.equal(hall.report.state.unattended!.causes, [{ reason: 'silent', nodes: 1, detail: '' }])
})

test('a paused run and a complete one miss nobody', async () => {
  const paused = await openHall()
  await paused.record({ type: 'paused', atMs: 0, by: { who: 'operator', via: 'token' }, reason: null })
  await paused.pass(90_000)
  assert.equal(typesOf(paused), ['paused'])
  const complete = await openHall([agreed({ versions: 0 }), published(0)])
  await complete.pass(90_000)
  assert.equal(typesOf(complete), [])
})

test('strangers and repeated notices add nothing to the log', async () => {
  const hall = await openHall()
  await hall.arrive('ann')
  await hall.attendance.left('stranger', WHY)
  assert.equal(typesOf(hall), [])
  for (let i = 0; i < 20; i++) {
    hall.attendance.seen('ann')
    await hall.attendance.left('ann', WHY)
  }
  assert.ok(typesOf(hall).length <= 3, 'a key has a few departures per minute')
  await hall.pass(60_000)
  assert.equal(hall.report.state.unattended!.causes, [{ reason: 'canary_failed', nodes: 2, detail: WHY.detail }])
})

test('after a restart the record stands until a volunteer asks again', async () => {
  const log: RunEvent[] = [agreed({ versions: 9 }), published(0)]
  const first = await openHall(log)
  await first.pass(60_000)
  const again = await openHall([...log.slice(0, 2), ...first.events])
  await again.pass(20_000)
  assert.ok(again.report.state.unattended)
  const reducer = new RunReducer()
  for (const event of [...log, ...first.events]) reducer.apply(event)
  assert.equal(RunReducer.of(reducer.snapshot).unattended, first.report.state.unattended, 'also from a checkpoint')
  await again.arrive('ann')
  await again.pass(2000)
  assert.equal(typesOf(again), ['attended'])
})

test.run()
