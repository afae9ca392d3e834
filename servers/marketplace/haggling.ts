import { addDays } from '../kernel/dates.js'
import { fundsObstacle, LIMITS, phaseOf } from './rules.js'
import type { ANSWERS, Listing, MarketView, Obstacle, Offer } from './schema.js'
import { YOU } from './schema.js'

export type Answer = (typeof ANSWERS)[number]

/** The side of an offer that you are. */
export const sideOf = ({ buyer }: Offer): 'buyer' | 'seller' => (buyer === YOU ? 'buyer' : 'seller')

/** Returns the price that you would agree to by accepting. */
export const priceOf = (offer: Offer): number => (sideOf(offer) === 'buyer' ? offer.ask : offer.bid)

export const isExpired = ({ made }: Offer, today: string): boolean => addDays(made, LIMITS.offerDays) < today

/** Why the offer cannot be answered so, if so. */
export function answerObstacle(
  db: MarketView,
  now: string,
  offer: Offer,
  answer: Answer,
  amount: number | undefined,
): Obstacle | undefined {
  if (offer.state !== 'open') return { code: 'offer_closed', detail: `${offer.offer} is ${offer.state}.` }
  if (isExpired(offer, now.slice(0, 10))) return { code: 'offer_expired', detail: `It dates from ${offer.made}.` }
  if (phaseOf(db.listings.get(offer.listing)!, now) !== 'open') return { code: 'listing_gone' }
  if (offer.turn !== sideOf(offer)) return { code: 'not_your_turn' }
  if ((answer === 'counter') !== (amount !== undefined)) return { code: 'amount_mismatch' }
  if (answer === 'decline') return undefined
  if (amount !== undefined && (amount <= offer.bid || amount >= offer.ask))
    return { code: 'counter_out_of_range', detail: `It must lie between ${offer.bid} and ${offer.ask}.` }
  const price = amount ?? priceOf(offer)
  if (offer.buyer === YOU) return fundsObstacle(db, now, price)
  return answer === 'accept' && db.members.get(offer.buyer)!.wallet < price ? { code: 'buyer_cannot_pay' } : undefined
}

/** How the seller of a listing answers the first offer of `bid`: from four fifths of what they want they name a price. */
export function firstAnswer({ price, least }: Listing, bid: number): Pick<Offer, 'bid' | 'ask' | 'state'> {
  const wanted = least ?? price
  if (bid >= wanted) return { bid, ask: price, state: 'accepted' }
  return bid * 5 >= wanted * 4
    ? { bid, ask: Math.max(wanted, Math.ceil((price + wanted) / 2)), state: 'open' }
    : { bid, ask: price, state: 'declined' }
}

/** How the other side answers your counter-offer: they agree within their limit, meet it half-way, or give up. */
export function nextAnswer(offer: Offer, amount: number, buyerWallet: number): Pick<Offer, 'bid' | 'ask' | 'state'> {
  const last = offer.rounds + 1 >= LIMITS.rounds
  if (sideOf(offer) === 'buyer') {
    const ask = Math.ceil((offer.ask + offer.limit) / 2)
    if (amount >= offer.limit) return { bid: amount, ask: offer.ask, state: 'accepted' }
    return last || ask === offer.ask
      ? { bid: amount, ask: offer.ask, state: 'declined' }
      : { bid: amount, ask, state: 'open' }
  }
  const bid = Math.floor((offer.bid + offer.limit) / 2)
  if (amount <= offer.limit)
    return { bid: offer.bid, ask: amount, state: buyerWallet >= amount ? 'accepted' : 'declined' }
  return last || bid <= offer.bid
    ? { bid: offer.bid, ask: amount, state: 'declined' }
    : { bid, ask: amount, state: 'open' }
}
