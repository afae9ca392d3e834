import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  isTeamName,
  type Leaderboard,
  LIMITS,
  leaderboard,
  leaderboardRequest,
  openLeaderboard,
  peerIdOfKey,
  SwarmRefusal,
  sealLeaderboard,
} from '../../../proto/index.js'
import { codeOf, flightLeaderboard, keyOf } from '../../support/proto-samples.js'

const encoded = (change: Partial<Leaderboard>) => () => leaderboard.encode({ ...flightLeaderboard, ...change })

test('a leaderboard and a request for one are unchanged after encoding', () => {
  for (const value of [
    flightLeaderboard,
    { ...flightLeaderboard, keys: [], teams: [], allKeys: 0, allTeams: 0, asked: null },
  ])
    assert.equal(leaderboard.parse(leaderboard.encode(value)), value)
  for (const peerId of [null, '12D3KooWhelper'])
    assert.equal(leaderboardRequest.parse(leaderboardRequest.encode({ peerId })), { peerId })
})

test('a request can set, keep or clear the team', () => {
  const teamOf = (team: string | null | undefined): unknown => {
    const sent = leaderboardRequest.parse(
      leaderboardRequest.encode({ peerId: null, ...(team === undefined ? {} : { team }) }),
    )
    return Object.hasOwn(sent, 'team') ? sent.team : 'left alone'
  }
  assert.equal(['night shift', null, undefined].map(teamOf), ['night shift', null, 'left alone'])
})

test('a text that could hide, reorder or imitate text, or break a line or a terminal, is not a team name', () => {
  for (const good of [
    'night shift',
    'Ünïcode',
    '夜勤',
    'a',
    '<b>bold</b>',
    '🦉 owls',
    'x'.repeat(LIMITS.teamBytes.value),
  ])
    assert.ok(isTeamName(good), good)
  for (const bad of [
    ...['', ' ', ' a', 'a ', 'a  b', 'a\nb', 'a\tb', '\u001b[31mred', 'a\u0000', 'a\u202eb', 'a\u200bb', 'a\u00a0b'],
    ...['a\u2028b', '\ud800', '\ue000', 'u\u0308', 'x'.repeat(LIMITS.teamBytes.value + 1), 'ü'.repeat(17)],
  ])
    assert.not.ok(isTeamName(bad), JSON.stringify(bad))
})

test('no team name moves a terminal’s cursor or changes in encoding', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (name) => {
      if (!isTeamName(name)) return
      assert.not.match(name, /[\p{C}\p{Zl}\p{Zp}]/u)
      assert.is(leaderboardRequest.parse(leaderboardRequest.encode({ peerId: null, team: name })).team, name)
    }),
    { seed: 23, numRuns: 2000 },
  )
})

test('a leaderboard with the most keys and teams and the longest names fits, and one more of either is refused', () => {
  const name = (i: number): string => `${'夜'.repeat(9)}${i}`.padEnd(32 - 18, 'x')
  const keys = Array.from({ length: LIMITS.leaderboardKeys.value + 1 }, (_, i) => ({
    ...{ peerId: `12D3KooW${'x'.repeat(40)}${i + 1000}`, team: name(i), credit: 1e9 - i },
  }))
  const teams = keys.map(({ team, credit }) => ({ name: team, keys: 1e6, credit }))
  const full = {
    ...{ allKeys: 1e6, allTeams: 1e6, asked: { rank: 1e6, key: keys[0]! } },
    ...{ keys: keys.slice(1), teams: teams.slice(0, LIMITS.leaderboardTeams.value) },
  }
  const { length } = encoded(full)()
  assert.ok(length > 15_000 && length < LIMITS.leaderboardBytes.value - 1024, String(length))
  assert.is(codeOf(encoded({ ...full, keys })), 'too_large')
  assert.is(codeOf(encoded({ ...full, teams: teams.slice(0, LIMITS.leaderboardTeams.value + 1) })), 'too_large')
})

test('a leaderboard is refused if it is out of order, repeats a key or a team, lists more than it counts, or has invalid numbers', () => {
  const [first, second] = flightLeaderboard.keys
  const [team] = flightLeaderboard.teams
  const rows: [Partial<Leaderboard>, string][] = [
    [{ keys: [second!, first!] }, 'malformed'],
    [{ keys: [first!, first!] }, 'malformed'],
    [{ teams: [team!, team!], allTeams: 2 }, 'malformed'],
    [{ teams: [team!, { ...team!, name: 'other', credit: 1e6 }], allTeams: 2 }, 'malformed'],
    [{ keys: [{ ...first!, team: 'a\nb' }] }, 'malformed'],
    [{ allKeys: 1 }, 'out_of_bounds'],
    [{ allTeams: 0 }, 'out_of_bounds'],
    [{ asked: { rank: 4, key: second! } }, 'out_of_bounds'],
    [{ asked: { rank: 0, key: second! } }, 'out_of_bounds'],
    [{ keys: [{ ...first!, credit: Number.NaN }] }, 'out_of_bounds'],
    [{ keys: [{ ...first!, credit: Number.POSITIVE_INFINITY }] }, 'out_of_bounds'],
    [{ issuedAtMs: Number.NaN }, 'out_of_bounds'],
  ]
  for (const [change, code] of rows) assert.is(codeOf(encoded(change)), code, JSON.stringify(change))
})

test('only the run’s key can sign a leaderboard of the run', async () => {
  const [run, other] = [await keyOf(1), await keyOf(2)]
  const runId = peerIdOfKey(run)
  const codeOfOpening = (sealed: Uint8Array): Promise<string> =>
    openLeaderboard(sealed, runId).then(
      () => 'accepted',
      (why: unknown) => (why instanceof SwarmRefusal ? why.code : String(why)),
    )
  const sealed = await sealLeaderboard(run, runId, flightLeaderboard)
  assert.equal(await openLeaderboard(sealed, runId), flightLeaderboard)
  assert.is(await codeOfOpening(await sealLeaderboard(other, runId, flightLeaderboard)), 'wrong_signer')
  assert.is(await codeOfOpening(await sealLeaderboard(run, peerIdOfKey(other), flightLeaderboard)), 'wrong_run')
  const bent = Uint8Array.from(sealed)
  bent[bent.indexOf(0xf0) === -1 ? 100 : bent.indexOf(0xf0)]! ^= 1
  assert.not.equal(await codeOfOpening(bent), 'accepted')
})

test.run()
