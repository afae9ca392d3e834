import type { SeededRandom } from '../kernel/random.js'
import type { TableView } from '../kernel/table.js'
import { REPLIES, SUBJECTS, TEMPLATES } from './words.js'

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

/** What somebody might post outside a thread. */
export function messageText(random: SeededRandom): string {
  return random.pick(TEMPLATES).replace('{}', random.pick(SUBJECTS))
}

export function replyText(random: SeededRandom): string {
  return random.pick(REPLIES)
}
