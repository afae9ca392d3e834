import { wordList } from '../kernel/text.js'
import type { Category } from './schema.js'

/** The vocabulary that shops are made of. */

export const BRAND_NAMES = wordList(`
  Nordlys Alba Tamarind Okapi Fenwick Solano Kestrel Marlow Junipera Bricolo Halden Lumina Zephyr Corvo Pinewood
  Sandpiper Velour Hexagon Tidewater Bramble`)

/** What a kind of product is like: its lowest and highest price, the options its variants differ in, and whether it is bulky. */
export interface ProductKind {
  readonly noun: string
  readonly low: number
  readonly high: number
  readonly options: readonly string[]
  readonly bulky?: boolean
}

const COLOURS = wordList('blue red green black white grey yellow brown')
const FINISHES = wordList('black white silver')
const SIZES = wordList('small medium large')
const BINDINGS = wordList('paperback hardcover audiobook')

const kind = (noun: string, low: number, high: number, options: readonly string[], bulky = false): ProductKind => ({
  noun,
  low,
  high,
  options,
  bulky,
})

export const KINDS: Readonly<Record<Category, readonly ProductKind[]>> = {
  clothing: [
    kind('shirt', 18, 55, COLOURS),
    kind('jacket', 45, 160, COLOURS),
    kind('scarf', 12, 40, COLOURS),
    kind('sweater', 25, 90, SIZES),
    kind('boots', 50, 150, COLOURS),
  ],
  books: [
    kind('novel', 8, 28, BINDINGS),
    kind('cookbook', 15, 40, BINDINGS),
    kind('atlas', 20, 60, BINDINGS),
    kind('biography', 12, 32, BINDINGS),
  ],
  kitchen: [
    kind('kettle', 20, 80, COLOURS),
    kind('pan', 18, 90, SIZES),
    kind('teapot', 15, 60, COLOURS),
    kind('grinder', 25, 120, FINISHES),
    kind('table', 90, 320, SIZES, true),
  ],
  sports: [
    kind('backpack', 30, 120, COLOURS),
    kind('tent', 80, 300, SIZES, true),
    kind('bottle', 8, 30, COLOURS),
    kind('mat', 15, 50, COLOURS),
    kind('helmet', 25, 110, SIZES),
  ],
  electronics: [
    kind('headphones', 25, 220, FINISHES),
    kind('speaker', 30, 180, COLOURS),
    kind('lamp', 15, 80, FINISHES),
    kind('charger', 10, 45, FINISHES),
    kind('television', 200, 700, SIZES, true),
  ],
}

export const ADJECTIVES: Readonly<Record<Category, readonly string[]>> = {
  clothing: wordList('Linen Wool Cotton Quilted Striped Vintage Alpine Rain Weekend'),
  books: wordList('Harbour Winter Mountain Family Island Market Railway Garden Desert'),
  kitchen: wordList('Copper Enamel Steel Ceramic Rustic Compact Walnut Classic Bistro'),
  sports: wordList('Summit Trail Ultralight City Canyon Glacier Foldable Racing Junior'),
  electronics: wordList('Wireless Pocket Studio Solar Bedside Travel Smart Retro Quiet'),
}

export const COUPON_NAMES = wordList('Spring Welcome Birthday Sunday Harvest Friends Thanks Lucky Bonus Sparkle Early')

export const ADDRESS_NAMES = wordList('Home Office Parents Cabin Studio Neighbour Grandma Workshop Boathouse Sister')

export const CARD_NAMES = wordList('Everyday Travel Family Gold Joint Student')
export const CARD_BRANDS = ['visa', 'amex', 'maestro', 'mastercard'] as const

export const CODE_WORDS = wordList('maple otter comet tulip falcon pepper violin anchor saffron beacon cactus dolphin')

export const REVIEW_TEXTS = [
  'exactly as described',
  'well made and worth the price',
  'smaller than it looks in the picture',
  'arrived quickly and works well',
  'the colour fades after a while',
  'my favourite purchase this year',
  'does what it should',
  'a nice present for a friend',
  'the quality could be better',
  'would buy it again',
  'feels solid and looks good',
  'not what I had hoped for',
] as const
