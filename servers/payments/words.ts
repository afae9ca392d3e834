import { wordList } from '../kernel/text.js'

/** The vocabulary that payment environments are made of. */

/** Customers are small firms: a family or place, and a trade. */
export const FIRM_NAMES = wordList(`
  Novak Lima Fontaine Harbour Birch Keller Orsini Vega Sorensen Tamm Ortiz Wren Quayside Moretti Ashby Dalgaard Pereira
  Linden Marlow Osei Tanaka Whitby Zeller Corbin Delgado Foxley Galvin Hollis Ivers Juniper`)
export const TRADES = wordList(`
  Bakery Books Cycles Ceramics Optics Dental Florist Records Tailors Travel Coffee Yoga Brewery Hotel Gallery Toys
  Pharmacy Garage Kitchens Orchards`)

/** What a design and print studio makes, and what it invoices of it. */
const WORK: readonly (readonly [thing: string, jobs: string])[] = [
  ['Logo', 'design artwork update proofs'],
  ['Website', 'design update hosting translation layout'],
  ['Shop', 'sign banner photos'],
  ['Brochure', 'design printing layout translation proofs'],
  ['Poster', 'design printing artwork proofs'],
  ['Catalogue', 'design printing layout photos translation'],
  ['Newsletter', 'design layout mailing translation'],
  ['Window', 'lettering banner display'],
  ['Spring', 'campaign mailing posters banner'],
  ['Summer', 'campaign mailing posters banner'],
  ['Autumn', 'campaign mailing posters'],
  ['Winter', 'campaign mailing posters'],
  ['Anniversary', 'campaign invitations cards photos'],
  ['Festival', 'banner posters flyers'],
  ['Business', 'cards stationery'],
  ['Gift', 'cards vouchers'],
  ['Calendar', 'design printing photos'],
  ['Team', 'photos shirts'],
  ['Product', 'photos labels'],
  ['Loyalty', 'cards stamps'],
  ['Price', 'lists tags'],
  ['Opening', 'invitations flyers'],
  ['Packaging', 'design samples artwork'],
  ['Sticker', 'design printing'],
  ['Flyer', 'design printing'],
  ['Door', 'sign lettering'],
  ['Van', 'lettering'],
  ['Christmas', 'cards campaign mailing'],
  ['Easter', 'campaign mailing'],
  ['Letterhead', 'design printing'],
  ['Voucher', 'design printing'],
  ['Invitation', 'design printing'],
  ['Photo', 'book prints'],
  ['Trade fair', 'stand banner flyers'],
  ['Annual report', 'layout printing translation'],
]

/** Titles of invoices that any customer may get. */
export const TITLES: readonly string[] = WORK.flatMap(([thing, jobs]) => wordList(jobs).map((job) => `${thing} ${job}`))

export const CARD_BRANDS = ['Visa', 'Amex', 'Maestro', 'Mastercard'] as const

/** Words that form the references of past charges and refunds. */
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
