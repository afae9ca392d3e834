import type { SampleContext } from '../kernel/define-environment.js'
import type { SeededRandom } from '../kernel/random.js'
import type { VehicleTables } from './schema.js'

/** What samplers of this environment draw from. */
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

/** Every combination of two lists. */
export function cross<A, B>(first: readonly A[], second: readonly B[]): (readonly [A, B])[] {
  return first.flatMap((a) => second.map((b) => [a, b] as const))
}
