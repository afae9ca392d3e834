import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { RunEvent } from '../../coordinator/ledger/events.js'
import { openRecorder } from '../../coordinator/ledger/recorder.js'
import { createLeaderboardService } from '../../coordinator/service/leaderboard-service.js'
import { leaderboardText } from '../../node/commands/leaderboard.js'
import { fetchLeaderboard } from '../../node/leaderboard/fetch-leaderboard.js'
import { createLeaderboardKeeper } from '../../node/leaderboard/leaderboard-keeper.js'
import { teamRegistration } from '../../node/leaderboard/team-registration.js'
import type { LeaderboardPlace } from '../../node/report/leaderboard-place.js'
import { type Leaderboard, LIMITS, sealLeaderboard } from '../../proto/index.js'
import { type JoinAddress, serveLeaderboard } from '../../swarm/index.js'
import { memoryLog } from '../support/memory-log.js'
import { createMovedClock } from '../support/moved-clock.js'
import { flightLeaderboard, logHead } from '../support/proto-samples.js'
import { agreed, done, published } from '../support/run-events.js'
import {
  connect,
  createTestSwarm,
  eventually,
  failure,
  soon,
  type TestNode,
  type TestSwarm,
} from '../support/swarm-nodes.js'

const test = suite<{ swarm: TestSwarm }>('leaderboard')

test.before.each(async (context) => {
  context.swarm = await createTestSwarm()
})
test.after.each((context) => context.swarm.close())

/** A coordinator that serves the board of a run in which these keys have earned something. */
async function openLeaderboardRun(swarm: TestSwarm, earned: Readonly<Record<string, number>>) {
  const coordinator = await swarm.node(1)
  const nodes = Object.keys(earned)
  const events: RunEvent[] = [
    ...[agreed(), published(0)],
    ...nodes.map((node): RunEvent => ({ type: 'registered', atMs: 0, node, round: 0 })),
    ...nodes.flatMap((node) => done(`group of ${node}`, node, 0, { credit: earned[node]! })),
  ]
  const recorder = await openRecorder(memoryLog(events), () => undefined)
  const { host, key } = coordinator
  const service = createLeaderboardService({ recorder, key, runId: swarm.runId, clock: host.clock })
  const server = await serveLeaderboard(host, (request, { peer }) => service.answer(request, peer))
  return { coordinator, recorder, server }
}

const addressOf = ({ host }: TestNode): JoinAddress => ({ peerId: host.peerId, addresses: host.addresses() })

test('a stranger gets the leaderboard of the coordinator with the rank of a key, and a node’s copy when the coordinator is gone', async ({
  swarm,
}) => {
  const [ann, ben] = [await swarm.node(2), await swarm.node(3)]
  const { coordinator, server } = await openLeaderboardRun(swarm, { [ann.host.peerId]: 30, [ben.host.peerId]: 70 })
  await connect(ann, coordinator)
  const places: LeaderboardPlace[] = []
  const keeper = createLeaderboardKeeper(ann.host, (place) => places.push(place))
  await keeper.refresh(soon())
  assert.equal(places, [{ rank: 2, keys: 2, team: null, teamRank: null, teams: 0 }], 'and a node hears of its own')
  await serveLeaderboard(ann.host, async () => keeper.newest!)

  const own = ann.host.peerId
  const stated = await fetchLeaderboard([addressOf(coordinator)], swarm.runId, own, soon())
  assert.equal(
    stated.keys.map(({ peerId, credit }) => [peerId, credit]),
    [
      [ben.host.peerId, 70],
      [own, 30],
    ],
  )
  assert.is(stated.asked?.rank, 2)
  assert.ok(leaderboardText(stated, own).includes(`\n*    2  30  ${own}\n`), leaderboardText(stated, own))

  await server.close()
  await coordinator.host.close()
  const passedOn = await fetchLeaderboard([addressOf(coordinator), addressOf(ann)], swarm.runId, own, soon())
  assert.equal(passedOn.keys, stated.keys)
  await keeper.refresh(soon())
  assert.ok(keeper.newest, 'a coordinator that is gone takes nothing away')
})

test('a leaderboard with a foreign signature is refused', async ({ swarm }) => {
  const liar = await swarm.node(2)
  const sealed = await sealLeaderboard(liar.key, swarm.runId, flightLeaderboard)
  await serveLeaderboard(liar.host, async () => sealed)
  const why = await fetchLeaderboard([addressOf(liar)], swarm.runId, null, soon()).then(
    () => null,
    (error: { code: string }) => error.code,
  )
  assert.is(why, 'wrong_signer')
})

test('a node requests a newer leaderboard when its own is old, once for all requests', async ({ swarm }) => {
  const clock = createMovedClock()
  const coordinator = await swarm.node(1)
  const ann = await swarm.node(2, true, {
    ...clock,
    timeout: () => new AbortController().signal,
    after: () => () => undefined,
  })
  let asked = 0
  const { key } = coordinator
  await serveLeaderboard(coordinator.host, () =>
    sealLeaderboard(key, swarm.runId, { ...flightLeaderboard, issuedAtMs: ++asked }),
  )
  const keeper = createLeaderboardKeeper(ann.host)
  await keeper.refresh(soon())
  assert.is(keeper.newest, null, 'without a connection nobody is asked')
  await connect(ann, coordinator)
  await Promise.all([keeper.refresh(soon()), keeper.refresh(soon())])
  await keeper.refresh(soon())
  assert.is(asked, 1)
  clock.advance(LIMITS.leaderboardFreshMs.value)
  const first = keeper.newest
  await keeper.refresh(soon())
  assert.is(asked, 2)
  assert.not.equal(keeper.newest, first)
})

test('a node reports its team until the coordinator knows the key, and a coordinator without leaderboards stops nothing', async ({
  swarm,
}) => {
  const ann = await swarm.node(2)
  const { coordinator, recorder, server } = await openLeaderboardRun(swarm, {})
  await connect(ann, coordinator)
  const notices: string[] = []
  const onProgress = (progress: { type: string }) => void notices.push(JSON.stringify(progress))
  const tell = teamRegistration(ann.host, { team: 'owls', onProgress, signal: soon() })
  tell()
  await eventually('it was turned down', () => coordinator.refusals.some(({ code }) => code === 'not_registered'))
  const node = ann.host.peerId
  await recorder.record(() => ({ type: 'registered', atMs: 0, node, round: 0 }))
  await eventually('it has told it', () => {
    tell()
    return recorder.state.teams.get(node) === 'owls'
  })
  await server.close()
  const other = teamRegistration(ann.host, { team: null, onProgress, signal: soon() })
  other()
  await failure(fetchLeaderboard([addressOf(coordinator)], swarm.runId, null, soon()))
  assert.is(recorder.state.teams.get(node), 'owls')
  assert.equal(notices, [])
})

test('the own place is shown wherever it is, and nobody’s where there is none', () => {
  const keys = [{ peerId: 'ann', team: 'owls', credit: 1200 }]
  const leaderboard: Leaderboard = {
    ...{ version: 4, issuedAtMs: 0, allKeys: 900, allTeams: 1, keys, teams: [{ name: 'owls', keys: 3, credit: 1300 }] },
    asked: { rank: 700, key: { peerId: 'zoe', team: null, credit: 7 } },
    head: logHead,
  }
  const text = leaderboardText(leaderboard, 'zoe')
  assert.match(text, /^version 4, 1970-01-01T00:00:00.000Z: 900 keys and 1 team with credit$/m)
  assert.match(text, /^ {5}1 {2}1,200 {2}ann {2}owls$/m)
  assert.match(text, /^ {7}and 899 keys more$/m)
  assert.match(text, /^\* {2}700 {6}7 {2}zoe$/m)
  assert.match(text, /^ {5}1 {2}1,300 {2}owls {2}\(3 keys\)$/m)
  assert.match(leaderboardText({ ...leaderboard, asked: null }, 'zoe'), /your key zoe is not on the leaderboard/)
  assert.not.match(leaderboardText({ ...leaderboard, asked: null }, null), /your key/)
  assert.match(leaderboardText({ ...leaderboard, keys: [], allKeys: 0, asked: null }, null), /no key has credit yet/)
})

test.run()
