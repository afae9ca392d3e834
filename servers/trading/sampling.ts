import { choices } from '../kernel/choose.js'
import type { SeededRandom } from '../kernel/random.js'
import { bandOf, freeShares, tradingObstacle } from './rules.js'
import type { Instrument, TradingView } from './schema.js'

/** How often a sampler draws before it gives up. */
export const DRAWS = 24

/** Instruments that can be traded now, those held twice, since owners ask more. */
export function tradable(db: TradingView, now: string, bound: string | undefined): Instrument[] {
  const open = choices(db.instruments, bound, (row) => !tradingObstacle(db, now, row))
  return [...open, ...open.filter(({ instrument }) => freeShares(db, instrument) > 0)]
}

/** Some lots, mostly few, at most `most` shares; one lot when there is not even that. */
export function sampleQuantity(random: SeededRandom, lot: number, most: number): number {
  const whole = Math.floor(most / lot)
  if (whole < 1) return lot
  return lot * random.int(1, Math.min(whole, random.pick([4, 12, 40])))
}

/** A price on the tick grid and in the band, at most `ticks` away from the last one. */
export function samplePrice(random: SeededRandom, instrument: Instrument, ticks: number): number {
  const { low, high } = bandOf(instrument)
  const drawn = instrument.last + instrument.tick * random.int(-ticks, ticks)
  return Math.min(high, Math.max(low, drawn))
}
