import { choices } from '../kernel/choose.js'
import type { SeededRandom } from '../kernel/random.js'
import { bandOf, freeShares, tradingObstacle } from './rules.js'
import type { Instrument, Side, TradingView } from './schema.js'

/** How often a sampler draws before it gives up. */
export const DRAWS = 24

/** Instruments that can be traded now, those held twice, since owners ask more. */
export function tradable(db: TradingView, now: string, bound: string | undefined): Instrument[] {
  const open = choices(db.instruments, bound, (row) => !tradingObstacle(db, now, row))
  return [...open, ...open.filter(({ instrument }) => freeShares(db, instrument) > 0)]
}

/** EUR that orders are mostly for. */
const WORTHWHILE = [800, 1500, 3000, 6000] as const

/**
 * Samples whole lots, at most `most` shares. A seller sells all free shares or some of them. Customers do not trade in
 * amounts that are worth less than the fees.
 */
export function sampleQuantity(random: SeededRandom, { lot, last }: Instrument, side: Side, most: number): number {
  const lots = Math.max(1, Math.floor(most / lot))
  if (side === 'sell' && random.chance(0.4)) return lot * lots
  return lot * Math.min(lots, Math.max(1, Math.round(random.pick(WORTHWHILE) / last / lot)))
}

/** All free shares of a position or about half of them, in lots. */
export function sampleCover(random: SeededRandom, lot: number, free: number): number {
  const lots = Math.max(1, Math.floor(free / lot))
  return lot * (random.chance(0.5) ? lots : Math.ceil(lots / 2))
}

/** A limit at the last price or a little better: lower for who buys, higher for who sells. */
export function sampleLimit(random: SeededRandom, instrument: Instrument, side: Side): number {
  const { last, tick } = instrument
  return inBand(instrument, last + (side === 'buy' ? -1 : 1) * tick * random.int(0, 4))
}

/** A stop far enough below the last price not to be met by the next trade. */
export function sampleStop(random: SeededRandom, instrument: Instrument): number {
  return inBand(instrument, instrument.last - stepsAway(random, instrument, 3, 8))
}

/** A price that would be news: some percent above or below the last one. */
export function sampleAlert(random: SeededRandom, instrument: Instrument): number {
  const away = stepsAway(random, instrument, 4, 15)
  return Math.max(instrument.tick, instrument.last + (random.chance(0.5) ? away : -away))
}

/** So many percent of the last price, on the tick grid and at least one tick. */
function stepsAway(random: SeededRandom, { last, tick }: Instrument, least: number, most: number): number {
  return tick * Math.max(1, Math.round((last * random.int(least, most)) / 100 / tick))
}

function inBand(instrument: Instrument, price: number): number {
  const { low, high } = bandOf(instrument)
  return Math.min(high, Math.max(low, price))
}
