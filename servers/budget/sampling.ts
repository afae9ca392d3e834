import type { SeededRandom } from '../kernel/random.js'
import { envelopeOf, leftOf, movable } from './rules.js'
import type { BudgetView, Month } from './schema.js'

/** How often a sampler draws before it gives up. */
export const DRAWS = 24

/** An amount as people name them, mostly round, from 1 to `most`. */
export function sampleAmount(random: SeededRandom, most: number): number {
  const cap = Math.max(1, Math.min(most, 400))
  const steps = [5, 10, 20, 50].filter((each) => each * 2 <= cap && each * 20 >= cap)
  const step = steps.length > 0 ? random.pick(steps) : 1
  const units = Math.floor(cap / step)
  return step * random.int(Math.ceil(units / 5), units)
}

/** Returns whether so little is left in a category that a household would top the category up. */
export function isShort(db: BudgetView, category: string, month: string): boolean {
  const envelope = envelopeOf(db, category, month)
  return leftOf(envelope) < 20 || leftOf(envelope) * 5 <= envelope.limit
}

/**
 * Returns the amount that a household would take out of a category: half of the amount that may be taken out. Returns 0 if
 * the category is short in the month or overspent in any open month.
 */
export function spareOf(db: BudgetView, category: string, month: Month): number {
  const open = db.months.list(({ status }) => status === 'open')
  if (isShort(db, category, month.month) || open.some((row) => leftOf(envelopeOf(db, category, row.month)) < 0))
    return 0
  return Math.floor(movable(db, category, month) / 2)
}
