import { z } from 'zod'
import type { Leaderboard } from '../../proto/index.js'

/** Where a key stands on a run's board. */
export const leaderboardPlace = z.strictObject({
  rank: z.number(),
  /** Keys that have earned anything. */
  keys: z.number(),
  /** The name that the key gave itself. */
  team: z.string().nullable(),
  /** Null: it has no team, or that one is not among those that are listed. */
  teamRank: z.number().nullable(),
  teams: z.number(),
})
export type LeaderboardPlace = z.output<typeof leaderboardPlace>

/** @returns  null: the key has earned nothing, or stands behind those that are listed on a board that others have asked for */
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

/** `place 12 of 40; team "night shift", place 2 of 5`. */
export function placeText({ rank, keys, team, teamRank, teams }: LeaderboardPlace): string {
  const place = `place ${rank} of ${keys}`
  if (team === null) return place
  return `${place}; team "${team}"${teamRank === null ? '' : `, place ${teamRank} of ${teams}`}`
}
