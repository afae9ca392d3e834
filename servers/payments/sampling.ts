import type { SeededRandom } from '../kernel/random.js'
import { isReferenceUsed } from './rules.js'
import type { PaymentsView } from './schema.js'
import { REFERENCE_WORDS } from './words.js'

/** An amount as people name them, mostly round, from 1 to `most`. */
export function sampleAmount(random: SeededRandom, most: number): number {
  const step = random.pick([1, 5, 10, 50, 100].filter((each) => each <= most))
  return step * random.int(1, Math.floor(most / step))
}

/** A reference that nothing carries yet, such as `deposit-37`. */
export function newReference(db: PaymentsView, random: SeededRandom): string {
  let reference = ''
  do reference = `${random.pick(REFERENCE_WORDS)}-${random.int(10, 999)}`
  while (isReferenceUsed(db, reference))
  return reference
}
