import type { Invariant } from '../kernel/define-environment.js'
import { ascending } from '../kernel/lists.js'
import { committed, increment, LIMITS, phaseOf, you } from './rules.js'
import { type Listing, MARKET, type MarketTables, type MarketView, YOU } from './schema.js'

type MarketInvariant = Invariant<MarketTables>

/** The session's clock is out of reach here, so what is judged must hold at any time. */
const IN_THE_END = '9999-12-31T00:00:00Z'
const AT_FIRST = '2026-03-02T09:00:00Z'

const total = (db: MarketView): number =>
  db.members.list().reduce((sum, { wallet }) => sum + wallet, db.books.get(MARKET)!.earned) +
  db.sales
    .list(({ stage }) => stage === 'paid' || stage === 'shipped' || stage === 'disputed')
    .reduce((sum, { amount }) => sum + amount, 0)

const moneyIsConserved: MarketInvariant = {
  name: 'wallets, escrow and what the market earned stay the same in sum',
  check: (now, seed) => (total(now) === total(seed) ? undefined : `${total(seed)} became ${total(now)}`),
}

const bidsAreCovered: MarketInvariant = {
  name: 'the wallet covers every auction that you win or have won',
  check: (now) =>
    committed(now, IN_THE_END) <= you(now).wallet ? undefined : `${committed(now, IN_THE_END)} > ${you(now).wallet}`,
}

/** Rows of a table by the listing they belong to. */
function perListing<R extends { readonly listing: string }>(rows: readonly R[]): ReadonlyMap<string, readonly R[]> {
  const found = new Map<string, R[]>()
  for (const row of rows) {
    const sharing = found.get(row.listing)
    if (sharing) sharing.push(row)
    else found.set(row.listing, [row])
  }
  return found
}

const bidsRise: MarketInvariant = {
  name: 'bids on an auction rise by at least the increment, from the first bid on',
  check(now) {
    for (const [listing, bids] of perListing(now.bids.list())) {
      const { price } = now.listings.get(listing)!
      let last: number | undefined
      for (const { bid, amount } of [...bids].sort(ascending('place'))) {
        if (amount < (last === undefined ? price : last + increment(last))) return `${bid} of ${amount} after ${last}`
        last = amount
      }
    }
    return undefined
  },
}

const recordsAgree: MarketInvariant = {
  name: 'each listing shows the number of its bids, the highest and who leads',
  check(now) {
    const all = perListing(now.bids.list())
    const agrees = ({ listing, bids, high, leader }: Listing): boolean => {
      const made = all.get(listing) ?? []
      const top = made.find(({ place }) => place === bids)
      return made.length === bids && (top?.amount ?? null) === high && (top?.bidder ?? null) === leader
    }
    const wrong = now.listings.find((row) => !agrees(row))
    return wrong && `${wrong.listing}: ${wrong.bids} bids, ${wrong.high} by ${wrong.leader}`
  },
}

const nobodyBidsForTheirOwn: MarketInvariant = {
  name: 'nobody bids on, makes offers for or buys their own listing',
  check(now) {
    return (
      now.bids.find((row) => now.listings.get(row.listing)!.seller === row.bidder)?.bid ??
      now.offers.find(({ buyer, seller }) => buyer === seller)?.offer ??
      now.sales.find(({ buyer, seller }) => buyer === seller)?.sale
    )
  },
}

const oneBuyerEach: MarketInvariant = {
  name: 'a listing is sold exactly when one sale of it stands, an auction only to its highest bidder',
  check(now) {
    const all = perListing(now.sales.list(({ stage }) => stage !== 'refunded'))
    const odd = now.listings.find(({ listing, status, format, leader, high }) => {
      const standing = all.get(listing) ?? []
      const [sale] = standing
      if (standing.length !== (status === 'sold' ? 1 : 0)) return true
      return sale !== undefined && format === 'auction' && (sale.buyer !== leader || sale.amount !== high)
    })
    return odd && `${odd.listing} is ${odd.status}`
  },
}

const offersAreOpen: MarketInvariant = {
  name: 'an open offer is for an active listing, has room to haggle and is the only one of its buyer',
  check(now) {
    const odd = now.offers
      .by('state', 'open')
      .find(
        ({ offer, listing, bid, ask, rounds, buyer }) =>
          now.listings.get(listing)?.status !== 'active' ||
          bid >= ask ||
          rounds >= LIMITS.rounds ||
          now.offers
            .by('listing', listing)
            .some((other) => other.offer !== offer && other.buyer === buyer && other.state === 'open'),
      )
    return odd && `${odd.offer} from ${odd.bid} to ${odd.ask}`
  },
}

const STAGES = ['paid', 'shipped', 'disputed', 'completed', 'refunded']

const salesMoveForward: MarketInvariant = {
  name: 'sales only move forward, what is finished stays, and each stage has its dates',
  check(now, seed) {
    const odd = now.sales.find(({ sale, stage, shipped, closed, carrier, stars }) => {
      const before = seed.sales.get(sale)?.stage ?? 'paid'
      const back = STAGES.indexOf(stage) < STAGES.indexOf(before) || (before === 'completed' && stage !== 'completed')
      const finished = stage === 'completed' || stage === 'refunded'
      const undated = (closed !== null) !== finished || (shipped !== null) !== (carrier !== null)
      return back || undated || (stage === 'shipped' && shipped === null) || (stars !== null && stage !== 'completed')
    })
    return odd && `${odd.sale} is ${odd.stage}`
  },
}

const ratingsAreCounted: MarketInvariant = {
  name: 'stars and ratings of sellers have grown by what buyers gave',
  check(now, seed) {
    const given = now.sales.list((row) => row.stars !== null && row.stars !== seed.sales.get(row.sale)?.stars)
    const odd = now.members.find(({ member, stars, ratings }) => {
      const fresh = given.filter(({ seller }) => seller === member)
      const sum = fresh.reduce((part, row) => part + (row.stars ?? 0), 0)
      const before = seed.members.get(member)!
      return stars !== before.stars + sum || ratings !== before.ratings + fresh.length
    })
    return odd && `${odd.member} has ${odd.stars} of ${odd.ratings}`
  },
}

const quotasHold: MarketInvariant = {
  name: 'you have different titles on sale and no more listings and disputes than allowed',
  check(now) {
    const disputes = now.sales.by('stage', 'disputed').filter(({ buyer }) => buyer === YOU).length
    if (disputes > LIMITS.disputes) return `${disputes} disputes`
    // Auctions end while a session lasts; fixed prices stay.
    const fixed = now.listings
      .by('seller', YOU)
      .filter((row) => row.format === 'fixed_price' && phaseOf(row, AT_FIRST) === 'open')
    if (fixed.length > LIMITS.openListings) return `${fixed.length} listings`
    const titles = fixed.map(({ title }) => title.toLowerCase())
    return new Set(titles).size === titles.length ? undefined : 'a title is on sale twice'
  },
}

export const marketInvariants = [
  moneyIsConserved,
  bidsAreCovered,
  bidsRise,
  recordsAgree,
  nobodyBidsForTheirOwn,
  oneBuyerEach,
  offersAreOpen,
  salesMoveForward,
  ratingsAreCounted,
  quotasHold,
]
