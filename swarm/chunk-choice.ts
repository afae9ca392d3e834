import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus'
import { LIMITS, sha256 } from '../proto/index.js'
import { bitAt } from './partial-blob.js'

export interface ChunkChoiceParts {
  /** Indices of the chunks to fetch. */
  readonly missing: readonly number[]
  /** Peer id of this host. */
  readonly self: string
  /** The source that all nodes share; null: all sources are equal, and none reports which chunks it has. */
  readonly origin: string | null
  /** How long other sources may deliver nothing before the origin is asked for chunks that they have. Shrinks with each such request. */
  readonly patienceMs: number
  readonly now: () => number
}

/** Chooses the chunk that a source is asked for next. */
export interface ChunkChoice {
  readonly left: number
  /** Time since the last chunk from any source. */
  readonly silentMs: number
  /** Records the chunks that a source other than the origin has; null: the source takes no part. */
  holds(source: string, bits: Uint8Array | null): void
  /** Returns the chunks that no other source has or is asked for. */
  wanted(): readonly number[]
  /** Records the chunk that the origin offers; null: enough nodes have received each wanted chunk. */
  offer(index: number | null): void
  /** Chooses a chunk. @param lacks  chunks that the source did not have when asked. @returns  null: none at the moment */
  next(source: string, lacks: ReadonlySet<number>): number | null
  /** Records a request to a source. @returns  call it when the request is over */
  ask(source: string, index: number): () => void
  /** Records bytes that arrived from a source. */
  received(source: string, bytes: number): void
  /** Records a verified chunk. @returns  whether it was still missing */
  arrived(source: string, index: number): boolean
}

/** Least time that other sources may be silent before the origin is asked for chunks that only they expect. */
export const KEEP_UP_MS = 4000
/** Least number of chunks that other sources must deliver within the patience. Otherwise a complete neighbour on a slow line could delay a fetch forever. */
export const LEAST_OF_OTHERS = 2
/**
 * Both times above extend to the time that the origin takes for this number of chunks. On a busy machine or line all sources are slow,
 * and the origin, which all nodes then ask, is the slowest.
 */
export const KEEP_UP_CHUNKS = 4
export const PATIENCE_CHUNKS = 10

/**
 * Creates the choice for one fetch. Without an origin, each source is asked for any free chunk, or for one that is requested elsewhere.
 *
 * With an origin, nodes that fetch the same blob at the same time share it out among themselves. The origin is asked for chunks that it
 * has offered, because too few nodes have them. All other chunks pass from neighbour to neighbour. There are two exceptions. While nothing
 * arrives, the origin is asked for chunks that no neighbour has. If the neighbours that have a chunk are silent or slow, the origin is
 * asked for that chunk.
 */
export function createChunkChoice({ missing, self, origin, patienceMs, now }: ChunkChoiceParts): ChunkChoice {
  const remaining = new Set(inOwnOrder(missing, self))
  const holdings = new Map<string, Uint8Array>()
  const underWay = new Map<number, Set<string>>()
  const startMs = now()
  let offered: number | null = null
  let chunkMs = startMs
  let lastMs = startMs
  /** When other sources last delivered, or the origin's offer last gave them more time. */
  let lastOfOthersMs = startMs
  let bytesOfOthers = 0
  let countedOfOthers = 0
  let originSteps = 0
  let originChunkMs = 0
  let originAskedMs: number | null = null

  const othersHold = (index: number): boolean => [...holdings.values()].some((bits) => bitAt(bits, index))
  const isUnderWay = (index: number): boolean => (underWay.get(index)?.size ?? 0) > 0
  const originTakes = (chunks: number): number =>
    chunks * Math.max(originChunkMs, originAskedMs === null ? 0 : now() - originAskedMs)
  const othersKeepUp = (): boolean =>
    now() - lastOfOthersMs < Math.max(KEEP_UP_MS, originTakes(KEEP_UP_CHUNKS)) && holdings.size > 0
  const othersAreSlow = (): boolean => {
    const enoughMs = Math.max(patienceMs, originTakes(PATIENCE_CHUNKS))
    const due = Math.floor((now() - startMs) / enoughMs) * LEAST_OF_OTHERS * LIMITS.chunkBytes.value
    return now() - lastMs > enoughMs / (1 + originSteps) || bytesOfOthers < due
  }

  const free = (source: string, isThere: (index: number) => boolean): number | null => {
    let again: number | null = null
    for (const index of remaining) {
      if (!isThere(index)) continue
      const asked = underWay.get(index)
      if (!asked || asked.size === 0) return index
      if (again === null && asked.size === 1 && !asked.has(source)) again = index
    }
    // With an origin, a second copy is worth its traffic only when every missing chunk is requested.
    return origin === null || [...remaining].every(isUnderWay) ? again : null
  }
  const ofOrigin = (lacks: ReadonlySet<number>): number | null => {
    const ours = offered
    offered = null
    if (ours !== null && remaining.has(ours) && !isUnderWay(ours) && !lacks.has(ours)) {
      lastOfOthersMs = now()
      return ours
    }
    const fresh = othersKeepUp() ? null : free(origin!, (index) => !lacks.has(index) && !othersHold(index))
    if (fresh !== null || !othersAreSlow()) return fresh
    originSteps += 1
    return free(origin!, (index) => !lacks.has(index))
  }

  return {
    get left() {
      return remaining.size
    },
    get silentMs() {
      return now() - chunkMs
    },
    holds(source, bits) {
      if (bits) holdings.set(source, bits)
      else holdings.delete(source)
    },
    wanted: () => [...remaining].filter((index) => !isUnderWay(index) && !othersHold(index)),
    offer(index) {
      offered = index
      // The chunks are on their way from neighbour to neighbour. If all waiting nodes asked the origin again, it would send a copy to each.
      if (index === null) lastOfOthersMs = now()
    },
    next(source, lacks) {
      if (source === origin) return ofOrigin(lacks)
      const bits = holdings.get(source) ?? NONE
      return free(source, (index) => !lacks.has(index) && (origin === null || bitAt(bits, index)))
    },
    ask(source, index) {
      const asked = underWay.get(index) ?? new Set()
      underWay.set(index, asked.add(source))
      if (source === origin) originAskedMs = now()
      return () => {
        asked.delete(source)
        if (source === origin) originAskedMs = null
      }
    },
    received(source, bytes) {
      if (source === origin) return
      bytesOfOthers += bytes
      if (bytesOfOthers - countedOfOthers < HEARD_BYTES) return
      countedOfOthers = bytesOfOthers
      lastMs = now()
      lastOfOthersMs = lastMs
    },
    arrived(source, index) {
      if (!remaining.delete(index)) return false
      chunkMs = now()
      lastMs = chunkMs
      if (source === origin && originAskedMs !== null) originChunkMs = chunkMs - originAskedMs
      return true
    },
  }
}

/** A source that sends this much is not silent: several chunks requested at once all complete late. Refusals are smaller. */
export const HEARD_BYTES = 64 * 1024

const NONE = new Uint8Array()

/** Shuffles indices by the peer id, so that nodes that start together fetch different chunks first. */
function inOwnOrder(indices: readonly number[], peer: string): readonly number[] {
  const random = xoroshiro128plus(Buffer.from(sha256(new TextEncoder().encode(peer)), 'hex').readInt32LE())
  return indices
    .map((index) => ({ index, place: random.next() }))
    .sort((a, b) => a.place - b.place)
    .map(({ index }) => index)
}
