import { wordList } from '../kernel/text.js'

/** The vocabulary that payment worlds are made of. */

/** Customers are small firms: a family or place, and a trade. */
export const FIRM_NAMES = wordList(`
  Novak Lima Fontaine Harbour Birch Keller Orsini Vega Sorensen Tamm Ortiz Wren Quayside Moretti Ashby Dalgaard Pereira
  Linden Marlow Osei Tanaka Whitby Zeller Corbin Delgado Foxley Galvin Hollis Ivers Juniper`)
export const TRADES = wordList(`
  Bakery Books Cycles Ceramics Optics Dental Florist Records Tailors Travel Coffee Yoga Brewery Hotel Gallery Toys
  Pharmacy Garage Kitchens Orchards`)

/** Invoices of a design and print studio. */
export const WORK_FIRST = wordList(`
  Spring Summer Autumn Winter Shop Website Menu Brochure Poster Packaging Logo Catalogue Newsletter Window Festival
  Label Calendar Photo Anniversary Market`)
export const WORK_SECOND = wordList(`
  design printing proofs artwork update campaign photos banner cards mailing signage samples layout translation hosting
  storage`)

export const CARD_BRANDS = ['Visa', 'Amex', 'Maestro', 'Mastercard'] as const

export const REFERENCE_WORDS = wordList(`
  deposit rest first second final april may june studio office counter phone desk fair express rush extra spring harvest
  north south east west amber cobalt coral ivory olive`)

/** Endpoints of the merchant's own systems; the key of a webhook is its name with hyphens. */
export const WEBHOOK_NAMES: readonly string[] = [
  'Ledger Sync',
  'Shop Floor',
  'Mail Robot',
  'Tax Archive',
  'Stock Desk',
  'Bank Watch',
  'Team Pager',
  'Data Lake',
  'Loyalty Club',
  'Audit Trail',
  'Night Report',
  'Print Queue',
]
