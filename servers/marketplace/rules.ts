import { type Listing, MARKET, type MarketDb, type MarketView, type Member, type Obstacle, YOU } from './schema.js'

/** The market's limits: name, value, unit. */
export const LIMITS = {
  /** Fee for each listing. Currency units. */
  listingFee: 2,
  /** Fee on a finished sale, rounded up. Per cent of the amount. */
  saleFee: 8,
  auctionDays: 3,
  fixedDays: 30,
  /** Open listings per seller. */
  openListings: 10,
  /** Time to pay for an auction that was won. Days. */
  paymentDays: 2,
  /** Least offer. Per cent of the price. */
  leastOffer: 50,
  /** For how long an offer can be answered. Days. */
  offerDays: 2,
  /** Counter-offers after which the other side declines. */
  rounds: 3,
  /** For how long a purchase can be cancelled. Minutes. */
  cancelMinutes: 60,
  /** Time for the seller to ship before the buyer may dispute. Days. */
  shipDays: 7,
  /** Time for the buyer to dispute after shipping; then the seller may claim the money. Days. */
  disputeDays: 14,
  /** Open disputes of a buyer. */
  disputes: 2,
  /** For how long a finished sale can be rated. Days. */
  ratingDays: 30,
} as const

/** Terms of each carrier: the highest value that the carrier takes, and the cost. Currency units. */
export const CARRIER_TERMS = {
  post: { worth: 40, cost: 3 },
  parcel: { worth: 300, cost: 7 },
  courier: { worth: 20_000, cost: 18 },
} as const

export const you = (db: MarketView): Member => db.members.get(YOU)!

/** Where a listing stands at `now`: `won` waits for the highest bidder's payment, `unsold` has ended without a buyer. */
export type Phase = 'open' | 'won' | 'unsold' | 'sold' | 'withdrawn' | 'relisted'

export function phaseOf({ status, ends, leader, high, reserve }: Listing, now: string): Phase {
  if (status !== 'active') return status
  if (now < ends) return 'open'
  return leader !== null && high !== null && high >= (reserve ?? 0) ? 'won' : 'unsold'
}

/** By how much a bid must exceed one of `amount`. */
export const increment = (amount: number): number => (amount < 50 ? 1 : amount < 200 ? 5 : 10)

/** The least bid that is accepted next; for a fixed price, the price. */
export const nextPrice = ({ high, price }: Listing): number => (high === null ? price : high + increment(high))

/** Returns the amount that your highest bids bind, in auctions that you lead or have won and not paid. */
export function committed(db: MarketView, now: string): number {
  let sum = 0
  for (const listing of db.listings.by('leader', YOU)) {
    const phase = phaseOf(listing, now)
    if (phase === 'open' || phase === 'won') sum += listing.high ?? 0
  }
  return sum
}

/** Returns the amount that you can spend now. */
export const freeFunds = (db: MarketView, now: string): number => you(db).wallet - committed(db, now)

/** Why you cannot spend `amount`, if so. */
export function fundsObstacle(db: MarketView, now: string, amount: number): Obstacle | undefined {
  const free = freeFunds(db, now)
  return amount > free
    ? { code: 'insufficient_funds', detail: `Only ${free} of the wallet is free; bids that lead bind the rest.` }
    : undefined
}

const isOverdue = (listing: Listing, now: string): boolean =>
  phaseOf(listing, now) === 'won' && shiftInstant(listing.ends, LIMITS.paymentDays) < now

/** Why you cannot bid `amount`, if so. */
export function bidObstacle(db: MarketView, now: string, listing: Listing, amount: number): Obstacle | undefined {
  if (listing.seller === YOU) return { code: 'own_listing' }
  if (listing.format !== 'auction') return { code: 'not_an_auction' }
  if (phaseOf(listing, now) !== 'open') return { code: 'auction_closed', detail: `It ended at ${listing.ends}.` }
  const debt = db.listings.by('leader', YOU).find((row) => isOverdue(row, now))
  if (debt) return { code: 'payment_overdue', detail: `Pay for ${debt.title} (${debt.listing}) first.` }
  if (listing.leader === YOU) return { code: 'already_leading' }
  const least = nextPrice(listing)
  if (amount < least) return { code: 'bid_too_low', detail: `The next bid is at least ${least}.` }
  return fundsObstacle(db, now, amount)
}

/** Why you cannot buy a listing, or pay for one you have won, if so. */
export function buyObstacle(db: MarketView, now: string, listing: Listing): Obstacle | undefined {
  if (listing.seller === YOU) return { code: 'own_listing' }
  const phase = phaseOf(listing, now)
  if (listing.format === 'auction' && phase === 'open') return { code: 'auction_running' }
  if (phase === 'won') return listing.leader === YOU ? undefined : { code: 'auction_lost' }
  if (phase !== 'open') return { code: 'listing_gone', detail: `${listing.title} is ${phase}.` }
  return fundsObstacle(db, now, listing.price)
}

/** Why you cannot offer `amount` for a listing, if so. */
export function offerObstacle(db: MarketView, now: string, listing: Listing, amount: number): Obstacle | undefined {
  if (listing.seller === YOU) return { code: 'own_listing' }
  if (listing.format !== 'fixed_price') return { code: 'not_fixed_price' }
  if (phaseOf(listing, now) !== 'open') return { code: 'listing_gone' }
  if (amount >= listing.price) return { code: 'offer_too_high', detail: `Its price is ${listing.price}.` }
  const least = leastOffer(listing)
  if (amount < least) return { code: 'offer_too_low', detail: `Offers begin at ${least}.` }
  const pending = db.offers.by('listing', listing.listing).find((row) => row.buyer === YOU && row.state === 'open')
  if (pending) return { code: 'offer_pending', detail: `${pending.offer} is open.` }
  return fundsObstacle(db, now, amount)
}

export const leastOffer = ({ price }: Listing): number => Math.ceil((price * LIMITS.leastOffer) / 100)

const openOf = (db: MarketView, now: string): Listing[] =>
  db.listings.by('seller', YOU).filter((row) => phaseOf(row, now) === 'open')

/** Why you cannot list another article of that title, if so. */
export function listingObstacle(db: MarketView, now: string, title: string): Obstacle | undefined {
  const open = openOf(db, now)
  const wanted = title.toLowerCase()
  if (open.some((row) => row.search === wanted)) return { code: 'listing_exists' }
  if (open.length >= LIMITS.openListings) return { code: 'too_many_listings' }
  return fundsObstacle(db, now, LIMITS.listingFee)
}

/** Why you cannot list a listing again, if so. */
export function relistObstacle(db: MarketView, now: string, listing: Listing): Obstacle | undefined {
  if (listing.seller !== YOU) return { code: 'not_your_listing' }
  const phase = phaseOf(listing, now)
  if (phase !== 'unsold' && phase !== 'withdrawn' && !isOverdue(listing, now))
    return { code: 'not_relistable', detail: `${listing.title} is ${phase}.` }
  return listingObstacle(db, now, listing.title)
}

/** Moves money from a member to the market. */
export function charge(db: MarketDb, member: string, amount: number): void {
  db.members.update(member, { wallet: db.members.get(member)!.wallet - amount })
  db.books.update(MARKET, { earned: db.books.get(MARKET)!.earned + amount })
}

/** `instant` moved by a number of days. */
export function shiftInstant(instant: string, days: number): string {
  return new Date(Date.parse(instant) + days * 86_400_000).toISOString().replace('.000Z', 'Z')
}
