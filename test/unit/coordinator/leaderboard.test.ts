import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { leaderboardText } from '../../../coordinator/commands/leaderboard.js'
import type { RunEvent } from '../../../coordinator/ledger/events.js'
import { openRecorder } from '../../../coordinator/ledger/recorder.js'
import { RunReducer } from '../../../coordinator/ledger/run-reducer.js'
import { leaderboardOf, rankingOf } from '../../../coordinator/report/leaderboard.js'
import { createLeaderboardService } from '../../../coordinator/service/leaderboard-service.js'
import { LIMITS, openLeaderboard, peerIdOfKey, SwarmRefusal } from '../../../proto/index.js'
import { memoryLog } from '../../support/memory-log.js'
import { createMovedClock } from '../../support/moved-clock.js'
import { keyOf } from '../../support/proto-samples.js'
import { agreed, audited, done, published } from '../../support/run-events.js'

const registered = (node: string): RunEvent => ({ type: 'registered', atMs: 0, node, round: 0 })
const joined = (node: string, team: string | null): RunEvent => ({ type: 'team-joined', atMs: 0, node, team })

/** Ann 30, Ben 50 less 20 that an audit took back, Cara 5 and Dan none; Eve lied after she had earned 99. */
const STORY: readonly RunEvent[] = [
  ...[agreed(), published(0), ...['ann', 'ben', 'cara', 'dan', 'eve'].map(registered)],
  ...[joined('ann', 'owls'), joined('ben', 'larks'), joined('cara', 'larks'), joined('eve', 'larks')],
  ...done('a', 'ann', 0, { credit: 30 }),
  ...done('b', 'ben', 0, { credit: 30 }),
  ...done('c', 'ben', 0, { credit: 20 }),
  ...done('d', 'cara', 0, { credit: 5 }),
  ...done('e', 'eve', 0, { credit: 99 }),
  ...done('f', 'eve', 0, { accepted: false, code: 'reward_mismatch', credit: 0 }),
  audited('c', 'ben', 'logprob_mismatch'),
]

function reducerOf(events: readonly RunEvent[]): RunReducer {
  const reducer = new RunReducer()
  for (const event of events) reducer.apply(event)
  return reducer
}

test('keys and teams stand by credit, without what was taken back, and without keys that lied', () => {
  const { keys, teams } = rankingOf(reducerOf(STORY))
  assert.equal(keys, [
    { peerId: 'ann', team: 'owls', credit: 30 },
    { peerId: 'ben', team: 'larks', credit: 30 },
    { peerId: 'cara', team: 'larks', credit: 5 },
  ])
  assert.equal(teams, [
    { name: 'larks', keys: 2, credit: 35 },
    { name: 'owls', keys: 1, credit: 30 },
  ])
})

test('a key that changes its team takes all its credit along, and a key that leaves counts for no team', () => {
  const after = (...events: RunEvent[]) => rankingOf(reducerOf([...STORY, ...events])).teams
  assert.equal(after(joined('cara', 'owls')), [
    { name: 'owls', keys: 2, credit: 35 },
    { name: 'larks', keys: 1, credit: 30 },
  ])
  assert.equal(after(joined('ann', null)), [{ name: 'larks', keys: 2, credit: 35 }])
})

test('teams outlast a checkpoint', () => {
  const { snapshot } = reducerOf(STORY)
  assert.equal(rankingOf(RunReducer.of(snapshot)), rankingOf(reducerOf(STORY)))
})

test('a leaderboard has the first entries, the number of entries, and the rank of the requested key', () => {
  const keys = Array.from({ length: 1000 }, (_, i) => ({ peerId: `key-${i}`, team: null, credit: 2000 - i }))
  const of = (asked: string | null) => leaderboardOf({ version: 3, keys, teams: [] }, asked, 7)
  const { keys: shown, allKeys, asked, version, issuedAtMs } = of('key-700')
  assert.equal([shown.length, allKeys, version, issuedAtMs], [LIMITS.leaderboardKeys.value, 1000, 3, 7])
  assert.equal(asked, { rank: 701, key: keys[700] })
  assert.is(of('nobody').asked, null)
  assert.is(of(null).asked, null)
})

test('the operator sees all keys and teams, in order', () => {
  const lines = leaderboardText(rankingOf(reducerOf(STORY))).split('\n')
  assert.equal(
    lines.map((line) => line.trim().replaceAll(/ +/g, ' ')),
    [
      ...['rank credit key team', '1 30 ann owls', '2 30 ben larks', '3 5 cara larks', ''],
      ...['rank credit team keys', '1 35 larks 2', '2 30 owls 1'],
    ],
  )
  assert.is(leaderboardText(rankingOf(reducerOf(STORY.slice(0, 2)))), 'no key has earned credit yet')
})

test('a key says its team once it is known, changes it a few times at once, and nothing is recorded twice', async () => {
  const key = await keyOf(1)
  const runId = peerIdOfKey(key)
  const clock = createMovedClock()
  const recorder = await openRecorder(memoryLog([...STORY]), () => undefined)
  let records = 0
  recorder.listen(() => {
    records += 1
  })
  const service = createLeaderboardService({ recorder, key, runId, clock })
  const join = (node: string, team: string | null): Promise<string> =>
    service.answer({ peerId: null, team }, node).then(
      () => 'taken',
      (why: unknown) => (why instanceof SwarmRefusal ? why.code : String(why)),
    )
  assert.is(await join('stranger', 'owls'), 'not_registered')
  assert.is(await join('dan', 'owls'), 'taken')
  assert.is(await join('dan', 'owls'), 'taken')
  assert.is(records, 1)
  assert.is(recorder.state.teams.get('dan'), 'owls')
  for (const team of ['larks', null, 'owls']) assert.is(await join('dan', team), 'taken')
  assert.is(await join('dan', 'larks'), 'rate_limited')
  assert.is(recorder.state.teams.get('dan'), 'owls', 'it stays where it was')
  clock.advance(3_600_000)
  assert.is(await join('dan', null), 'taken')
  assert.not.ok(recorder.state.teams.has('dan'))
  const { asked, teams } = await openLeaderboard(await service.answer({ peerId: 'cara' }, 'ann'), runId)
  assert.is(asked?.rank, 3)
  assert.equal(teams[0], { name: 'larks', keys: 2, credit: 35 })
})

test('many keys that change their teams do not fill the log: they are refused as overloaded', async () => {
  const key = await keyOf(1)
  const nodes = Array.from({ length: 200 }, (_, i) => `key-${i}`)
  const recorder = await openRecorder(memoryLog([agreed(), published(0), ...nodes.map(registered)]), () => undefined)
  const service = createLeaderboardService({ recorder, key, runId: peerIdOfKey(key), clock: createMovedClock() })
  const codes = new Set<string>()
  for (const node of nodes)
    await service.answer({ peerId: null, team: 'owls' }, node).catch((why: SwarmRefusal) => codes.add(why.code))
  assert.equal([...codes], ['overloaded'])
  assert.is(recorder.state.teams.size, 150)
})

test.run()
