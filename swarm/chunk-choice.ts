import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus'
import { sha256 } from '../proto/index.js'
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
  /** A source says which chunks it has; null: it takes no part, or no more. */
  holds(source: string, bits: Uint8Array | null): void
  /** @param lacks  chunks that the source did not have when it was asked for them. @returns  null: nothing at the moment */
  next(source: string, lacks: ReadonlySet<number>): number | null
  /** A source is being asked. @returns  it is not any more, whatever came of it */
  ask(source: string, index: number): () => void
  /** @returns  whether it was still missing */
  arrived(source: string, index: number): boolean
}

/** The origin rests while a chunk came from others within this time: one takes four seconds on a line of two megabits a second. */
export const KEEP_UP_MS = 4000
/** Chunks that others deliver at least within the patience. Fewer, and a neighbour on a slow line that has everything would hold a fetch up for ever. */
export const LEAST_OF_OTHERS = 2

/**
 * Without an origin each source is asked for any chunk that is free, and, when none is, for one that is under way elsewhere.
 *
 * With an origin, nodes that fetch the same blob at the same time share it out among themselves. The origin is asked for chunks that
 * none of the others has or awaits, and for none while the others deliver and have more to give: what one node has had from it comes
 * to all the others from neighbour to neighbour. Only if they are silent or slow it is asked for what they have, too.
 */
export function createChunkChoice({ missing, self, origin, patienceMs, now }: ChunkChoiceParts): ChunkChoice {
  const remaining = new Set(inOwnOrder(missing, self))
  const holdings = new Map<string, Uint8Array>()
  const underWay = new Map<number, Set<string>>()
  const startMs = now()
  let lastMs = startMs
  let lastOfOthersMs = startMs
  let ofOthers = 0
  let originSteps = 0

  const othersHold = (index: number): boolean => [...holdings.values()].some((bits) => bitAt(bits, index))
  const othersKeepUp = (): boolean => now() - lastOfOthersMs < KEEP_UP_MS && [...remaining].some(othersHold)
  const othersAreSlow = (): boolean => {
    const elapsedMs = now() - startMs
    const dueOfOthers = Math.floor(elapsedMs / patienceMs) * LEAST_OF_OTHERS
    return now() - lastMs > patienceMs / (1 + originSteps) || ofOthers < dueOfOthers
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
    return origin === null || [...remaining].every((index) => underWay.get(index)?.size) ? again : null
  }
  const ofOrigin = (lacks: ReadonlySet<number>): number | null => {
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
      return now() - lastMs
    },
    holds(source, bits) {
      if (bits) holdings.set(source, bits)
      else holdings.delete(source)
    },
    next(source, lacks) {
      if (source === origin) return ofOrigin(lacks)
      const bits = holdings.get(source) ?? NONE
      return free(source, (index) => !lacks.has(index) && (origin === null || bitAt(bits, index)))
    },
    ask(source, index) {
      const asked = underWay.get(index) ?? new Set()
      underWay.set(index, asked.add(source))
      return () => void asked.delete(source)
    },
    arrived(source, index) {
      if (!remaining.delete(index)) return false
      lastMs = now()
      if (source !== origin) {
        lastOfOthersMs = lastMs
        ofOthers += 1
      }
      return true
    },
  }
}

const NONE = new Uint8Array()

/** The same indices, in an order that depends on who asks: then nodes that start together can help each other. */
function inOwnOrder(indices: readonly number[], peer: string): readonly number[] {
  const random = xoroshiro128plus(Buffer.from(sha256(new TextEncoder().encode(peer)), 'hex').readInt32LE())
  return indices
    .map((index) => ({ index, place: random.next() }))
    .sort((a, b) => a.place - b.place)
    .map(({ index }) => index)
}
