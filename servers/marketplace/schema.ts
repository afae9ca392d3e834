import { z } from 'zod'
import {
  type Db,
  type DbView,
  type ObstacleOf,
  type RowOf,
  type ToolContext,
  toolMaker,
} from '../kernel/define-environment.js'

export const FORMATS = ['auction', 'fixed_price'] as const
export const CARRIERS = ['post', 'parcel', 'courier'] as const
export const ANSWERS = ['accept', 'decline', 'counter'] as const
export const OUTCOMES = ['release', 'dispute', 'cancel', 'refund', 'claim'] as const
export const ACTIVITIES = ['listings', 'bids', 'offers', 'purchases', 'sales'] as const

/** Key of the member whose session this is. */
export const YOU = 'you'
/** Key of the one row of `books`. */
export const MARKET = 'market'

/** Whole currency units. */
export const money = z.int().min(1).max(20_000)
const date = z.iso.date()
/** ISO 8601 in UTC, in the form of the session's clock, so that the two compare as strings. */
const instant = z.string().length(20)

const member = z.object({
  member: z.string(),
  name: z.string(),
  city: z.string(),
  wallet: z.int().min(0),
  /** Stars ever received as a seller, and from how many buyers. */
  stars: z.int().min(0),
  ratings: z.int().min(0),
})

const listing = z.object({
  listing: z.string(),
  title: z.string(),
  /** The title in lower case, for searching. */
  search: z.string(),
  seller: z.string(),
  format: z.enum(FORMATS),
  /** The fixed price, or the least first bid. */
  price: money,
  /** Below this an auction is not won; null without a reserve. */
  reserve: money.nullable(),
  /** `active` says nothing about the clock: see `phaseOf`. */
  status: z.enum(['active', 'sold', 'withdrawn', 'relisted']),
  ends: instant,
  bids: z.int().min(0),
  /** Highest bid and who made it. */
  high: money.nullable(),
  leader: z.string().nullable(),
  /** How far the leader would go by automatic bids; null when the leader is `YOU` or there is none. */
  leader_limit: money.nullable(),
  /** The least that the seller of a fixed-price listing accepts, which only the seller knows. */
  least: money.nullable(),
})

const bid = z.object({
  bid: z.string(),
  listing: z.string(),
  bidder: z.string(),
  amount: money,
  /** Position among the bids on the listing, from 1. */
  place: z.int().positive(),
})

const offer = z.object({
  offer: z.string(),
  listing: z.string(),
  /** The listing's title. */
  title: z.string(),
  buyer: z.string(),
  seller: z.string(),
  /** What the buyer last offered and the seller last asked. */
  bid: money,
  ask: money,
  /** Whose answer is awaited. */
  turn: z.enum(['buyer', 'seller']),
  state: z.enum(['open', 'accepted', 'declined', 'lapsed']),
  /** Counter-offers made so far. */
  rounds: z.int().min(0),
  /** How far the side that is not `YOU` would go. */
  limit: money,
  made: date,
})

const sale = z.object({
  sale: z.string(),
  listing: z.string(),
  /** The listing's title. */
  title: z.string(),
  buyer: z.string(),
  seller: z.string(),
  amount: money,
  stage: z.enum(['paid', 'shipped', 'disputed', 'completed', 'refunded']),
  paid_at: instant,
  carrier: z.enum(CARRIERS).nullable(),
  shipped: date.nullable(),
  closed: date.nullable(),
  stars: z.int().min(1).max(5).nullable(),
})

/** What the market has earned: fees and postage. */
const book = z.object({ book: z.literal(MARKET), earned: z.int().min(0) })

export const tables = {
  members: { row: member, key: 'member' },
  listings: { row: listing, key: 'listing', missing: 'unknown_listing' },
  bids: { row: bid, key: 'bid' },
  offers: { row: offer, key: 'offer', missing: 'unknown_offer' },
  sales: { row: sale, key: 'sale', missing: 'unknown_sale' },
  books: { row: book, key: 'book' },
} as const

export const failures = {
  unknown_listing: 'There is no such listing.',
  unknown_offer: 'There is no such offer.',
  unknown_sale: 'There is no such sale.',
  own_listing: 'The listing is your own.',
  not_your_listing: 'The listing is not yours.',
  not_an_auction: 'The listing has a fixed price.',
  not_fixed_price: 'The listing is an auction.',
  auction_closed: 'The auction is over.',
  auction_running: 'The auction is not over yet.',
  auction_lost: 'You did not win this auction.',
  auction_binding: 'What was won in an auction cannot be cancelled.',
  listing_gone: 'The listing is no longer on sale.',
  bid_too_low: 'The bid is too low.',
  already_leading: 'You are the highest bidder already.',
  payment_overdue: 'An auction that you won is overdue for payment.',
  insufficient_funds: 'The wallet does not have that much free.',
  offer_too_low: 'The offer is below what the market passes on.',
  offer_too_high: 'The listing can be bought for that.',
  offer_pending: 'You have an open offer for this listing already.',
  offer_closed: 'The offer is no longer open.',
  offer_expired: 'The offer has expired.',
  not_your_turn: 'The other side has to answer.',
  amount_mismatch: 'A counter-offer needs an amount; accepting or declining has none.',
  counter_out_of_range: 'A counter-offer must lie between what was offered and what was asked.',
  buyer_cannot_pay: 'The buyer cannot pay that at present.',
  bad_reserve: 'Only an auction has a reserve, and it must be above the first bid.',
  listing_exists: 'You have a listing of that title on sale already.',
  too_many_listings: 'You have as many listings on sale as you may have.',
  has_bids: 'An auction with bids cannot be withdrawn.',
  not_relistable: 'Only a listing that is withdrawn, ended unsold or was never paid for can be listed again.',
  carrier_limit: 'The article is worth too much for this carrier.',
  not_the_buyer: 'Only the buyer can do that.',
  not_the_seller: 'Only the seller can do that.',
  wrong_stage: 'The sale is not at that stage.',
  cancel_too_late: 'The purchase can no longer be cancelled.',
  dispute_too_early: 'The seller still has time to ship.',
  dispute_too_late: 'The sale can no longer be disputed.',
  too_many_disputes: 'You have as many open disputes as you may have.',
  claim_too_early: 'The buyer still has time to answer.',
  already_rated: 'The sale is rated already.',
  rating_closed: 'The sale can no longer be rated.',
} as const

export type MarketTables = typeof tables
export type FailureCode = keyof typeof failures
export type Context = ToolContext<typeof tables, FailureCode>
export type Obstacle = ObstacleOf<typeof failures>
export type MarketDb = Db<MarketTables>
export type MarketView = DbView<MarketTables>
export type Member = RowOf<MarketTables['members']>
export type Listing = RowOf<MarketTables['listings']>
export type Bid = RowOf<MarketTables['bids']>
export type Offer = RowOf<MarketTables['offers']>
export type Sale = RowOf<MarketTables['sales']>

export const tool = toolMaker(tables, failures)
