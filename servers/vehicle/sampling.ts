import type { SampleContext } from '../kernel/define-environment.js'
import type { SeededRandom } from '../kernel/random.js'
import type { VehicleTables } from './schema.js'

/** Context from which the samplers of this environment draw. */
export type Draw<A> = SampleContext<VehicleTables, A>

/** Samples one of the candidates that agree with the bound values. Returns `null` if no candidate agrees. */
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
