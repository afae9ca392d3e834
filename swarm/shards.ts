import { shardOf, type VerdictDigest } from '../proto/index.js'
import { type Channels, channelsOf, type ReceivedGroup } from './channels.js'
import type { Clock } from './clock.js'
import type { Listener } from './gossip.js'
import type { SwarmHost } from './host.js'

/** After a change, hosts stay in the shards of the earlier number for this time. The coordinator repeats the new number every few seconds. */
export const SHARD_CHANGE_MS = 60_000

/** What is said in a shard. */
interface ShardMessages {
  readonly groups: ReceivedGroup
  readonly verdicts: VerdictDigest
}
type ShardListeners = { [K in keyof ShardMessages]?: Listener<ShardMessages[K]> }

type ShardHost = Pick<SwarmHost, 'clock' | 'gossip' | 'peerId' | 'runId'>

/** A node's place in gossip about groups. It follows the number of shards that the coordinator announces. */
export interface ShardMember {
  /** Number of shards in force, as far as the node knows. */
  readonly shards: number
  /** Subscribes to the groups or verdicts of the node's shard, also after changes. @returns  unsubscribes */
  join<K extends keyof ShardMessages>(kind: K, listener: Listener<ShardMessages[K]>): () => void
  /** Sends a sealed announcement of a group to the shard. @returns  as `Gossip.publish` */
  publish(sealed: Uint8Array): Promise<number>
  /** Follows an announcement of the coordinator. Announcements of earlier rounds are ignored. */
  follow(announcement: { readonly round: number; readonly shards: number }): void
  close(): void
}

/** Creates the member of a host. It begins in the only shard of a small run, and moves with the first announcement. */
export function createShardMember(host: ShardHost): ShardMember {
  const { gossip, runId, peerId } = host
  const listeners: ShardListeners = {}
  const joined = new Map<Channels, Map<keyof ShardMessages, () => void>>()
  let round = -1

  const listen = (channels: Channels, kind: keyof ShardMessages): void => {
    const listener = listeners[kind]
    if (!listener) return
    const leave = gossip.join(channels[kind], listener as Listener<unknown>)
    joined.get(channels)?.set(kind, leave)
  }
  const moving = createMove(host.clock, (shards) => {
    const channels = channelsOf(runId, shardOf(runId, peerId, shards))
    joined.set(channels, new Map())
    listen(channels, 'groups')
    listen(channels, 'verdicts')
    const leave = (): void => {
      for (const stop of joined.get(channels)?.values() ?? []) stop()
      joined.delete(channels)
    }
    return { shards, channels, leave }
  })

  return {
    get shards() {
      return moving.inUse()[0]!.shards
    },
    join(kind, listener) {
      Object.assign(listeners, { [kind]: listener })
      for (const channels of joined.keys()) listen(channels, kind)
      return () => {
        delete listeners[kind]
        for (const topics of joined.values()) {
          topics.get(kind)?.()
          topics.delete(kind)
        }
      }
    },
    publish(sealed) {
      // Until others are known to have followed the change, those of the earlier shard pass it on.
      const heard = moving.inUse().find(({ channels }) => gossip.listeners(channels.groups).length > 0)
      return gossip.publish((heard ?? moving.inUse()[0]!).channels.groups, sealed)
    },
    follow(announcement) {
      if (announcement.round < round) return
      round = announcement.round
      moving.to(announcement.shards)
    },
    close: moving.close,
  }
}

/** The coordinator's place in all shards. */
export interface ShardHub {
  /** Number of shards in force. */
  readonly shards: number
  /** Listens in all shards of this number. To be called before a manifest names it, so that no announcement is lost. */
  follow(shards: number): void
  /** Sends a sealed verdict digest to the shard of a node. @throws as `Gossip.publish` */
  publishVerdicts(node: string, sealed: Uint8Array): Promise<void>
  close(): void
}

/** Creates the hub, which listens to the groups of every shard. */
export function createShardHub(host: ShardHost, listener: Listener<ReceivedGroup>): ShardHub {
  const { gossip, runId } = host
  const moving = createMove(host.clock, (shards) => {
    const stops = Array.from({ length: shards }, (_, shard) =>
      gossip.join(channelsOf(runId, { shards, shard }).groups, listener),
    )
    const leave = (): void => {
      for (const stop of stops) stop()
    }
    return { shards, leave }
  })
  return {
    get shards() {
      return moving.inUse()[0]!.shards
    },
    follow: moving.to,
    async publishVerdicts(node, sealed) {
      // Nodes that have not followed a change yet listen in their earlier shard only.
      for (const { shards } of moving.inUse())
        await gossip.publish(channelsOf(runId, shardOf(runId, node, shards)).verdicts, sealed)
    },
    close: moving.close,
  }
}

/**
 * Moves between numbers of shards. What belongs to a number is opened at once, and closed `SHARD_CHANGE_MS` after another number
 * replaced it. Begins with one shard.
 */
function createMove<T extends { leave(): void }>(clock: Pick<Clock, 'sleep'>, open: (shards: number) => T) {
  interface Place {
    readonly shards: number
    readonly opened: T
    /** Ends the wait before the place closes. */
    ending: AbortController | null
  }
  /** The place in force, then earlier ones. */
  let places: readonly Place[] = [{ shards: 1, opened: open(1), ending: null }]
  const remove = (place: Place): void => {
    places = places.filter((other) => other !== place)
    place.opened.leave()
  }
  const closeLater = (place: Place): void => {
    const ending = new AbortController()
    place.ending = ending
    clock.sleep(SHARD_CHANGE_MS, ending.signal).then(
      () => remove(place),
      () => undefined,
    )
  }
  return {
    inUse: (): readonly T[] => places.map(({ opened }) => opened),
    to(shards: number): void {
      const [current] = places
      if (current!.shards === shards) return
      const kept = places.find((place) => place.shards === shards)
      kept?.ending?.abort()
      const next = kept ?? { shards, opened: open(shards), ending: null }
      next.ending = null
      places = [next, ...places.filter((place) => place !== kept)]
      closeLater(current!)
    },
    close(): void {
      for (const place of places) {
        place.ending?.abort()
        remove(place)
      }
    },
  }
}
