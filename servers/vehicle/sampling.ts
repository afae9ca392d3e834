import type { SampleContext } from '../kernel/define-server.js'
import type { SeededRandom } from '../kernel/random.js'
import type { VehicleTables } from './schema.js'

/** What samplers of this world draw from. */
export type Draw<A> = SampleContext<VehicleTables, A>

/** One of the candidates that agree with what is bound; `null` when there is none. */
export function pickAgreeing<A extends object>(
  random: SeededRandom,
  bound: Partial<A>,
  candidates: readonly A[],
): A | null {
  const fixed = Object.entries(bound)
  const agreeing =
    fixed.length === 0
      ? candidates
      : candidates.filter((candidate) => fixed.every(([name, value]) => candidate[name as keyof A] === value))
  return agreeing.length > 0 ? random.pick(agreeing) : null
}

const DRAWS = 8

/** The row of that key if it fits, or any that fits. */
export function choose<R>(
  random: SeededRandom,
  table: { get(key: string): R | undefined; list(): R[] },
  bound: string | undefined,
  fits: (row: R) => boolean,
): R | undefined {
  if (bound !== undefined) {
    const row = table.get(bound)
    return row !== undefined && fits(row) ? row : undefined
  }
  const rows = table.list()
  if (rows.length === 0) return undefined
  // Rules cost more than draws: most of the time a few draws find a row, as evenly as looking at all would.
  for (let draw = 0; draw < DRAWS; draw++) {
    const row = random.pick(rows)
    if (fits(row)) return row
  }
  const fitting = rows.filter(fits)
  return fitting.length > 0 ? random.pick(fitting) : undefined
}

/** Every combination of two lists. */
export function cross<A, B>(first: readonly A[], second: readonly B[]): (readonly [A, B])[] {
  return first.flatMap((a) => second.map((b) => [a, b] as const))
}
