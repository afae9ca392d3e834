import type { SeededRandom } from '../kernel/random.js'
import { slug } from '../kernel/text.js'
import { isReferenceUsed } from './rules.js'
import type { PaymentsView } from './schema.js'

/** Samples the amount of an invoice: a multiple of five, from 40 to `most`. The value of `most` is at least 40. */
export const sampleBill = (random: SeededRandom, most: number): number => 5 * random.int(8, Math.floor(most / 5))

/**
 * Samples a part of an amount that is worth a separate payment, in round tens. Returns the whole amount if it is small.
 */
export function samplePart(random: SeededRandom, whole: number): number {
  return whole < 60 ? whole : 10 * random.int(Math.ceil((whole * 0.3) / 10), Math.floor((whole * 0.6) / 10))
}

/** Characters of a reference, beside the number that may follow. */
const LONGEST = 26

/** A reference that nothing carries yet, after what it is for: `poster-design`, then `poster-design-2`. */
export function newReference(db: PaymentsView, title: string): string {
  const words = slug(title).split('-')
  while (words.length > 1 && words.join('-').length > LONGEST) words.pop()
  const base = words.join('-').slice(0, LONGEST)
  let reference = base
  for (let number = 2; isReferenceUsed(db, reference); number++) reference = `${base}-${number}`
  return reference
}
