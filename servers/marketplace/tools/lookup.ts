import type { FailureCode, Listing, MarketView, Offer, Sale } from '../schema.js'

interface Reader {
  readonly db: MarketView
  fail(code: FailureCode, detail?: string): never
}

export function listingOf({ db, fail }: Reader, key: string): Listing {
  return db.listings.get(key) ?? fail('unknown_listing', `There is no listing ${key}.`)
}

export function offerOf({ db, fail }: Reader, key: string): Offer {
  return db.offers.get(key) ?? fail('unknown_offer', `There is no offer ${key}.`)
}

export function saleOf({ db, fail }: Reader, key: string): Sale {
  return db.sales.get(key) ?? fail('unknown_sale', `There is no sale ${key}.`)
}

/** Entries that a list or search shows at most. */
export const SHOWN = 5
