import type { SeededRandom } from '../kernel/random.js'
import type { TableView } from '../kernel/table.js'

/** How often a sampler draws before it gives up. */
export const DRAWS = 24

/** The rows a sampler may choose from: the bound one or, without a binding, all; in either case only those that fit. */
export function choices<R>(table: TableView<R>, bound: string | undefined, fits: (row: R) => boolean): R[] {
  if (bound === undefined) return table.list(fits)
  const row = table.get(bound)
  return row !== undefined && fits(row) ? [row] : []
}

/** An amount as people name them, often round, from 1 to `most`. */
export function sampleAmount(random: SeededRandom, most: number): number {
  const cap = Math.max(1, Math.min(most, 400))
  const drawn = random.int(1, cap)
  return drawn >= 20 && random.chance(0.6) ? drawn - (drawn % 5) : drawn
}
