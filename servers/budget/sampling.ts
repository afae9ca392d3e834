import type { SeededRandom } from '../kernel/random.js'
import { envelopeOf, leftOf, movable } from './rules.js'
import type { BudgetView, Month } from './schema.js'

/** How often a sampler draws before it gives up. */
export const DRAWS = 24

/** An amount as people name them, mostly round, from 1 to `most`. */
export function sampleAmount(random: SeededRandom, most: number): number {
  const cap = Math.max(1, Math.min(most, 400))
  const step = random.pick([1, 5, 10, 20, 50].filter((each) => each === 1 || (each * 2 <= cap && each * 20 >= cap)))
  return step > 1 || cap < 10 ? step * random.int(1, Math.floor(cap / step)) : random.int(Math.ceil(cap / 4), cap)
}

/** Whether so little is left that somebody would top the category up. */
export function isShort(db: BudgetView, category: string, month: string): boolean {
  const envelope = envelopeOf(db, category, month)
  return leftOf(envelope) < 20 || leftOf(envelope) * 5 <= envelope.limit
}

/** What somebody would take out of a category, most of which is left: at most half of it. */
export function spareOf(db: BudgetView, category: string, month: Month): number {
  if (isShort(db, category, month.month)) return 0
  return Math.floor(movable(db, category, month) / 2)
}
