import { addDays } from '../kernel/dates.js'
import { CARRIER_TERMS, charge, freeFunds, LIMITS } from './rules.js'
import type { Listing, MarketDb, MarketView, Obstacle, OUTCOMES, Sale } from './schema.js'
import { YOU } from './schema.js'

export type Outcome = (typeof OUTCOMES)[number]

/** Sells a listing: the buyer's money goes into escrow and every open offer for it lapses. */
export function sell(
  db: MarketDb,
  listing: Listing,
  buyer: string,
  amount: number,
  at: { readonly sale: string; readonly now: string },
): Sale {
  db.members.update(buyer, { wallet: db.members.get(buyer)!.wallet - amount })
  db.listings.update(listing.listing, { status: 'sold' })
  lapseOffers(db, listing.listing)
  return db.sales.insert({
    sale: at.sale,
    listing: listing.listing,
    title: listing.title,
    buyer,
    seller: listing.seller,
    amount,
    stage: 'paid',
    paid_at: at.now,
    carrier: null,
    shipped: null,
    closed: null,
    stars: null,
  })
}

/** Ends every open offer for a listing that is no longer on sale. */
export function lapseOffers(db: MarketDb, listing: string): void {
  for (const { offer, state } of db.offers.by('listing', listing))
    if (state === 'open') db.offers.update(offer, { state: 'lapsed' })
}

/** Returns the fee that the market keeps from a finished sale. */
export const saleFee = (amount: number): number => Math.ceil((amount * LIMITS.saleFee) / 100)

/** Pays the seller out of escrow, less the fee. */
export function payOut(db: MarketDb, { sale, seller, amount }: Sale, today: string): Sale {
  db.members.update(seller, { wallet: db.members.get(seller)!.wallet + amount })
  charge(db, seller, saleFee(amount))
  return db.sales.update(sale, { stage: 'completed', closed: today })
}

/** Gives the buyer the money in escrow back. The seller has the article again and may list it again. */
export function payBack(db: MarketDb, { sale, buyer, amount, listing }: Sale, today: string): Sale {
  db.members.update(buyer, { wallet: db.members.get(buyer)!.wallet + amount })
  db.listings.update(listing, { status: 'withdrawn' })
  return db.sales.update(sale, { stage: 'refunded', closed: today })
}

/** Why you cannot ship a sale by that carrier, if so. */
export function shipObstacle(
  db: MarketView,
  now: string,
  sale: Sale,
  carrier: keyof typeof CARRIER_TERMS,
): Obstacle | undefined {
  if (sale.seller !== YOU) return { code: 'not_the_seller' }
  if (sale.stage !== 'paid') return { code: 'wrong_stage', detail: `${sale.title} is ${sale.stage}.` }
  const { worth, cost } = CARRIER_TERMS[carrier]
  if (sale.amount > worth) return { code: 'carrier_limit', detail: `A ${carrier} takes up to ${worth}.` }
  return cost > freeFunds(db, now) ? { code: 'insufficient_funds' } : undefined
}

/** Why you cannot bring the sale to that outcome, if so. */
export function settleObstacle(db: MarketView, now: string, sale: Sale, outcome: Outcome): Obstacle | undefined {
  const bySeller = outcome === 'refund' || outcome === 'claim'
  if (bySeller && sale.seller !== YOU) return { code: 'not_the_seller' }
  if (!bySeller && sale.buyer !== YOU) return { code: 'not_the_buyer' }
  const wrong: Obstacle = { code: 'wrong_stage', detail: `${sale.title} is ${sale.stage}.` }
  const today = now.slice(0, 10)
  switch (outcome) {
    case 'release':
      return sale.stage === 'shipped' || sale.stage === 'disputed' ? undefined : wrong
    case 'refund':
      return sale.stage === 'paid' || sale.stage === 'disputed' ? undefined : wrong
    case 'claim':
      if (sale.stage !== 'shipped' || sale.shipped === null) return wrong
      return addDays(sale.shipped, LIMITS.disputeDays) < today
        ? undefined
        : {
            code: 'claim_too_early',
            detail: `It was shipped on ${sale.shipped}; the buyer has ${LIMITS.disputeDays} days.`,
          }
    case 'cancel':
      if (sale.stage !== 'paid') return wrong
      if (db.listings.get(sale.listing)!.format === 'auction') return { code: 'auction_binding' }
      return Date.parse(now) - Date.parse(sale.paid_at) > LIMITS.cancelMinutes * 60_000
        ? { code: 'cancel_too_late', detail: `It was paid at ${sale.paid_at}.` }
        : undefined
    case 'dispute':
      return disputeObstacle(db, today, sale) ?? (sale.stage === 'paid' || sale.stage === 'shipped' ? undefined : wrong)
  }
}

function disputeObstacle(db: MarketView, today: string, { stage, paid_at, shipped }: Sale): Obstacle | undefined {
  if (stage === 'paid' && addDays(paid_at.slice(0, 10), LIMITS.shipDays) > today)
    return { code: 'dispute_too_early', detail: `The seller has ${LIMITS.shipDays} days to ship.` }
  if (stage === 'shipped' && shipped !== null && addDays(shipped, LIMITS.disputeDays) < today)
    return { code: 'dispute_too_late', detail: `It was shipped on ${shipped}.` }
  if (stage !== 'paid' && stage !== 'shipped') return undefined
  const open = db.sales.by('stage', 'disputed').filter(({ buyer }) => buyer === YOU).length
  return open >= LIMITS.disputes ? { code: 'too_many_disputes' } : undefined
}

/** Why you cannot rate the seller of a sale, if so. */
export function ratingObstacle(today: string, sale: Sale): Obstacle | undefined {
  if (sale.buyer !== YOU) return { code: 'not_the_buyer' }
  if (sale.stage !== 'completed' || sale.closed === null)
    return { code: 'wrong_stage', detail: `${sale.title} is ${sale.stage}; only a completed sale is rated.` }
  if (sale.stars !== null) return { code: 'already_rated' }
  return addDays(sale.closed, LIMITS.ratingDays) < today
    ? { code: 'rating_closed', detail: `It was completed on ${sale.closed}.` }
    : undefined
}
