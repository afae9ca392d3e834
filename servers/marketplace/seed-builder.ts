import type { SeededRandom } from '../kernel/random.js'
import type { Listing, Member } from './schema.js'

/** Context with which a seeder of this environment works. */
export interface SeedBuilder {
  readonly random: SeededRandom
  readonly start: string
  /** Members but you. */
  readonly others: readonly Member[]
  /** Adds a listing with the rest of its fields as they are at the beginning. */
  list(listing: Pick<Listing, 'seller' | 'format' | 'price' | 'ends'> & Partial<Listing>): Listing
}
