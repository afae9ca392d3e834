import { LIMITS, SwarmRefusal, type VerdictDigest } from '../../proto/index.js'
import type { SeededRandom } from '../../servers/kernel/index.js'
import {
  type AnnouncementFilter,
  type Channel,
  type Clock,
  createAnnouncementFilter,
  type Listener,
  type ReceivedGroup,
} from '../../swarm/index.js'
import type { SimGossip } from '../chaos/sim-gossip.js'
import type { SimHost } from '../chaos/sim-host.js'
import type { VirtualTime } from '../chaos/virtual-time.js'
import { MEASURED } from './measured.js'

/** Neighbours of gossip that messages are passed on to at once, as `swarm/gossip.ts` sets it. */
const DEGREE = 6
/** What a hop takes besides the line: heartbeat-free forwarding and the check of a signature. */
const HOP_MS = 5
/** Deliveries to ten thousand nodes are made in so many ms at a time. */
const BIN_MS = 50

export interface TopicCount {
  messages: number
  /** As published, once. */
  bytes: number
  /** Messages and bytes that a node heard, on average: each message counts by the share of nodes that listened to its topic. */
  heard: number
  heardBytes: number
  /** Messages that volunteers did not pass on, for their bound on what others send through them. */
  held: number
}

/**
 * Gossip among thousands: a message reaches everybody over a random graph of the real degree, after the delays on its shortest way. What
 * is said to all is parsed and checked by one volunteer's real code and by the coordinator's, not by ten thousand: they all do the same.
 */
export interface Mesh {
  readonly counts: ReadonlyMap<string, TopicCount>
  /** Copies of a message that a node gets, and passes on, on average. */
  readonly copies: number
  attach(host: SimHost, alive: () => boolean): SimGossip
}

interface Member {
  readonly host: SimHost
  readonly alive: () => boolean
  readonly delayMs: number
  readonly joined: Map<string, Listening>
}

interface Listening {
  readonly channel: Channel<unknown>
  readonly listener: Listener<unknown>
}

export interface MeshParts {
  readonly time: VirtualTime
  readonly clock: Pick<Clock, 'elapsedMs'>
  readonly random: SeededRandom
  readonly runId: string
  readonly nodes: number
  readonly delayMs: () => number
}

export function createMesh({ time, clock, random, runId, nodes, delayMs }: MeshParts): Mesh {
  const counts = new Map<string, TopicCount>()
  /** Volunteers that listen to a topic. */
  const listening = new Map<string, number>()
  const members = new Map<string, Member>()
  const delays = delaysFrom(random, nodes, delayMs)
  /** One volunteer's filter for each shard. */
  const filters = new Map<string, AnnouncementFilter>()
  const filterOf = (topic: string): AnnouncementFilter => {
    const filter =
      filters.get(topic) ??
      createAnnouncementFilter(clock, LIMITS.groupsPerMinute.value, LIMITS.groupsPassedOnPerMinute.value)
    filters.set(topic, filter)
    return filter
  }
  const listen = (topic: string, change: 1 | -1): void =>
    void listening.set(topic, (listening.get(topic) ?? 0) + change)

  const count = (topic: string, bytes: number): TopicCount => {
    const sum = counts.get(topic) ?? { messages: 0, bytes: 0, heard: 0, heardBytes: 0, held: 0 }
    counts.set(topic, sum)
    sum.messages += 1
    sum.bytes += bytes
    const share = (listening.get(topic) ?? 0) / Math.max(1, members.size - 1)
    sum.heard += share
    sum.heardBytes += share * (bytes + MEASURED.gossipFrameBytes.value)
    return sum
  }
  const deliver = ({ host, alive, joined }: Member, topic: string, value: unknown): void => {
    if (alive() && host.ends.size > 0) joined.get(topic)?.listener.deliver(value, runId)
  }

  /** To everybody, or to whom it is about: the others throw it away. */
  const spread = (topic: string, value: unknown): void => {
    if (topic.includes('/verdicts/')) {
      const member = members.get((value as VerdictDigest).peerId)
      if (member) time.after(member.delayMs, () => deliver(member, topic, value), member.host.machine)
      return
    }
    const bins = new Map<number, Member[]>()
    for (const member of members.values()) {
      if (!member.joined.has(topic) || member.host.peerId === runId) continue
      const bin = Math.ceil(member.delayMs / BIN_MS)
      const there = bins.get(bin)
      if (there) there.push(member)
      else bins.set(bin, [member])
    }
    for (const [bin, reached] of bins)
      time.after(bin * BIN_MS, () => {
        for (const member of reached) deliver(member, topic, value)
      })
  }

  /** A volunteer's announcement on its way to the coordinator. */
  const carry = (topic: string, data: Uint8Array, member: Member, sum: TopicCount): void => {
    const coordinator = members.get(runId)
    const there = coordinator?.joined.get(topic)
    if (!coordinator || !there) return
    const pass = async (): Promise<void> => {
      filterOf(topic).check((await there.channel.parse(data)) as ReceivedGroup)
      time.after(member.delayMs, () => arrive(coordinator, there, topic, data), coordinator.host.machine)
    }
    pass().catch((why: unknown) => {
      if (!(why instanceof SwarmRefusal)) throw why
      sum.held += 1
    })
  }
  const arrive = ({ host, alive }: Member, { channel, listener }: Listening, topic: string, data: Uint8Array): void => {
    const judged = async (): Promise<void> => {
      const value = await channel.parse(data)
      await listener.check?.(value, host.peerId)
      if (alive()) listener.deliver(value, host.peerId)
    }
    judged().catch((why: unknown) => {
      if (why instanceof SwarmRefusal)
        host.onRefusal({ peer: host.peerId, code: why.code, effect: why.effect, detail: why.detail, protocol: topic })
      else host.logger.error({ topic, error: why }, 'a gossip validator failed')
    })
  }

  return {
    counts,
    // Everybody passes it on once to all neighbours but the one that it came from.
    copies: DEGREE - 1,
    attach(host, alive) {
      const own: Member = { host, alive, delayMs: delays[random.int(0, delays.length - 1)]!, joined: new Map() }
      members.set(host.peerId, own)
      return {
        listensOn: (topic) => alive() && own.joined.has(topic),
        receive: () => undefined,
        join(channel, listener) {
          own.joined.set(channel.topic, { channel, listener: listener as Listener<unknown> })
          if (host.peerId !== runId) listen(channel.topic, 1)
          return () => {
            if (own.joined.delete(channel.topic) && host.peerId !== runId) listen(channel.topic, -1)
          }
        },
        async publish(channel, data) {
          if (data.length > channel.maxBytes)
            throw new SwarmRefusal('reject', 'too_large', `${data.length} B on ${channel.topic}`)
          const sum = count(channel.topic, data.length)
          if (host.peerId === runId) {
            // One volunteer's check, and the way to all of them: not in the coordinator's turn, of which each counts.
            time.after(0, () => void channel.parse(data).then((value) => spread(channel.topic, value)))
          } else carry(channel.topic, data, own, sum)
          return DEGREE
        },
        // The coordinator is connected to all.
        listeners: ({ topic }) => (members.get(runId)?.joined.has(topic) ? [runId] : []),
        mesh: () => [],
        close() {
          if (host.peerId !== runId) for (const topic of own.joined.keys()) listen(topic, -1)
          own.joined.clear()
          members.delete(host.peerId)
        },
      }
    },
  }
}

/** Time from one node to each other over a random graph (ms). */
function delaysFrom(random: SeededRandom, nodes: number, delayMs: () => number): number[] {
  const neighbours: number[][] = Array.from({ length: nodes }, () => [])
  for (let one = 0; one < nodes; one++)
    for (let link = 0; link < DEGREE / 2; link++) {
      const other = random.int(0, nodes - 1)
      neighbours[one]!.push(other)
      neighbours[other]!.push(one)
    }
  const delays = new Map<number, number>([[0, 0]])
  for (const [node, soFar] of delays)
    for (const other of neighbours[node]!) if (!delays.has(other)) delays.set(other, soFar + delayMs() + HOP_MS)
  return [...delays.values()]
}
