import type { SeededRandom } from '../kernel/random.js'
import type { BankingView, DISPUTE_REASONS, Transaction } from './schema.js'
import { COMPANIES, SHOP_TRADES } from './words.js'

/** An amount as people name them, mostly round, from 5 to `most` (at most 2000); nothing when `most` is below 5. */
export function sampleAmount(random: SeededRandom, most: number): number | undefined {
  const cap = Math.min(2000, Math.floor(most))
  if (cap < 5) return undefined
  const drawn = random.pick([
    () => random.int(5, 99),
    () => random.int(2, 40) * 5,
    () => random.int(3, 40) * 10,
    () => random.int(2, 40) * 50,
    () => random.int(101, 999),
  ])()
  return drawn <= cap ? drawn : random.int(5, cap)
}

/** Returns a round sum from 5 to `most`, as customers move or pay it regularly, or undefined when `most` is below 5. */
export function sampleRoundAmount(random: SeededRandom, most: number): number | undefined {
  const cap = Math.min(2000, Math.floor(most))
  if (cap < 5) return undefined
  const step = random.pick([5, 10, 20, 50, 100].filter((each) => each <= cap && each * 40 >= cap))
  return step * random.int(1, Math.min(20, Math.floor(cap / step)))
}

const REGULAR = { weekly: 60, monthly: 300, yearly: 400 } as const
type Frequency = keyof typeof REGULAR

/** Returns how often a payee may be paid: a person every week or month, a company every month or year. */
export const frequenciesFor = (payee: string): readonly Frequency[] =>
  COMPANIES.includes(payee) ? ['monthly', 'monthly', 'yearly'] : ['weekly', 'monthly']

export const sampleRegularAmount = (random: SeededRandom, frequency: Frequency, most: number): number =>
  sampleRoundAmount(random, Math.max(5, Math.min(most, REGULAR[frequency])))!

/** Reasons that a customer could have to dispute this one. */
export function disputeReasons(db: BankingView, row: Transaction): (typeof DISPUTE_REASONS)[number][] {
  const isTwice = db.transactions.count(
    ({ kind, name, account }) => kind === row.kind && name === row.name && account === row.account,
  )
  const isShop = row.kind === 'purchase' && SHOP_TRADES.some((trade) => row.name.endsWith(trade))
  return [
    'fraud',
    ...(isTwice > 1 ? (['duplicate'] as const) : []),
    ...(row.kind === 'purchase' || COMPANIES.includes(row.name) ? (['overcharge'] as const) : []),
    ...(isShop ? (['undelivered'] as const) : []),
  ]
}
