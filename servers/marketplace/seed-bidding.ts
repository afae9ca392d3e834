import { increment, nextPrice } from './rules.js'
import { type Bid, type Listing, YOU } from './schema.js'
import type { SeedBuilder } from './seed-builder.js'

/** Lets the members of a new environment bid on its auctions. */
export class Bidding {
  readonly bids: Bid[] = []
  readonly #builder: SeedBuilder
  readonly #standing = new Map<string, Listing>()

  constructor(builder: SeedBuilder) {
    this.#builder = builder
  }

  /** The listing with the bids made on it. */
  standing(listing: Listing): Listing {
    return this.#standing.get(listing.listing) ?? listing
  }

  /**
   * Makes `count` bids on an auction, the last by `winner` if given and an early one by `loser` if given.
   * @param reached whether the last bid reaches the reserve
   */
  run(listing: Listing, count: number, winner?: string, reached = false, loser?: string): Listing {
    const { random, others } = this.#builder
    let row = listing
    for (let i = 0; i < count; i++) {
      const last = i === count - 1
      const strangers = others.filter(({ member }) => member !== listing.seller && member !== row.leader)
      const bidder = last && winner ? winner : i === 0 && loser && !last ? loser : random.pick(strangers).member
      const least = nextPrice(row)
      const jump = random.pick([0, 0, 1, 3]) * increment(least)
      const amount = Math.max(least + jump, last && reached ? (listing.reserve ?? 0) : 0)
      this.bids.push({
        bid: `${listing.listing}:${i + 1}`,
        listing: listing.listing,
        bidder,
        amount,
        place: i + 1,
      })
      row = { ...row, bids: i + 1, high: amount, leader: bidder }
    }
    const rival = row.leader !== null && row.leader !== YOU
    row = { ...row, leader_limit: rival ? (row.high ?? 0) + random.pick([0, 0, 5, 15, 40]) : null }
    this.#standing.set(listing.listing, row)
    return row
  }
}
