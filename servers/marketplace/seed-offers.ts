import { addDays } from '../kernel/dates.js'
import { twoDigitNumbers } from '../kernel/key-numbers.js'
import { shiftInstant } from './rules.js'
import { type Listing, type Offer, YOU } from './schema.js'
import type { SeedBuilder } from './seed-builder.js'

/** Offers that others made for your fixed-price listings, and that you made for theirs. */
export function seedOffers(builder: SeedBuilder, listings: readonly Listing[]): Offer[] {
  const { random, start, others } = builder
  const today = start.slice(0, 10)
  const numbers = twoDigitNumbers(random, 20)
  const offer = (
    listing: Listing,
    buyer: string,
    terms: Partial<Offer> & Pick<Offer, 'bid' | 'ask' | 'limit'>,
  ): Offer => ({
    offer: `offer-${numbers.pop()}`,
    listing: listing.listing,
    title: listing.title,
    buyer,
    seller: listing.seller,
    turn: listing.seller === YOU ? 'seller' : 'buyer',
    state: 'open',
    rounds: 0,
    made: addDays(today, -random.int(0, 1)),
    ...terms,
  })
  const received = Array.from({ length: random.int(3, 4) }, () => {
    const price = random.int(8, 60) * 5
    const listing = builder.list({
      seller: YOU,
      format: 'fixed_price',
      price,
      ends: shiftInstant(start, random.int(2, 28)),
    })
    return random.sample(others, random.int(1, 2)).map(({ member }) => {
      const bid = Math.ceil(price * random.pick([0.6, 0.7, 0.75, 0.8]))
      const limit = Math.max(bid, Math.ceil(price * random.pick([0.7, 0.8, 0.9, 1])))
      return offer(listing, member, { bid, ask: price, limit })
    })
  }).flat()
  const [tooLate, waiting, ...answered] = random.sample(
    listings.filter(
      (row) => row.format === 'fixed_price' && row.seller !== YOU && row.status === 'active' && row.ends > start,
    ),
    5,
  )
  const sent = answered.map((listing) => {
    const least = listing.least ?? listing.price
    const bid = Math.max(1, Math.floor(least * 0.85))
    return offer(listing, YOU, { bid, ask: Math.max(least, bid + 1), limit: least, rounds: random.int(0, 1) })
  })
  const plain = (listing: Listing) => ({
    bid: Math.ceil(listing.price * 0.6),
    ask: listing.price,
    limit: listing.price,
  })
  return [
    ...random.shuffle([...received, ...sent]),
    offer(waiting!, YOU, { ...plain(waiting!), turn: 'seller' }),
    offer(tooLate!, YOU, { ...plain(tooLate!), made: addDays(today, -random.int(3, 9)) }),
  ]
}
