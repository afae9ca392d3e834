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
