import { LIMITS } from '../proto/index.js'
import type { ByteStream } from './byte-stream.js'
import { TransportError } from './errors.js'
import type { SwarmHost } from './host.js'
import type { PeerStanding } from './serving.js'

/** A stream that a host serves. */
export interface InboundStream {
  /** Notes whether the stream waits for a request of its peer. A stream without one is the first to be dropped. */
  waits(isIdle: boolean): void
  /** Releases the place of the stream. */
  close(): void
}

/** The open streams of one protocol, shared among the peers of a host. */
export interface InboundStreams {
  /** Takes a place for a stream. @returns  null: the stream is refused, and was aborted */
  take(bytes: ByteStream, peer: string): InboundStream | null
}

interface Entry {
  readonly bytes: ByteStream
  readonly peer: string
  readonly standing: PeerStanding
  readonly block: string
  /** Since when the stream waits for a request; null: it is at work. */
  idleSinceMs: number | null
}

/** The standing that gives way first is first. */
const STANDINGS: readonly PeerStanding[] = ['stranger', 'registered', 'reliable']

/**
 * Creates the places for the streams of a protocol. A peer has at most `inboundStreamsPerPeer`. When all `inboundStreams` are open, a new one
 * replaces, in this order:
 *
 * 1. a stream that has waited for a request for `crowdedIdleMs`;
 * 2. a stream of a lower standing, beyond the `guaranteedStreams` of that standing. Also one of a higher standing, if its own standing has
 *    fewer than are guaranteed;
 * 3. a stream of the block of addresses with the most streams of its own standing, if its own block has fewer;
 * 4. a stream of the peer with the most streams of its own block, if its own peer has fewer.
 *
 * So a few keys, or many keys of one block, take no place from others, and reliable keys always find one.
 */
export function createInboundStreams(
  host: Pick<SwarmHost, 'serving' | 'clock' | 'onRefusal'>,
  protocol: string,
): InboundStreams {
  const { serving, clock } = host
  const open = new Set<Entry>()
  const held = new Map<string, number>()

  const drop = (entry: Entry): void => {
    if (!open.delete(entry)) return
    const left = held.get(entry.peer)! - 1
    if (left > 0) held.set(entry.peer, left)
    else held.delete(entry.peer)
  }

  const refuse = ({ bytes, peer }: Entry): null => {
    host.onRefusal({ peer, code: 'overloaded', effect: 'ignore', detail: `${open.size} streams`, protocol })
    bytes.abort(new TransportError('busy', 'too many streams'))
    return null
  }

  const reportCrowding = (): void =>
    serving.crowded(protocol, () => {
      const crowd = largest(open, ({ block }) => block)
      return {
        streams: open.size,
        block: crowd[0]!.block,
        ofBlock: crowd.length,
        keysOfBlock: new Set(crowd.map(({ peer }) => peer)).size,
      }
    })

  return {
    take(bytes, peer) {
      const entry: Entry = {
        ...{ bytes, peer, idleSinceMs: clock.elapsedMs() },
        standing: serving.standingOf(peer),
        block: serving.blockOf(peer),
      }
      if ((held.get(peer) ?? 0) >= LIMITS.inboundStreamsPerPeer.value) return refuse(entry)
      if (open.size >= LIMITS.inboundStreams.value) {
        reportCrowding()
        const victim = victimOf(entry, [...open], clock.elapsedMs())
        if (!victim) return refuse(entry)
        drop(victim)
        victim.bytes.abort(new TransportError('busy', 'all streams are in use, and another peer needs one'))
      }
      open.add(entry)
      held.set(peer, (held.get(peer) ?? 0) + 1)
      return {
        waits(isIdle) {
          entry.idleSinceMs = isIdle ? clock.elapsedMs() : null
        },
        close: () => drop(entry),
      }
    },
  }
}

/** Returns the stream that gives way to a new one; null: none does. */
function victimOf(newcomer: Entry, open: readonly Entry[], nowMs: number): Entry | null {
  const mayIdle = open.filter(
    ({ standing, idleSinceMs }) =>
      rankOf(standing) <= rankOf(newcomer.standing) &&
      idleSinceMs !== null &&
      nowMs - idleSinceMs >= LIMITS.crowdedIdleMs.value,
  )
  if (mayIdle.length > 0) return mostDispensable(mayIdle)
  const guaranteed = LIMITS.guaranteedStreams.value
  const of = (standing: PeerStanding): Entry[] => open.filter((entry) => entry.standing === standing)
  const isShort = of(newcomer.standing).length < guaranteed
  for (const standing of STANDINGS) {
    const entries = of(standing)
    const mustGiveWay = rankOf(standing) < rankOf(newcomer.standing) || isShort
    if (standing !== newcomer.standing && mustGiveWay && entries.length > guaranteed) return mostDispensable(entries)
  }
  return amongEquals(newcomer, of(newcomer.standing))
}

function amongEquals(newcomer: Entry, entries: readonly Entry[]): Entry | null {
  if (entries.length === 0) return null
  const own = entries.filter(({ block }) => block === newcomer.block)
  const crowd = largest(entries, ({ block }) => block)
  if (crowd.length > own.length && crowd[0]!.block !== newcomer.block) return mostDispensable(crowd)
  if (own.length === 0) return null
  const busiest = largest(own, ({ peer }) => peer)
  const ofPeer = own.filter(({ peer }) => peer === newcomer.peer).length
  return busiest.length > ofPeer ? mostDispensable(busiest) : null
}

/** Returns a stream of the largest block, in it of the peer with the most streams, and of that peer the one that has waited for longest. */
function mostDispensable(entries: Iterable<Entry>): Entry {
  const ofPeer = largest(
    largest(entries, ({ block }) => block),
    ({ peer }) => peer,
  )
  const sinceMs = ({ idleSinceMs }: Entry): number => idleSinceMs ?? Number.POSITIVE_INFINITY
  return ofPeer.reduce((oldest, entry) => (sinceMs(entry) < sinceMs(oldest) ? entry : oldest))
}

const rankOf = (standing: PeerStanding): number => STANDINGS.indexOf(standing)

/** Returns the largest part of the entries, which are grouped by a name. */
function largest(entries: Iterable<Entry>, nameOf: (entry: Entry) => string): readonly Entry[] {
  const parts = new Map<string, Entry[]>()
  for (const entry of entries) {
    const part = parts.get(nameOf(entry))
    if (part) part.push(entry)
    else parts.set(nameOf(entry), [entry])
  }
  return [...parts.values()].reduce((most, part) => (part.length > most.length ? part : most), [])
}
