import { z } from 'zod'
import { chooseByDraws } from '../../kernel/choose.js'
import { common, ref } from '../../kernel/fields.js'
import { PAGE } from '../../kernel/lists.js'
import { mentioning } from '../../kernel/text.js'
import { isExpired, priceOf, sideOf } from '../haggling.js'
import { nextPrice, phaseOf } from '../rules.js'
import {
  ACTIVITIES,
  FORMATS,
  type Listing,
  type MarketView,
  money,
  type Offer,
  type Sale,
  tool,
  YOU,
} from '../schema.js'

const text = z.string().trim().min(2).max(40).describe('Words of the title.')

const searchListings = tool({
  name: 'search_listings',
  description:
    'Search what others have on sale now by words of the title. The price of an auction is the least next bid.',
  input: z.strictObject({
    text,
    format: z.enum(FORMATS).describe('Only auctions, or only fixed prices.').optional(),
    max_price: money.describe('Highest price, in whole currency units.').optional(),
  }),
  output: z.object({
    found: z.int(),
    listings: z.array(z.object({ title: z.string(), listing: ref('listing'), format: z.string(), price: z.int() })),
  }),
  pages: { listings: 'short' },
  annotations: { readOnly: true },
  sample({ db, random, bound, now }) {
    const moment = now()
    const row = chooseByDraws(db.listings, random, undefined, (listing) => isOnOffer(listing, moment))
    if (!row) return null
    return {
      text: random.chance(0.1) ? row.title.split(' ').at(-1)!.toLowerCase() : row.title,
      ...(random.chance(row.format === 'auction' ? 0.3 : 0.06) ? { format: row.format } : {}),
      ...(random.chance(0.25) ? { max_price: Math.ceil((nextPrice(row) + random.int(0, 30)) / 10) * 10 } : {}),
      ...bound,
    }
  },
  run({ text, format, max_price }, { db, now }) {
    const fits = mentioning(text)
    const moment = now()
    const listings = db.listings.list(
      (row) =>
        fits(row.search) &&
        isOnOffer(row, moment) &&
        (format === undefined || row.format === format) &&
        (max_price === undefined || nextPrice(row) <= max_price),
    )
    return {
      found: listings.length,
      listings: listings.map((row) => ({ ...row, price: nextPrice(row) })),
    }
  },
})

const isOnOffer = (listing: Listing, now: string): boolean => listing.seller !== YOU && phaseOf(listing, now) === 'open'

const getListing = tool({
  name: 'get_listing',
  description:
    'Show a listing: its phase, the price (of an open auction the least next bid), the number of bids, whether the reserve is met, when it ends, and the seller with their rating.',
  input: z.strictObject({ listing: ref('listing') }),
  output: z.object({
    title: z.string(),
    listing: ref('listing'),
    format: z.string(),
    phase: z.string(),
    price: z.int(),
    bids: z.int(),
    leader: z.string().nullable(),
    reserve: z.string(),
    ends: z.string(),
    seller: z.string(),
    rating: z.string(),
    city: common('city', z.string()),
  }),
  annotations: { readOnly: true },
  sample({ db, random, bound, now }) {
    // What is over, or gone, nobody asks the price of; what was won is to be paid.
    const fits = (listing: Listing) => ['open', 'won'].includes(phaseOf(listing, now()))
    const row = chooseByDraws(db.listings, random, bound.listing, fits)
    return row ? { listing: row.listing } : null
  },
  run({ listing }, { rowOf, db, now }) {
    const moment = now()
    const row = rowOf('listings', listing)
    const phase = phaseOf(row, moment)
    const seller = db.members.get(row.seller)!
    return {
      ...row,
      phase,
      price: phase === 'open' ? nextPrice(row) : (row.high ?? row.price),
      leader: row.leader === null ? null : db.members.get(row.leader)!.name,
      reserve: row.reserve === null ? 'none' : (row.high ?? 0) >= row.reserve ? 'met' : 'not met',
      seller: seller.name,
      rating: ratingOf(seller),
      city: seller.city,
    }
  },
})

/** Such as `4.6 of 5 from 17`. */
function ratingOf({ stars, ratings }: { readonly stars: number; readonly ratings: number }): string {
  if (ratings === 0) return 'none'
  const tenths = Math.round((10 * stars) / ratings)
  return `${Math.floor(tenths / 10)}.${tenths % 10} of 5 from ${ratings}`
}

type Kind = (typeof ACTIVITIES)[number]

/** Keys of what was listed in this session; those of the seed begin with what is sold. */
const NEW_LISTING = /^listing-/

interface Entry {
  readonly title: string
  readonly own_listing?: string
  readonly listing?: string
  readonly offer?: string
  readonly sale?: string
  readonly state: string
  readonly amount: number
}

function activity(db: MarketView, now: string, kind: Kind): Entry[] {
  switch (kind) {
    case 'listings':
      return db.listings
        .by('seller', YOU)
        .filter(({ status }) => status !== 'sold' && status !== 'relisted')
        .map((row) => listed(row, now))
        .reverse()
    case 'bids':
      return biddings(db).map((row) => pursued(row, now))
    case 'offers':
      return [...db.offers.by('buyer', YOU), ...db.offers.by('seller', YOU)]
        .filter(({ state }) => state === 'open')
        .map((row) => haggled(row, now.slice(0, 10)))
    case 'purchases':
      return unfinishedFirst(db.sales.by('buyer', YOU)).map(traded)
    case 'sales':
      return unfinishedFirst(db.sales.by('seller', YOU)).map(traded)
  }
}

const listed = (row: Listing, now: string): Entry => {
  const phase = phaseOf(row, now)
  const state =
    phase === 'won' ? 'awaiting payment' : phase === 'open' && row.bids > 0 ? `open, bids: ${row.bids}` : phase
  return { title: row.title, own_listing: row.listing, state, amount: row.high ?? row.price }
}

/** Auctions on which you have bid, in the order of the first bids. */
function biddings(db: MarketView): Listing[] {
  const keys = new Set(db.bids.by('bidder', YOU).map(({ listing }) => listing))
  return [...keys].map((key) => db.listings.get(key)!).filter(({ status }) => status === 'active')
}

const pursued = (row: Listing, now: string): Entry => {
  const leads = row.leader === YOU
  const phase = phaseOf(row, now)
  const state =
    phase === 'open' ? (leads ? 'leading' : 'outbid') : phase === 'won' && leads ? 'won, to be paid' : 'lost'
  return { title: row.title, listing: row.listing, state, amount: row.high ?? row.price }
}

const haggled = (row: Offer, today: string): Entry => {
  const [side, direction] = [sideOf(row), sideOf(row) === 'buyer' ? 'sent' : 'received']
  const state = isExpired(row, today) ? 'expired' : row.turn === side ? 'your turn' : 'waiting'
  return { title: row.title, offer: row.offer, state: `${direction}, ${state}`, amount: priceOf(row) }
}

const isFinished = ({ closed }: Sale): boolean => closed !== null

const unfinishedFirst = (sales: readonly Sale[]): Sale[] => [
  ...sales.filter((row) => !isFinished(row)),
  ...sales.filter(isFinished),
]

const traded = ({ title, sale, stage, amount }: Sale): Entry => ({ title, sale, state: stage, amount })

const listMarketActivity = tool({
  name: 'list_market_activity',
  description:
    'List your own side of the market: your listings (the newest first), auctions you bid on, open offers sent or received (with the amount you would agree to), purchases or sales (those not finished first). Words of the title narrow it down.',
  input: z.strictObject({ kind: z.enum(ACTIVITIES).describe('What to list.'), text: text.optional() }),
  output: z.object({
    found: z.int(),
    entries: z.array(
      z.object({
        title: z.string(),
        own_listing: ref('own_listing').optional(),
        listing: ref('listing').optional(),
        offer: ref('offer').optional(),
        sale: ref('sale').optional(),
        state: z.string(),
        amount: z.int(),
      }),
    ),
  }),
  pages: { entries: 'short' },
  annotations: { readOnly: true },
  needs: ['put_on_sale'],
  sample({ db, random, bound, now }) {
    const moment = now()
    const kinds = ACTIVITIES.filter((kind) => activity(db, moment, kind).length > 0)
    // Whoever has just put something up for sale looks at what they sell.
    const isFresh = NEW_LISTING.test(db.listings.list().at(-1)!.listing)
    const kind = bound.kind ?? (isFresh ? 'listings' : random.pick(kinds))
    const entries = activity(db, moment, kind)
    const narrowed =
      !isFresh && entries.length > PAGE.short && random.chance(0.6) ? { text: random.pick(entries).title } : {}
    return { kind, ...narrowed, ...bound }
  },
  run({ kind, text }, { db, now }) {
    const moment = now()
    const all = activity(db, moment, kind)
    const fits = text === undefined ? undefined : mentioning(text)
    const entries = fits ? all.filter(({ title }) => fits(title.toLowerCase())) : all
    return { found: entries.length, entries }
  },
})

export const lookingTools = [searchListings, getListing, listMarketActivity]
