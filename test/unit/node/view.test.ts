import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type NodeProgress, progressLine } from '../../../node/report/progress.js'
import { bytes, screenLines } from '../../../node/screen/screen-lines.js'
import { openTrafficCounter, type Traffic } from '../../../node/session/traffic.js'
import { initialState, type NodeView, nodeView, type ReportedState, stateAfter } from '../../../node/session/view.js'
import { createWorkMeter } from '../../../node/work/work-meter.js'
import type { RefusalCode, Verdict } from '../../../proto/index.js'
import { createMovedClock } from '../../support/moved-clock.js'

const test = suite('the view of a node')

const verdict = (code: RefusalCode | null, credit: number): Verdict => ({
  leaseId: 'a'.repeat(32),
  bodySha256: 'b'.repeat(64),
  accepted: code === null,
  code,
  detail: '',
  credit,
  receivedAtMs: 1000,
})
const after = (...news: NodeProgress[]): ReportedState =>
  news.reduce(stateAfter, initialState({ accepted: 5, credit: 100 }))

const viewOf = (state: ReportedState): NodeView => ({
  ...state,
  peerId: `12D3KooW${'x'.repeat(40)}ABCDEFGH`,
  coordinator: `/ip4/203.0.113.5/tcp/4001/p2p/12D3KooW${'y'.repeat(40)}IJKLMNOP`,
  startedAtMs: 0,
  rollouts: 8,
  tokens: 123,
  tokensPerSecond: 45.6,
  waiting: 2,
  peers: 1,
  sent: 1234,
  received: 5_600_000,
  monthBytes: 7e9,
  limits: ['2 of 8 CPU threads', 'low priority', 'at 22:00-07:00'],
  notKept: ['temperature is not kept to: the system tells no temperature'],
})

test('a verdict that an audit replaces no longer counts, and its credit neither', () => {
  const accepted = verdict(null, 30)
  const story = after(
    { type: 'verdict', verdict: accepted, earlier: null },
    { type: 'verdict', verdict: verdict('logprob_mismatch', 0), earlier: accepted },
  )
  const { accepted: now, refused, credit, allAccepted, allCredit, reasons } = story
  assert.equal([now, refused, credit, allAccepted, allCredit, reasons.length], [0, 1, 0, 5, 100, 1])
})

test('the view explains why a new node waits, and that a run is complete', () => {
  const idle = (reason: string): ReportedState => after({ type: 'idle', reason, detail: '', waiting: 0 })
  assert.match(idle('not_registered').state, /^the run has registered this node/)
  assert.equal([idle('complete').phase, idle('no_work').phase], ['complete', 'waiting'])
  assert.match(idle('quarantined').state, /^no work: quarantined - /)
})

test('the view shows the newest place of the node and of its team', () => {
  const place = { rank: 3, keys: 12, team: 'night shift', teamRank: 1, teams: 2 }
  const news: NodeProgress = { type: 'leaderboard', place }
  const shown = (state: ReportedState): string[] => screenLines(viewOf(state), { nowMs: 0, columns: 100 })
  assert.ok(shown(after(news)).includes('rank     place 3 of 12; team "night shift", place 1 of 2'))
  const alone: NodeProgress = { type: 'leaderboard', place: { ...place, rank: 2, team: null, teamRank: null } }
  assert.ok(shown(after(news, alone)).includes('rank     place 2 of 12'))
  assert.not.ok(
    shown(after()).some((line) => line.startsWith('rank')),
    'a key without credit has no place',
  )
  assert.is(progressLine(news), 'on the leaderboard: place 3 of 12; team "night shift", place 1 of 2')
})

test('the view is at most as wide as the terminal, and complete at any width', () => {
  const refusedOnce: NodeProgress = { type: 'verdict', verdict: verdict('reward_mismatch', 0), earlier: null }
  const ready: Extract<NodeProgress, { type: 'ready' }> = {
    ...{ type: 'ready', peerId: 'p', backend: 'cpu', confinement: { level: 'none', lacks: [] } },
    placement: {
      ...{ device: 'cpu', deviceNames: [], layers: 0, allLayers: 7, flashAttention: false },
      cacheType: 'f16',
      ...{ slots: 16, contextSize: 1024, mainBytes: 40e6, gpuBytes: 0 },
    },
  }
  assert.match(
    progressLine(ready)!,
    /inference on cpu \(16 rollouts of 1024 tokens at a time, about 40\.0 MB of memory\)/,
  )
  const refitted: NodeProgress = {
    ...{ type: 'refitted', tokens: 2048, backend: 'cpu-flash-q8_0' },
    placement: { ...ready.placement, flashAttention: true, cacheType: 'q8_0', contextSize: 2048 },
  }
  assert.match(
    progressLine(refitted)!,
    /^engine reloaded for rollouts of 2048 tokens, inference on cpu-flash-q8_0 \(flash attention, caches of q8_0, 16 rollouts/,
  )
  assert.is(after(ready, refitted).backend, 'cpu-flash-q8_0')
  const view = viewOf(after(ready, { type: 'policy', version: 3, versions: 16, policyId: 'p' }, refusedOnce))
  assert.equal(nodeView.parse(view), view)
  for (const columns of [30, 40, 80, 200]) {
    const lines = screenLines(view, { nowMs: 7_500_000, columns })
    assert.ok(Math.max(...lines.map(({ length }) => length)) <= columns, `${columns} columns`)
    const words = lines.map((line) => line.slice(9).trim()).join(' ')
    for (const part of ['version 3 of 16', '46 tokens/s', '1 refused', '1.2 kB up', '7.0 GB', 'at 22:00-07:00'])
      assert.ok(words.includes(part), `${part} in ${columns} columns`)
    assert.match(words, /not kept to: .*reward_mismatch/)
  }
  assert.is(screenLines(view, { nowMs: 7_500_000, columns: 80 })[0], 'PROVE node …ABCDEFGH, running for 2 h 5 min')
})

test('bytes have a fitting unit', () => {
  assert.equal([0, 999, 1000, 99_950, 123_456, 5e15].map(bytes), [
    '0 B',
    '999 B',
    '1.0 kB',
    '100.0 kB',
    '123 kB',
    '5000 TB',
  ])
})

test('the speed is that of the groups in progress, or of the last group', () => {
  const clock = createMovedClock()
  const meter = createWorkMeter(clock)
  assert.equal(meter.reading, { rollouts: 0, tokens: 0, tokensPerSecond: 0 })
  meter.opened(2)
  clock.advance(2000)
  meter.sampled(100)
  assert.equal(meter.reading, { rollouts: 2, tokens: 100, tokensPerSecond: 50 })
  meter.closed()
  meter.closed()
  clock.advance(60_000)
  assert.equal(meter.reading, { rollouts: 0, tokens: 0, tokensPerSecond: 50 })
})

test('the traffic of a month survives restarts, starts again with the month, and survives a damaged record', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'prove-traffic-'))
  try {
    const clock = createMovedClock(new Date('2026-12-31T12:00').getTime())
    let total: Traffic = { sent: 10, received: 20 }
    const open = () => openTrafficCounter(folder, { read: async () => total, clock })
    const first = await open()
    await first.count()
    total = { sent: 15, received: 20 }
    await first.count()
    assert.equal([first.month, first.session], [{ sent: 15, received: 20 }, total])
    assert.is(first.nextMonthMs, new Date('2027-01-01T00:00').getTime())
    await first.close()
    total = { sent: 1, received: 1 }
    const second = await open()
    await second.count()
    assert.equal(second.month, { sent: 16, received: 21 })
    clock.advance(12 * 3_600_000)
    total = { sent: 3, received: 1 }
    await second.count()
    assert.equal(second.month, { sent: 2, received: 0 })
    await second.close()
    assert.match(await readFile(join(folder, 'traffic.json'), 'utf8'), /"2027-01"/)
    await writeFile(join(folder, 'traffic.json'), '{"month":')
    assert.equal((await open()).month, { sent: 0, received: 0 })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

test.run()
