import type { PrivateKey } from '@libp2p/interface'
import { atMost, distinct, finite, integer, label, present, text, timeMs } from './bounds.js'
import { type Codec, codec, type Decoded } from './codec.js'
import { openEnvelope, sealEnvelope } from './envelope.js'
import { refusal, SwarmRefusal } from './errors.js'
import { prove } from './gen/swarm.js'
import { LIMITS } from './limits.js'
import { MAX_ROUND } from './manifest.js'
import { bytes, double, message, number } from './wire-shape.js'

/** A key that works for a run, and what it has earned. */
export interface LeaderboardKey {
  readonly peerId: string
  /** The name that it gave itself; null: none. Anybody can give themselves any. */
  readonly team: string | null
  readonly credit: number
}

/** What the keys that name one team have earned together. */
export interface LeaderboardTeam {
  readonly name: string
  readonly keys: number
  readonly credit: number
}

/** Who has earned how much in a run, signed by its key: whoever passes it on cannot change it. */
export interface Leaderboard {
  /** The run's version in force when it was made. */
  readonly version: number
  readonly issuedAtMs: number
  /** Keys and teams that have earned anything: more than are listed, where there is no room for all. */
  readonly allKeys: number
  readonly allTeams: number
  /** Most credit first, as many as there is room for; so are the teams. */
  readonly keys: readonly LeaderboardKey[]
  readonly teams: readonly LeaderboardTeam[]
  /** The key that was asked for, wherever it stands; null: none was, or it has earned nothing. */
  readonly asked: { readonly rank: number; readonly key: LeaderboardKey } | null
}

/** Words of visible characters with single blanks between them: nothing in it can hide, reorder or break a line. */
const TEAM = /^[^\p{C}\p{Z}]+(?: [^\p{C}\p{Z}]+)*$/u
const MOST = 2 ** 32 - 1
const MAX_CREDIT = 2 ** 53

/** @throws SwarmRefusal for what is not the name of a team */
export function teamName(value: string): string {
  text(value, 'teamBytes', 'team')
  if (!TEAM.test(value) || value !== value.normalize('NFC'))
    throw refusal('malformed', 'a team is words of visible characters, in Unicode’s composed form (NFC)')
  return value
}

export function isTeamName(value: string): boolean {
  try {
    teamName(value)
    return true
  } catch (why) {
    if (why instanceof SwarmRefusal) return false
    throw why
  }
}

const KEY = { 1: bytes(), 2: bytes(), 3: double() }

export const leaderboard: Codec<Leaderboard> = codec<Leaderboard, prove.Leaderboard.$Properties>({
  what: 'leaderboard',
  limit: 'leaderboardBytes',
  type: prove.Leaderboard,
  shape: {
    1: number(),
    2: double(),
    3: number(),
    4: number(),
    5: message(KEY, LIMITS.leaderboardKeys.value),
    6: message({ 1: bytes(), 2: number(), 3: double() }, LIMITS.leaderboardTeams.value),
    7: message({ 1: number(), 2: message(KEY) }),
  },
  read: (wire) => {
    const keys = wire.keys.map(readKey)
    const teams = wire.teams.map(({ name, keys: members, credit }) => ({
      name: teamName(name),
      keys: integer(members, 1, MOST, 'keys of a team'),
      credit: finite(credit, 0, MAX_CREDIT, 'credit of a team'),
    }))
    distinct(
      keys.map(({ peerId }) => peerId),
      'keys of a leaderboard',
    )
    distinct(
      teams.map(({ name }) => name),
      'teams of a leaderboard',
    )
    for (const list of [keys, teams]) descending(list)
    const allKeys = integer(wire.allKeys, keys.length, MOST, 'number of keys')
    return {
      version: integer(wire.version, 0, MAX_ROUND, 'version'),
      issuedAtMs: timeMs(wire.issuedAtMs, 'time of issue'),
      allKeys,
      allTeams: integer(wire.allTeams, teams.length, MOST, 'number of teams'),
      keys,
      teams,
      asked: wire.asked
        ? { rank: integer(wire.asked.rank, 1, allKeys, 'rank'), key: readKey(present(wire.asked.key, 'asked key')) }
        : null,
    }
  },
  write: ({ keys, asked, ...rest }) => ({
    ...rest,
    teams: [...rest.teams],
    keys: keys.map(writeKey),
    asked: asked && { rank: asked.rank, key: writeKey(asked.key) },
  }),
})

const writeKey = ({ team, ...key }: LeaderboardKey): prove.LeaderboardKey.$Properties => ({ ...key, team: team ?? '' })

function readKey({ peerId, team, credit }: Decoded<prove.LeaderboardKey.$Properties>): LeaderboardKey {
  return {
    peerId: label(peerId, 'nameBytes', 'peer id'),
    team: team === '' ? null : teamName(team),
    credit: finite(credit, 0, MAX_CREDIT, 'credit'),
  }
}

function descending(list: readonly { readonly credit: number }[]): void {
  if (list.some(({ credit }, i) => i > 0 && credit > list[i - 1]!.credit))
    throw refusal('malformed', 'a leaderboard has most credit first')
}

export const sealLeaderboard = (key: PrivateKey, runId: string, content: Leaderboard): Promise<Uint8Array> =>
  sealEnvelope(key, 'leaderboardBytes', { kind: 'leaderboard', runId, payload: leaderboard.encode(content) })

/** @throws SwarmRefusal; `wrong_signer` for every key but the coordinator's */
export async function openLeaderboard(data: Uint8Array, runId: string): Promise<Leaderboard> {
  const { payload } = await openEnvelope(data, 'leaderboardBytes', { kind: 'leaderboard', runId, signer: runId })
  return leaderboard.parse(payload)
}

export interface LeaderboardRequest {
  /** Whose place is wanted besides; null: nobody's. Only the coordinator knows those that are not listed. */
  readonly peerId: string | null
  /** The team of whoever asks from now on; null: none; left out: as it was. Only the coordinator takes note of it. */
  readonly team?: string | null
}

export const leaderboardRequest: Codec<LeaderboardRequest> = codec<
  LeaderboardRequest,
  prove.LeaderboardRequest.$Properties
>({
  what: 'leaderboard request',
  limit: 'leaderboardRequestBytes',
  type: prove.LeaderboardRequest,
  shape: { 1: bytes(), 2: bytes() },
  read: ({ peerId, team }) => ({
    peerId: peerId === '' ? null : label(peerId, 'nameBytes', 'peer id'),
    // The generated declaration calls a member of a oneof present; one that was not sent is null.
    ...teamOf(team as string | null),
  }),
  write: ({ peerId, team }) => ({ peerId: peerId ?? '', ...(team === undefined ? {} : { team: team ?? '' }) }),
})

const teamOf = (sent: string | null): Pick<LeaderboardRequest, 'team'> =>
  sent === null ? {} : { team: sent === '' ? null : teamName(sent) }

/** A sealed `Leaderboard`. */
export const leaderboardResponse: Codec<Uint8Array> = codec<Uint8Array, prove.LeaderboardResponse.$Properties>({
  what: 'leaderboard response',
  limit: 'leaderboardResponseBytes',
  type: prove.LeaderboardResponse,
  shape: { 1: bytes() },
  read: ({ leaderboard: sealed }) => {
    atMost('leaderboardBytes', sealed.length, 'leaderboard')
    if (sealed.length === 0) throw refusal('malformed', 'no leaderboard')
    return sealed
  },
  write: (sealed) => ({ leaderboard: sealed }),
})
