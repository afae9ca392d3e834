import type { SeededRandom } from '../kernel/random.js'
import { slug } from '../kernel/text.js'
import { isReferenceUsed } from './rules.js'
import type { PaymentsView } from './schema.js'

/** An amount as people name them, mostly round, from 1 to `most`. */
export function sampleAmount(random: SeededRandom, most: number): number {
  const step = random.pick([1, 5, 10, 50, 100].filter((each) => each <= most))
  return step * random.int(1, Math.floor(most / step))
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
