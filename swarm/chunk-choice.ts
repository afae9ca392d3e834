import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus'
import { LIMITS, sha256 } from '../proto/index.js'
import { bitAt } from './partial-blob.js'

export interface ChunkChoiceParts {
  /** Indices of the chunks that are to be fetched. */
  readonly missing: readonly number[]
  /** Peer id of whoever fetches. */
  readonly self: string
  /** The source that everybody turns to; null: all sources are alike, and none says what it has. */
  readonly origin: string | null
  /** How long the others may deliver nothing before the origin is asked for what they have; less each time. */
  readonly patienceMs: number
  readonly now: () => number
}

/** Which chunk a source is asked for next. */
export interface ChunkChoice {
  readonly left: number
  /** Since a chunk came last, from whomever. */
  readonly silentMs: number
  /** A source other than the origin says which chunks it has; null: it takes no part, or no more. */
  holds(source: string, bits: Uint8Array | null): void
  /** What none of the others has or awaits. */
  wanted(): readonly number[]
  /** The origin had rather give this one than leave it to the others; null: enough of them have had each that is wanted. */
  offer(index: number | null): void
  /** @param lacks  chunks that the source did not have when it was asked for them. @returns  null: nothing at the moment */
  next(source: string, lacks: ReadonlySet<number>): number | null
  /** A source is being asked. @returns  it is not any more, whatever came of it */
  ask(source: string, index: number): () => void
  /** Some of what may become a chunk has come. */
  received(source: string, bytes: number): void
  /** @returns  whether it was still missing */
  arrived(source: string, index: number): boolean
}

/** How long the others may be silent before the origin is asked for what is on its way among them, at least. */
export const KEEP_UP_MS = 4000
/** Chunks that others deliver at least within the patience. Fewer, and a neighbour on a slow line that has everything would hold a fetch up for ever. */
export const LEAST_OF_OTHERS = 2
/**
 * Others may also take as long as the origin takes for so many chunks, in place of the two times above: on a busy machine or a
 * crowded line everybody is slow, and the origin, which all turn to then, the slowest.
 */
export const KEEP_UP_CHUNKS = 4
export const PATIENCE_CHUNKS = 10

/**
 * Without an origin each source is asked for any chunk that is free, and, when none is, for one that is under way elsewhere.
 *
 * With an origin, nodes that fetch the same blob at the same time share it out among themselves. The origin is asked for chunks that
 * it has offered, because too few have them yet. All others come from neighbour to neighbour: the origin is asked for what no neighbour
 * has only while nothing comes, and for what they have only if they are silent or slow.
 */
export function createChunkChoice({ missing, self, origin, patienceMs, now }: ChunkChoiceParts): ChunkChoice {
  const remaining = new Set(inOwnOrder(missing, self))
  const holdings = new Map<string, Uint8Array>()
  const underWay = new Map<number, Set<string>>()
  const startMs = now()
  let offered: number | null = null
  let chunkMs = startMs
  let lastMs = startMs
  /** Since the others gave something, or were left in peace because of what the origin gave or said. */
  let lastOfOthersMs = startMs
  let bytesOfOthers = 0
  let heardOfOthers = 0
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
    // Among many that share a blob out, a second copy is worth its traffic only at the very end.
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
      // What the origin has given so many times is on its way: asked for it again by all who wait, it would give a copy to each.
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
      if (bytesOfOthers - heardOfOthers < HEARD_BYTES) return
      heardOfOthers = bytesOfOthers
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

/** Others are not silent who send so much: several chunks that come at once come together, after a long time. Refusals are smaller. */
export const HEARD_BYTES = 64 * 1024

const NONE = new Uint8Array()

/** The same indices, in an order that depends on who asks: then nodes that start together can help each other. */
function inOwnOrder(indices: readonly number[], peer: string): readonly number[] {
  const random = xoroshiro128plus(Buffer.from(sha256(new TextEncoder().encode(peer)), 'hex').readInt32LE())
  return indices
    .map((index) => ({ index, place: random.next() }))
    .sort((a, b) => a.place - b.place)
    .map(({ index }) => index)
}
