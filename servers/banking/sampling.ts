import type { SeededRandom } from '../kernel/random.js'
import type { TableView } from '../kernel/table.js'

/** The row that `bound` names if it fits, or one that fits at random; nothing when there is none. */
export function choose<R>(
  table: TableView<R>,
  random: SeededRandom,
  bound: string | undefined,
  fits: (row: R) => boolean = () => true,
): R | undefined {
  if (bound !== undefined) {
    const row = table.get(bound)
    return row !== undefined && fits(row) ? row : undefined
  }
  const rows = table.list(fits)
  return rows.length > 0 ? random.pick(rows) : undefined
}

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
