import type { SeededRandom } from '../kernel/random.js'
import { wordList } from '../kernel/text.js'
import type { Category } from './schema.js'

/** The vocabulary that shops are made of. */

export const BRAND_NAMES = wordList(`
  Nordlys Alba Tamarind Okapi Fenwick Solano Kestrel Marlow Junipera Bricolo Halden Lumina Zephyr Corvo Pinewood
  Sandpiper Velour Hexagon Tidewater Bramble`)

/**
 * Kind of product: its lowest and highest price, the options in which its variants differ, and whether it is bulky.
 */
export interface ProductKind {
  readonly noun: string
  readonly low: number
  readonly high: number
  readonly options: readonly string[]
  readonly bulky?: boolean
}

/** Highest price at which people buy more than one piece at a time. Currency units. */
export const FOR_ONE = 30

const COLOURS = wordList('blue red green black white grey yellow brown')
const FINISHES = wordList('black white silver')
const SIZES = wordList('small medium large')
const BINDINGS = ['paperback', 'hardcover', 'large print']

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

/** Names that people give to an address in the city where they live. */
export const LOCAL_NAMES: readonly string[] = ['Office', 'Studio', 'Workshop', 'Flat', 'Neighbours']
/** Names that people give to an address elsewhere. */
export const AWAY_NAMES: readonly string[] = [
  'Parents',
  'Grandma',
  'Sister',
  'Best Friend',
  'Second Home',
  'Summer House',
]
/** Names from these two lists that fit any address. */
export const ANYWHERE: readonly string[] = ['Flat', 'Second Home']
/**
 * Names of addresses at which a person takes the customer's parcels in. Customers have nothing sent to a car park or a
 * museum.
 */
export const RECEIVING: ReadonlySet<string> = new Set(['Home', 'Work', 'Office', ...LOCAL_NAMES, ...AWAY_NAMES])

export const CARD_NAMES = wordList('Everyday Travel Family Gold Joint Student')
export const CARD_BRANDS = ['visa', 'amex', 'maestro', 'mastercard'] as const

export const CODE_WORDS = wordList('maple otter comet tulip falcon pepper violin anchor saffron beacon cactus dolphin')

type Verdict = 'good' | 'fair' | 'bad'

/** What people write of a category, by how content they are. */
const REVIEWS: Readonly<Record<Category, Readonly<Record<Verdict, readonly string[]>>>> = {
  clothing: {
    good: ['fits perfectly and feels warm', 'soft fabric and a lovely cut', 'I get compliments every time I wear it'],
    fair: ['nice, but it runs a little small', 'good quality, though the colour is paler than in the picture'],
    bad: ['the colour fades after two washes', 'a seam came undone after a week'],
  },
  books: {
    good: ['could not put it down', 'beautifully written and well illustrated', 'a wonderful present for my father'],
    fair: ['a slow start, but the second half is good', 'interesting, if a bit long'],
    bad: ['badly edited, full of misprints', 'I gave up after fifty pages'],
  },
  kitchen: {
    good: ['we use it every single day', 'sturdy and easy to clean', 'looks good and does what it should'],
    fair: ['does its job, but it is heavier than I thought', 'fine for two people, too small for a family'],
    bad: ['it stained after the first use', 'the handle was loose out of the box'],
  },
  sports: {
    good: [
      'light, tough and worth the price',
      'survived a week in the rain without a scratch',
      'just right for my training',
    ],
    fair: ['solid, though the instructions are poor', 'good for beginners, not for daily use'],
    bad: ['broke on the second trip', 'smaller than it looks in the picture'],
  },
  electronics: {
    good: [
      'set up in five minutes and works flawlessly',
      'great value and very well made',
      'better than the expensive one I had',
    ],
    fair: ['works well, but the cable is far too short', 'decent, though it gets warm'],
    bad: ['stopped working after a month', 'it hums, and support never answered'],
  },
}

/** A review that fits the stars. */
export function reviewOf(random: SeededRandom, category: Category, stars: number): string {
  const verdict = stars > 3 ? 'good' : stars === 3 ? 'fair' : 'bad'
  return random.pick(REVIEWS[category][verdict])
}
