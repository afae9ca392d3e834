import type { PrivateKey } from '@libp2p/interface'
import { atMost, distinct, finite, integer, label, present, text, timeMs } from './bounds.js'
import { type Codec, codec, type Decoded } from './codec.js'
import { openEnvelope, sealEnvelope } from './envelope.js'
import { refusal, SwarmRefusal } from './errors.js'
import { prove } from './gen/swarm.js'
import { LIMITS } from './limits.js'
import { LOG_HEAD_SHAPE, type LogHead, readLogHead, writeLogHead } from './log-head.js'
import { MAX_ROUND } from './manifest.js'
import { bytes, double, message, number } from './wire-shape.js'

/** A key that works for a run, and its credit. */
export interface LeaderboardKey {
  readonly peerId: string
  /** Team name that the key has chosen; null: none. Any key may choose any name. */
  readonly team: string | null
  readonly credit: number
}

/** A team, and the credit of all keys that name it. */
export interface LeaderboardTeam {
  readonly name: string
  readonly keys: number
  readonly credit: number
}

/** The credit of a run's keys and teams. Signed by the run's key, so peers cannot change it. */
export interface Leaderboard {
  /** The run's version when the leaderboard was created. */
  readonly version: number
  readonly issuedAtMs: number
  /** Number of keys and teams with credit, listed or not. */
  readonly allKeys: number
  readonly allTeams: number
  /** The keys with the most credit, in that order. Teams likewise. */
  readonly keys: readonly LeaderboardKey[]
  readonly teams: readonly LeaderboardTeam[]
  /** The requested key, at any rank; null: no key was requested, or it has no credit. */
  readonly asked: { readonly rank: number; readonly key: LeaderboardKey } | null
  /** The coordinator's log when it signed this leaderboard. */
  readonly head: LogHead
}

/** Words of visible characters, separated by single spaces. The name cannot hide text, reorder it or break a line. */
const TEAM = /^[^\p{C}\p{Z}]+(?: [^\p{C}\p{Z}]+)*$/u
const MOST = 2 ** 32 - 1
const MAX_CREDIT = 2 ** 53

/** Checks a team name. @throws SwarmRefusal */
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
    8: message(LOG_HEAD_SHAPE),
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
      head: readLogHead(present(wire.head, 'head of the log')),
    }
  },
  write: ({ keys, asked, head, ...rest }) => ({
    ...rest,
    head: writeLogHead(head),
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
    throw refusal('malformed', 'a leaderboard is not in the order of credit')
}

export const sealLeaderboard = (key: PrivateKey, runId: string, content: Leaderboard): Promise<Uint8Array> =>
  sealEnvelope(key, 'leaderboardBytes', { kind: 'leaderboard', runId, payload: leaderboard.encode(content) })

/** Opens a leaderboard. @throws SwarmRefusal; `wrong_signer` for every key except the coordinator's */
export async function openLeaderboard(data: Uint8Array, runId: string): Promise<Leaderboard> {
  const { payload } = await openEnvelope(data, 'leaderboardBytes', { kind: 'leaderboard', runId, signer: runId })
  return leaderboard.parse(payload)
}

export interface LeaderboardRequest {
  /** Key whose place is requested; null: none. Only the coordinator knows the places of keys that are not listed. */
  readonly peerId: string | null
  /** New team of the requesting key; null: none; left out: unchanged. Only the coordinator records it. */
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
    // The generated declaration does not allow null, but a member of a oneof that was not sent is null.
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
