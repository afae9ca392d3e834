import { z } from 'zod'
import { chooseByDraws } from '../../kernel/choose.js'
import { ref } from '../../kernel/fields.js'
import { lapseOffers, shipObstacle } from '../escrow.js'
import { CARRIER_TERMS, charge, LIMITS, listingObstacle, phaseOf, relistObstacle, shiftInstant } from '../rules.js'
import { roundAmount } from '../sampling.js'
import { CARRIERS, FORMATS, type Listing, money, tool, YOU } from '../schema.js'
import { ARTICLES, titleOf } from '../words.js'

const onSale = z.object({
  title: z.string(),
  own_listing: ref('own_listing'),
  format: z.string(),
  price: z.int(),
  ends: z.string(),
  wallet: z.int(),
})

/** A listing of yours that begins now. */
const fresh = (
  listing: string,
  now: string,
  terms: Pick<Listing, 'title' | 'format' | 'price' | 'reserve'>,
): Listing => ({
  listing,
  ...terms,
  search: terms.title.toLowerCase(),
  seller: YOU,
  status: 'active',
  ends: shiftInstant(now, terms.format === 'auction' ? LIMITS.auctionDays : LIMITS.fixedDays),
  bids: 0,
  high: null,
  leader: null,
  leader_limit: null,
  least: null,
})

const createListing = tool({
  name: 'create_listing',
  description: `Put an article of yours on sale: as an auction of ${LIMITS.auctionDays} days, where the price is the first bid and a reserve above it may be set, or at a fixed price for ${LIMITS.fixedDays} days. Costs ${LIMITS.listingFee}. At most ${LIMITS.openListings} listings of different titles.`,
  input: z.strictObject({
    title: z
      .string()
      .trim()
      .min(3)
      .max(40)
      .regex(/^[A-Za-z0-9][A-Za-z0-9 '-]*$/, 'a title has letters, digits, spaces, apostrophes and hyphens')
      .describe('What is sold.'),
    format: z.enum(FORMATS).describe('How it is sold.'),
    price: money.describe('First bid of an auction, or the fixed price, in whole currency units.'),
    reserve: money.optional().describe('Least winning bid of an auction.'),
  }),
  output: onSale,
  annotations: { readOnly: false },
  establishes: ['put_on_sale'],
  sample({ db, random, bound, now }) {
    const moment = now()
    const article = random.pick(ARTICLES)
    const titles = random.shuffle(article.kinds).map((kind) => titleOf(kind, article))
    const title = bound.title ?? titles.find((candidate) => !listingObstacle(db, moment, candidate))
    if (title === undefined || listingObstacle(db, moment, title)) return null
    const format = bound.format ?? random.pick(FORMATS)
    const price = bound.price ?? roundAmount(random, article.low, format === 'auction' ? 2 * article.low : article.high)
    const reserve =
      bound.reserve ?? (format === 'auction' && random.chance(0.5) ? price + random.int(1, 12) * 5 : undefined)
    return { title, format, price, ...(reserve === undefined ? {} : { reserve }) }
  },
  run({ title, format, price, reserve }, { unless, db, fail, nextId, now }) {
    const moment = now()
    if (reserve !== undefined && (format !== 'auction' || reserve <= price)) fail('bad_reserve')
    unless(listingObstacle(db, moment, title))
    charge(db, YOU, LIMITS.listingFee)
    const row = fresh(nextId('listing'), moment, { title, format, price, reserve: reserve ?? null })
    return { ...db.listings.insert(row), own_listing: row.listing, wallet: db.members.get(YOU)!.wallet }
  },
})

const relistListing = tool({
  name: 'relist_listing',
  description: `List an article of yours again at a new price: one that was withdrawn or refunded, that ended unsold, or whose winner has not paid for ${LIMITS.paymentDays} days. It gets a new listing without a reserve and costs ${LIMITS.listingFee}.`,
  input: z.strictObject({
    own_listing: ref('own_listing'),
    price: money.describe('New first bid or fixed price, in whole currency units.'),
  }),
  output: onSale,
  annotations: { readOnly: false },
  sample({ db, random, bound, now }) {
    const moment = now()
    const row = chooseByDraws(db.listings, random, bound.own_listing, (listing) => !relistObstacle(db, moment, listing))
    if (!row) return null
    // What did not sell is tried for less.
    const low = Math.max(1, Math.floor(row.price * 0.7))
    const high = Math.max(low, Math.floor(row.price * 0.92))
    return { own_listing: row.listing, price: bound.price ?? roundAmount(random, low, high) }
  },
  run({ own_listing, price }, { rowOf, unless, db, nextId, now }) {
    const moment = now()
    const row = rowOf('listings', own_listing)
    unless(relistObstacle(db, moment, row))
    charge(db, YOU, LIMITS.listingFee)
    db.listings.update(own_listing, { status: 'relisted' })
    const { title, format } = row
    const again = db.listings.insert(fresh(nextId('listing'), moment, { title, format, price, reserve: null }))
    return { ...again, own_listing: again.listing, wallet: db.members.get(YOU)!.wallet }
  },
})

const withdrawListing = tool({
  name: 'withdraw_listing',
  description: 'Take an open listing of yours off the market; open offers for it lapse. Not an auction with bids.',
  input: z.strictObject({ own_listing: ref('own_listing') }),
  output: z.object({ title: z.string(), own_listing: ref('own_listing'), status: z.string() }),
  annotations: { readOnly: false, destructive: true },
  sample({ db, random, bound, now }) {
    const moment = now()
    const row = chooseByDraws(
      db.listings,
      random,
      bound.own_listing,
      (listing) => listing.seller === YOU && listing.bids === 0 && phaseOf(listing, moment) === 'open',
    )
    return row ? { own_listing: row.listing } : null
  },
  run({ own_listing }, { rowOf, db, fail, now }) {
    const moment = now()
    const row = rowOf('listings', own_listing)
    if (row.seller !== YOU) fail('not_your_listing')
    const phase = phaseOf(row, moment)
    if (phase !== 'open') fail('listing_gone', `${row.title} is ${phase}.`)
    if (row.bids > 0) fail('has_bids', `${row.title} has ${row.bids} bids.`)
    lapseOffers(db, own_listing)
    const { title, status } = db.listings.update(own_listing, { status: 'withdrawn' })
    return { title, own_listing, status }
  },
})

const shipSale = tool({
  name: 'ship_sale',
  description: `Ship an article that you sold and that is paid. Plain post takes what is worth up to ${CARRIER_TERMS.post.worth} and costs ${CARRIER_TERMS.post.cost}, a parcel ${CARRIER_TERMS.parcel.worth} for ${CARRIER_TERMS.parcel.cost}, a courier anything for ${CARRIER_TERMS.courier.cost}.`,
  input: z.strictObject({
    sale: ref('sale'),
    carrier: z.enum(CARRIERS).describe('How it is sent, by what it is worth.'),
  }),
  output: z.object({
    title: z.string(),
    // Not a reference: it is the buyer's turn now.
    sale: z.string(),
    stage: z.string(),
    carrier: z.string(),
    buyer: z.string(),
    wallet: z.int(),
  }),
  annotations: { readOnly: false },
  sample({ db, random, bound, now }) {
    const moment = now()
    const carriers = bound.carrier === undefined ? CARRIERS : [bound.carrier]
    const row = chooseByDraws(db.sales, random, bound.sale, (sale) =>
      carriers.some((carrier) => !shipObstacle(db, moment, sale, carrier)),
    )
    if (!row) return null
    const carrier = random.pick(carriers.filter((name) => !shipObstacle(db, moment, row, name)))
    return { sale: row.sale, carrier }
  },
  run({ sale, carrier }, { rowOf, unless, db, now, today }) {
    const moment = now()
    const row = rowOf('sales', sale)
    unless(shipObstacle(db, moment, row, carrier))
    charge(db, YOU, CARRIER_TERMS[carrier].cost)
    const { title, stage, buyer } = db.sales.update(sale, { stage: 'shipped', carrier, shipped: today() })
    return { title, sale, stage, carrier, buyer: db.members.get(buyer)!.name, wallet: db.members.get(YOU)!.wallet }
  },
})

export const sellingTools = [createListing, relistListing, withdrawListing, shipSale]
