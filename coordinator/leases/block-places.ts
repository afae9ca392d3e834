import { LRUCache } from 'lru-cache'
import type { Clock } from '../../swarm/index.js'

/** How long a request that found no capacity counts. A node without work asks every half minute at least. */
const UNMET_MS = 60_000
const MOST_REMEMBERED = 256
/** Leases of a block for each free place, while other blocks find no capacity: so n blocks leave 1 / (3 n + 1) free. */
const LEASES_PER_FREE_PLACE = 3

/** Origins whose requests found no capacity lately, see `originOf`. */
export interface UnmetOrigins {
  note(origin: string): void
  /** Whether a request from another origin found no capacity. */
  hasOther(origin: string): boolean
}

export function createUnmetOrigins(clock: Pick<Clock, 'elapsedMs'>): UnmetOrigins {
  const notedMs = new LRUCache<string, number>({ max: MOST_REMEMBERED })
  return {
    note: (origin) => void notedMs.set(origin, clock.elapsedMs()),
    hasOther(origin) {
      // The newest first, so that the search ends at the first one that is too old.
      for (const [other, atMs] of notedMs.entries()) {
        if (clock.elapsedMs() - atMs > UNMET_MS) return false
        if (other !== origin) return true
      }
      return false
    },
  }
}

/**
 * Whether a block of addresses may have a further lease of a proven key while requests from other blocks find no capacity. A block alone
 * may use all of it: a laboratory has all of its machines behind one address.
 */
export const hasPlaceNextToOthers = (ofBlock: number, free: number): boolean => ofBlock < LEASES_PER_FREE_PLACE * free
