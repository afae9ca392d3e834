import { z } from 'zod'
import type { Leaderboard } from '../../proto/index.js'

/** Place of a key on the leaderboard of a run. */
export const leaderboardPlace = z.strictObject({
  rank: z.number(),
  /** Number of keys with credit. */
  keys: z.number(),
  /** Team of the key. */
  team: z.string().nullable(),
  /** Null: the key has no team, or the leaderboard does not list its team. */
  teamRank: z.number().nullable(),
  teams: z.number(),
})
export type LeaderboardPlace = z.output<typeof leaderboardPlace>

/** Returns the place of a key; null: the key has no credit, or the leaderboard neither lists the key nor was requested for it. */
export function placeOn(
  { asked, keys, allKeys, teams, allTeams }: Leaderboard,
  peerId: string,
): LeaderboardPlace | null {
  const listed = keys.findIndex((key) => key.peerId === peerId)
  const own = asked?.key.peerId === peerId ? asked : listed === -1 ? null : { rank: listed + 1, key: keys[listed]! }
  if (own === null) return null
  const { team } = own.key
  const teamPlace = team === null ? -1 : teams.findIndex(({ name }) => name === team)
  return { rank: own.rank, keys: allKeys, team, teamRank: teamPlace === -1 ? null : teamPlace + 1, teams: allTeams }
}

/** Formats a place: `place 12 of 40; team "night shift", place 2 of 5`. */
export function placeText({ rank, keys, team, teamRank, teams }: LeaderboardPlace): string {
  const place = `place ${rank} of ${keys}`
  if (team === null) return place
  return `${place}; team "${team}"${teamRank === null ? '' : `, place ${teamRank} of ${teams}`}`
}
