import { sha256 } from './content-id.js'
import { refusal } from './errors.js'
import { LIMITS } from './limits.js'

/**
 * Version of the whole protocol: streams, topics and messages. An invitation contains it, so that a program of another version reports
 * the difference before it dials. Raise it with every change that excludes older programs.
 */
export const PROTOCOL_VERSION = 3

/** The first version of this package that speaks the protocol version. */
export const PROTOCOL_NEEDS = '0.1.0'

/** Names of the stream protocols. The version is part of the name and changes with the wire format. */
export const PROTOCOLS = {
  lease: '/prove/lease/4',
  group: '/prove/group/1',
  snapshot: '/prove/snapshot/3',
  verdict: '/prove/verdict/1',
  leaderboard: '/prove/leaderboard/1',
} as const
export type ProtocolName = keyof typeof PROTOCOLS

/** One of the parts into which the nodes of a run are divided for gossip about groups. */
export interface Shard {
  /** Number of shards of the run, a power of two. */
  readonly shards: number
  /** 0 .. shards - 1 */
  readonly shard: number
}

/** The shard of a run with one shard. */
export const WHOLE_RUN: Shard = { shards: 1, shard: 0 }

export interface TopicNames {
  readonly policy: string
  readonly groups: string
  readonly verdicts: string
  readonly addresses: string
}

/**
 * Returns the gossip topics of a node. All nodes of a run share those for the policy and for addresses.
 * @param runId  peer id of the run's coordinator
 */
export const topicsOf = (runId: string, { shards, shard }: Shard = WHOLE_RUN): TopicNames => ({
  policy: `/prove/${runId}/policy/4`,
  groups: `/prove/${runId}/groups/2/${shards}/${shard}`,
  verdicts: `/prove/${runId}/verdicts/2/${shards}/${shard}`,
  addresses: `/prove/${runId}/addresses/1`,
})

/** Numbers of shards that a run may have. */
export const SHARD_COUNTS: readonly number[] = Array.from(
  { length: Math.log2(LIMITS.gossipShards.value) + 1 },
  (_, doublings) => 2 ** doublings,
)

/** Reads a number of shards from a message. @throws SwarmRefusal `malformed` */
export function readShards(value: number): number {
  if (!SHARD_COUNTS.includes(value)) throw refusal('malformed', `${value} shards`)
  return value
}

/** Returns the place of a key among all shards of a run, 0 .. 2^32 - 1. It depends on the run, so nobody can prepare keys for many runs. */
export const shardPlace = (runId: string, peerId: string): number =>
  Number.parseInt(sha256(new TextEncoder().encode(`prove/shard/1\n${runId}\n${peerId}`)).slice(0, 8), 16)

/** Returns the shard at a place. When the number of shards doubles, each shard splits into two. */
export const shardAt = (place: number, shards: number): Shard => ({ shards, shard: place % shards })

/** Returns the shard of a key. @param shards  number of shards, a power of two */
export const shardOf = (runId: string, peerId: string, shards: number): Shard =>
  shardAt(shardPlace(runId, peerId), shards)

/** Returns the topics of one shard, which not all nodes of a run share. */
export const shardTopicsOf = (runId: string, shard: Shard): readonly string[] => {
  const { groups, verdicts } = topicsOf(runId, shard)
  return [groups, verdicts]
}

/** A shard doubles and halves outside these shares of `LIMITS.shardNodes`. Their ratio is above two, so that no number of nodes changes it twice. */
const MOST_OF_SHARD = 1.5
const LEAST_OF_SHARD = 0.5

/**
 * Returns the number of shards for a number of nodes. It grows as far as necessary, and shrinks by one step: after a restart of the
 * coordinator few nodes are connected yet.
 * @param current     number of shards now
 * @param mayShrink   false: only growth
 * @param shardNodes  number of nodes that a shard should have
 */
export function shardsFor(
  nodes: number,
  {
    current,
    mayShrink,
    shardNodes,
  }: { readonly current: number; readonly mayShrink: boolean; readonly shardNodes: number },
): number {
  if (mayShrink && current > 1 && nodes < LEAST_OF_SHARD * shardNodes * current) return current / 2
  let shards = current
  while (shards < LIMITS.gossipShards.value && nodes > MOST_OF_SHARD * shardNodes * shards) shards *= 2
  return shards
}
