import { z } from 'zod'
import { chooseByDraws } from '../../kernel/choose.js'
import { ref } from '../../kernel/fields.js'
import type { SeededRandom } from '../../kernel/random.js'
import { sell } from '../escrow.js'
import { type Answer, answerObstacle, firstAnswer, nextAnswer, priceOf } from '../haggling.js'
import { bidObstacle, buyObstacle, increment, LIMITS, leastOffer, nextPrice, offerObstacle } from '../rules.js'
import { roundAmount } from '../sampling.js'
import { ANSWERS, type Listing, type MarketDb, type MarketView, money, type Offer, tool, YOU } from '../schema.js'

/** Enters a bid and returns the listing as it then stands. */
function enter(db: MarketDb, { listing, bids }: Listing, bidder: string, amount: number): Listing {
  const place = bids + 1
  db.bids.insert({ bid: `${listing}:${place}`, listing, bidder, amount, place })
  return db.listings.update(listing, { bids: bids + 1, high: amount, leader: bidder })
}

const placeBid = tool({
  name: 'place_bid',
  description:
    'Bid on an open auction of another seller, at least its next bid. Who led before may outbid you at once by an automatic bid. While you lead, the amount is bound in your wallet. Not while an auction you won is overdue for payment.',
  input: z.strictObject({ listing: ref('listing'), amount: money.describe('Your bid, in whole currency units.') }),
  output: z.object({
    title: z.string(),
    // Not a reference: until the auction ends there is nothing else to do with it.
    listing: z.string(),
    status: z.enum(['leading', 'outbid']),
    high: z.int(),
    next_bid: z.int(),
  }),
  annotations: { readOnly: false },
  sample({ db, random, bound, now }) {
    const moment = now()
    const row = chooseByDraws(
      db.listings,
      random,
      bound.listing,
      (listing) => !bidObstacle(db, moment, listing, bound.amount ?? nextPrice(listing)),
    )
    if (!row) return null
    if (bound.amount !== undefined) return { listing: row.listing, amount: bound.amount }
    const least = nextPrice(row)
    const amount = roundAmount(random, least, least + random.pick([0, 5, Math.ceil(least / 5)]))
    return { listing: row.listing, amount: bidObstacle(db, moment, row, amount) ? least : amount }
  },
  run({ listing, amount }, { rowOf, unless, db, now }) {
    const moment = now()
    const row = rowOf('listings', listing)
    unless(bidObstacle(db, moment, row, amount))
    let standing = enter(db, row, YOU, amount)
    const answer = amount + increment(amount)
    if (row.leader !== null && row.leader_limit !== null && row.leader_limit >= answer)
      standing = enter(db, standing, row.leader, answer)
    else standing = db.listings.update(listing, { leader_limit: null })
    const status = standing.leader === YOU ? ('leading' as const) : ('outbid' as const)
    return { title: row.title, listing, status, high: standing.high ?? amount, next_bid: nextPrice(standing) }
  },
})

const buyListing = tool({
  name: 'buy_listing',
  description: `Buy a fixed-price listing, or pay for an auction that you have won. The money stays in escrow until you release it. A fixed-price purchase can be cancelled for ${LIMITS.cancelMinutes} minutes.`,
  input: z.strictObject({ listing: ref('listing') }),
  output: z.object({
    title: z.string(),
    sale: ref('sale'),
    amount: z.int(),
    stage: z.string(),
    wallet: z.int(),
  }),
  annotations: { readOnly: false },
  sample({ db, random, bound, now }) {
    const moment = now()
    const row = chooseByDraws(db.listings, random, bound.listing, (listing) => !buyObstacle(db, moment, listing))
    return row ? { listing: row.listing } : null
  },
  run({ listing }, { rowOf, unless, db, nextId, now }) {
    const moment = now()
    const row = rowOf('listings', listing)
    unless(buyObstacle(db, moment, row))
    const amount = row.format === 'auction' ? (row.high ?? row.price) : row.price
    const sale = sell(db, row, YOU, amount, { sale: nextId('sale'), now: moment })
    return { ...sale, wallet: db.members.get(YOU)!.wallet }
  },
})

const haggle = z.object({
  title: z.string(),
  offer: ref('offer'),
  state: z.string(),
  bid: z.int().describe('What the buyer last offered.'),
  ask: z.int().describe('What the seller last asked.'),
  sale: ref('sale', 'Made when both agree.').optional(),
})

const makeOffer = tool({
  name: 'make_offer',
  description: `Offer less than the price for a fixed-price listing, at least ${LIMITS.leastOffer} % of it. The seller answers at once: accepted (you have bought it), declined, or open with a lower price asked of you.`,
  input: z.strictObject({
    listing: ref('listing'),
    amount: money.describe('What you would pay, in whole currency units.'),
  }),
  output: haggle,
  annotations: { readOnly: false },
  sample({ db, random, bound, now }) {
    const moment = now()
    const row = chooseByDraws(
      db.listings,
      random,
      bound.listing,
      (listing) => !offerObstacle(db, moment, listing, bound.amount ?? leastOffer(listing)),
    )
    if (!row) return null
    if (bound.amount !== undefined) return { listing: row.listing, amount: bound.amount }
    const amount = roundAmount(
      random,
      Math.ceil(row.price * 0.75),
      Math.max(leastOffer(row), Math.floor(row.price * 0.92)),
    )
    return { listing: row.listing, amount: offerObstacle(db, moment, row, amount) ? leastOffer(row) : amount }
  },
  run({ listing, amount }, { rowOf, unless, db, nextId, now, today }) {
    const moment = now()
    const row = rowOf('listings', listing)
    unless(offerObstacle(db, moment, row, amount))
    const offer = db.offers.insert({
      offer: nextId('offer'),
      listing,
      title: row.title,
      buyer: YOU,
      seller: row.seller,
      ...firstAnswer(row, amount),
      turn: 'buyer',
      rounds: 0,
      limit: row.least ?? row.price,
      made: today(),
    })
    if (offer.state !== 'accepted') return offer
    return { ...offer, sale: sell(db, row, YOU, amount, { sale: nextId('sale'), now: moment }).sale }
  },
})

const AS_BUYER = ['accept', 'counter'] as const

const isOwnBid = (db: MarketView, offer: string | undefined): boolean =>
  offer !== undefined && db.offers.get(offer)?.buyer === YOU

/** A counter-offer that gives way by a third to two thirds. */
function between(random: SeededRandom, bid: number, ask: number): number {
  const gap = ask - bid
  return roundAmount(random, bid + Math.max(1, Math.floor(gap / 3)), ask - Math.max(1, Math.floor(gap / 3)))
}

const answerOffer = tool({
  name: 'answer_offer',
  description: `Answer an open offer when it is your turn: accept or decline it, or counter with an amount between what was offered and what was asked. The other side replies at once and declines after ${LIMITS.rounds} counter-offers. Offers expire after ${LIMITS.offerDays} days.`,
  input: z.strictObject({
    offer: ref('offer'),
    answer: z.enum(ANSWERS).describe('What you say to the offer.'),
    amount: money.optional().describe('Only with "counter".'),
  }),
  output: haggle,
  annotations: { readOnly: false },
  sample({ db, random, bound, now }) {
    const moment = now()
    // Whoever has bid for something does not turn down the answer.
    const answer = bound.answer ?? random.pick(isOwnBid(db, bound.offer) ? AS_BUYER : ANSWERS)
    const counter = answer === 'counter'
    const amountFor = ({ bid, ask }: Offer) => (counter ? (bound.amount ?? between(random, bid, ask)) : undefined)
    const fits = (row: Offer) =>
      (!counter || row.ask - row.bid > 1) && !answerObstacle(db, moment, row, answer, counter ? row.bid + 1 : undefined)
    const row = chooseByDraws(db.offers, random, bound.offer, fits)
    if (!row) return null
    const amount = amountFor(row)
    if (answerObstacle(db, moment, row, answer, amount)) return null
    return { offer: row.offer, answer, ...(amount === undefined ? {} : { amount }) }
  },
  run({ offer, answer, amount }, { rowOf, unless, db, nextId, now }) {
    const moment = now()
    const row = rowOf('offers', offer)
    unless(answerObstacle(db, moment, row, answer, amount))
    const after = db.offers.update(offer, {
      ...outcomeOf(row, answer, amount, db),
      rounds: row.rounds + (amount ? 1 : 0),
    })
    if (after.state !== 'accepted') return after
    const price = amount ?? priceOf(row)
    const at = { sale: nextId('sale'), now: moment }
    return { ...after, sale: sell(db, db.listings.get(row.listing)!, row.buyer, price, at).sale }
  },
})

function outcomeOf(offer: Offer, answer: Answer, amount: number | undefined, db: MarketDb): Partial<Offer> {
  if (amount !== undefined) return nextAnswer(offer, amount, db.members.get(offer.buyer)!.wallet)
  return { state: answer === 'accept' ? 'accepted' : 'declined' }
}

export const buyingTools = [placeBid, buyListing, makeOffer, answerOffer]
