import type { GroundTruthCall, JsonObject, LoggedCall } from './types.js'
import { equalValues, own } from './values.js'

/** A one-to-one binding of ground-truth calls to logged calls. */
export interface Alignment {
  /** Index into the call log per ground-truth call, or `null`. */
  readonly calls: readonly (number | null)[]
  readonly covered: readonly boolean[]
}

/** Returns the arguments of a logged call that may match `truth`: well-formed, the tool was offered, same name, all keys of the truth. */
function candidate(truth: GroundTruthCall, call: LoggedCall): JsonObject | undefined {
  if (call.malformed || call.early || call.name !== truth.name) return undefined
  return Object.keys(truth.arguments).every((key) => Object.hasOwn(call.arguments, key)) ? call.arguments : undefined
}

/** Returns the number of the truth's arguments that have an equal value in `args`. */
export function equalArguments(truth: GroundTruthCall, args: JsonObject): number {
  return Object.keys(truth.arguments).filter((key) => equalValues(own(truth.arguments, key), own(args, key))).length
}

/** Aligns in one greedy pass in ground-truth order (reward specification, section 5). */
function pass(truths: readonly GroundTruthCall[], log: readonly LoggedCall[], policy: 'value' | 'early'): Alignment {
  const bound: (number | null)[] = []
  const used = new Set<number>()
  for (const truth of truths) {
    const open = log.flatMap((call, at) => {
      const args = used.has(at) ? undefined : candidate(truth, call)
      if (!args) return []
      return [{ at, equal: equalArguments(truth, args), foreign: Object.keys(args).length }]
    })
    const latest = Math.max(-1, ...truth.after.map((i) => bound[i] ?? -1))
    const inOrder = open.filter(({ at }) => at > latest)
    const [chosen] = (inOrder.length > 0 ? inOrder : open).sort((a, b) =>
      policy === 'early' ? a.at - b.at : b.equal - a.equal || a.foreign - b.foreign || a.at - b.at,
    )
    bound.push(chosen?.at ?? null)
    if (chosen) used.add(chosen.at)
  }
  const covered = truths.map(({ after }, i) => {
    const at = bound[i] ?? null
    return at !== null && after.every((j) => bound[j] !== null && bound[j]! < at)
  })
  return { calls: bound, covered }
}

/**
 * Aligns ground-truth calls with logged calls. The pass `value` prefers equal arguments, the pass `early` the first possible call. The
 * result of `early` is used only if it covers strictly more. The cost is O(n N), so an adversarial log cannot slow scoring down.
 */
export function align(truths: readonly GroundTruthCall[], log: readonly LoggedCall[]): Alignment {
  const byValue = pass(truths, log, 'value')
  const early = pass(truths, log, 'early')
  const count = ({ covered }: Alignment): number => covered.filter(Boolean).length
  return count(early) > count(byValue) ? early : byValue
}
