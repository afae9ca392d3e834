import { type Leaderboard, type LeaderboardKey, type LeaderboardTeam, LIMITS } from '../../proto/index.js'
import type { RunState } from '../ledger/run-state.js'

/** All keys and teams with credit in a run, most credit first. */
export interface Ranking {
  readonly version: number
  readonly keys: readonly LeaderboardKey[]
  readonly teams: readonly LeaderboardTeam[]
}

/**
 * Ranks keys and teams. Keys that were excluded for good are omitted, and count for no team. Among equal credit, the earlier verdict
 * ranks first.
 * @param state  of a run that has published a version
 */
export function rankingOf(state: Pick<RunState, 'current' | 'nodes' | 'teams'>): Ranking {
  const keys: LeaderboardKey[] = []
  const teams = new Map<string, { keys: number; credit: number }>()
  for (const { node, credit, reputation } of state.nodes.values()) {
    if (credit <= 0 || reputation.quarantinedUntilMs === null) continue
    const team = state.teams.get(node) ?? null
    keys.push({ peerId: node, team, credit })
    if (team === null) continue
    const sum = teams.get(team) ?? { keys: 0, credit: 0 }
    teams.set(team, { keys: sum.keys + 1, credit: sum.credit + credit })
  }
  return {
    version: state.current?.version ?? 0,
    keys: keys.sort(byCredit),
    teams: Array.from(teams, ([name, sum]) => ({ name, ...sum })).sort(byCredit),
  }
}

const byCredit = (a: { readonly credit: number }, b: { readonly credit: number }): number => b.credit - a.credit

/** Returns the leaderboard message without the head of the log. @param asked  key whose rank is requested in addition; null: none */
export function leaderboardOf(
  { version, keys, teams }: Ranking,
  asked: string | null,
  issuedAtMs: number,
): Omit<Leaderboard, 'head'> {
  const place = asked === null ? -1 : keys.findIndex(({ peerId }) => peerId === asked)
  return {
    version,
    issuedAtMs,
    allKeys: keys.length,
    allTeams: teams.length,
    keys: keys.slice(0, LIMITS.leaderboardKeys.value),
    teams: teams.slice(0, LIMITS.leaderboardTeams.value),
    asked: place === -1 ? null : { rank: place + 1, key: keys[place]! },
  }
}
