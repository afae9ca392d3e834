import { addDays } from '../kernel/dates.js'
import { twoDigitNumbers } from '../kernel/key-numbers.js'
import { shiftInstant } from './rules.js'
import { CARRIERS, type Sale, YOU } from './schema.js'
import type { Bidding } from './seed-bidding.js'
import type { SeedBuilder } from './seed-builder.js'

/** A sale's stage with the days since payment, shipping and completion. */
interface Past {
  readonly stage: Sale['stage']
  readonly paid: readonly [least: number, most: number]
  readonly shipped?: readonly [least: number, most: number]
  readonly closed?: readonly [least: number, most: number]
  readonly rated?: boolean
}

/** Bought by you: what can be cancelled no more, disputed, released, rated and what can not. */
const PURCHASES: readonly Past[] = [
  { stage: 'paid', paid: [1, 5] },
  { stage: 'paid', paid: [8, 12] },
  { stage: 'shipped', paid: [6, 9], shipped: [1, 5] },
  { stage: 'shipped', paid: [9, 12], shipped: [6, 8] },
  { stage: 'shipped', paid: [24, 30], shipped: [16, 21] },
  { stage: 'disputed', paid: [14, 20], shipped: [10, 13] },
  { stage: 'completed', paid: [15, 20], shipped: [11, 13], closed: [2, 9] },
  { stage: 'completed', paid: [28, 34], shipped: [24, 26], closed: [12, 22] },
  { stage: 'completed', paid: [60, 70], shipped: [50, 55], closed: [35, 45] },
  { stage: 'completed', paid: [30, 40], shipped: [24, 28], closed: [10, 20], rated: true },
]

/** Sold by you. */
const SALES: readonly Past[] = [
  { stage: 'paid', paid: [0, 1] },
  { stage: 'paid', paid: [1, 4] },
  { stage: 'shipped', paid: [6, 9], shipped: [1, 5] },
  { stage: 'shipped', paid: [24, 30], shipped: [16, 21] },
  { stage: 'disputed', paid: [14, 20], shipped: [9, 12] },
  { stage: 'completed', paid: [15, 20], shipped: [11, 13], closed: [2, 9] },
  { stage: 'refunded', paid: [18, 24], closed: [10, 14] },
]

/** Your purchases and sales, some of fixed-price listings and some of auctions. */
export function seedSales(builder: SeedBuilder, bidding: Bidding): Sale[] {
  const { random, start, others } = builder
  const today = start.slice(0, 10)
  const numbers = twoDigitNumbers(random, PURCHASES.length + SALES.length)
  const dayOf = (range: readonly [number, number] | undefined): string | null =>
    range === undefined ? null : addDays(today, -random.int(...range))
  const sale = (past: Past, seller: string, buyer: string): Sale => {
    const auction = random.chance(0.35)
    const paid = dayOf(past.paid)!
    const listed = builder.list({
      seller,
      format: auction ? 'auction' : 'fixed_price',
      price: random.chance(0.4) ? random.int(8, 38) : random.int(9, 84) * 5,
      ends: `${paid}T07:30:00Z`,
      status: past.stage === 'refunded' ? 'withdrawn' : 'sold',
    })
    const sold = auction ? bidding.run(listed, random.int(1, 3), buyer) : listed
    const shipped = dayOf(past.shipped)
    return {
      sale: `sale-${numbers.pop()}`,
      listing: sold.listing,
      title: sold.title,
      buyer,
      seller,
      amount: sold.high ?? sold.price,
      stage: past.stage,
      paid_at: shiftInstant(`${paid}T07:30:00Z`, random.int(0, 60) / 1440),
      carrier: shipped === null ? null : random.pick(CARRIERS),
      shipped,
      closed: dayOf(past.closed),
      stars: past.rated ? random.int(2, 5) : null,
    }
  }
  return [
    ...random.shuffle(PURCHASES).map((past) => sale(past, random.pick(others).member, YOU)),
    ...random.shuffle(SALES).map((past) => sale(past, YOU, random.pick(others).member)),
  ]
}
