import type { PrivateKey } from '@libp2p/interface'
import { type LeaderboardRequest, refusal, sealLeaderboard } from '../../proto/index.js'
import { type Clock, createRateLimit } from '../../swarm/index.js'
import type { Recorder } from '../ledger/recorder.js'
import type { RunState } from '../ledger/run-state.js'
import { leaderboardOf, type Ranking, rankingOf } from '../report/leaderboard.js'

/** Time (ms) for which a ranking is reused, so that thousands of keys are not sorted for each request. */
const RANKED_MS = 5000
/** Changes of team of one key. Each is a permanent record. */
const TEAM_CHANGES = { perMinute: 1 / 60, atOnce: 4 }
/** Changes of team of all keys. */
const CHANGES_PER_MINUTE = 600

/** Answers requests for the leaderboard. */
export interface LeaderboardService {
  /**
   * Returns the current leaderboard, signed, with the rank of the requested key, and changes the team of the asker.
   * @throws SwarmRefusal `not_registered`, `rate_limited` or `overloaded` when the asker may not change its team
   */
  answer(request: LeaderboardRequest, asker: string): Promise<Uint8Array>
}

export interface LeaderboardServiceParts {
  readonly recorder: Pick<Recorder, 'state' | 'record' | 'head'>
  readonly key: PrivateKey
  readonly runId: string
  readonly clock: Pick<Clock, 'now' | 'elapsedMs'>
}

export function createLeaderboardService({ recorder, key, runId, clock }: LeaderboardServiceParts): LeaderboardService {
  const { state } = recorder
  const changes = {
    ofKey: createRateLimit(clock, TEAM_CHANGES.perMinute, TEAM_CHANGES.atOnce),
    all: createRateLimit(clock, CHANGES_PER_MINUTE),
  }
  let ranked: { readonly ranking: Ranking; readonly atMs: number } | null = null

  const join = async (node: string, team: string | null): Promise<void> => {
    const isChange = ({ teams }: RunState): boolean => (teams.get(node) ?? null) !== team
    // Unknown keys could fill the log.
    if (!state.registered.has(node))
      throw refusal('not_registered', 'only a key that has asked for work can have a team')
    if (!isChange(state)) return
    if (!changes.ofKey.allow(node)) throw refusal('rate_limited', 'a key may change its team once per hour')
    if (!changes.all.allow('all')) throw refusal('overloaded', 'too many keys change their teams at the moment')
    await recorder.record((current) =>
      isChange(current) ? { type: 'team-joined', atMs: clock.now(), node, team } : null,
    )
  }

  return {
    async answer({ peerId, team }, asker) {
      if (team !== undefined) await join(asker, team)
      const now = clock.now()
      // After the clock was set back, the ranking would otherwise be kept too long.
      if (ranked === null || Math.abs(now - ranked.atMs) >= RANKED_MS) ranked = { ranking: rankingOf(state), atMs: now }
      const leaderboard = leaderboardOf(ranked.ranking, peerId, ranked.atMs)
      return sealLeaderboard(key, runId, { ...leaderboard, head: recorder.head() })
    },
  }
}
