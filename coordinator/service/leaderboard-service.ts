import type { PrivateKey } from '@libp2p/interface'
import { type LeaderboardRequest, refusal, sealLeaderboard } from '../../proto/index.js'
import { type Clock, createRateLimit } from '../../swarm/index.js'
import type { Recorder } from '../ledger/recorder.js'
import type { RunState } from '../ledger/run-state.js'
import { leaderboardOf, type Ranking, rankingOf } from '../report/leaderboard.js'

/** How long a ranking is good for: thousands of keys are not put in order for each who asks. */
const RANKED_MS = 5000
/** How often one key may change its team: each change is a record for good. */
const TEAM_CHANGES = { perMinute: 1 / 60, atOnce: 4 }
/** Those of all keys: of too many keys, the first are forgotten. */
const CHANGES_PER_MINUTE = 600

export interface BoardService {
  /**
   * The board of now, signed, with the place of the key that is asked for.
   * @throws SwarmRefusal `not_registered`, `rate_limited` or `overloaded` when whoever asks may not change its team
   */
  answer(request: LeaderboardRequest, asker: string): Promise<Uint8Array>
}

export interface BoardServiceParts {
  readonly recorder: Pick<Recorder, 'state' | 'record'>
  readonly key: PrivateKey
  readonly runId: string
  readonly clock: Pick<Clock, 'now' | 'elapsedMs'>
}

export function createBoardService({ recorder, key, runId, clock }: BoardServiceParts): BoardService {
  const { state } = recorder
  const changes = {
    ofKey: createRateLimit(clock, TEAM_CHANGES.perMinute, TEAM_CHANGES.atOnce),
    all: createRateLimit(clock, CHANGES_PER_MINUTE),
  }
  let ranked: { readonly ranking: Ranking; readonly atMs: number } | null = null

  const join = async (node: string, team: string | null): Promise<void> => {
    const isNews = ({ teams }: RunState): boolean => (teams.get(node) ?? null) !== team
    // Keys that nobody knows would fill the log.
    if (!state.registered.has(node)) throw refusal('not_registered', 'a team is taken of a key that has asked for work')
    if (!isNews(state)) return
    if (!changes.ofKey.allow(node)) throw refusal('rate_limited', 'a key may change its team once an hour')
    if (!changes.all.allow('all')) throw refusal('overloaded', 'too many keys change their teams at the moment')
    await recorder.record((current) =>
      isNews(current) ? { type: 'team-joined', atMs: clock.now(), node, team } : null,
    )
  }

  return {
    async answer({ peerId, team }, asker) {
      if (team !== undefined) await join(asker, team)
      const now = clock.now()
      // A clock that was set back must not keep an old one.
      if (ranked === null || Math.abs(now - ranked.atMs) >= RANKED_MS) ranked = { ranking: rankingOf(state), atMs: now }
      return sealLeaderboard(key, runId, leaderboardOf(ranked.ranking, peerId, ranked.atMs))
    },
  }
}
