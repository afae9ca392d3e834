import type { GroundTruthCall, JsonObject, LoggedCall } from './types.js'
import { equalValues, own } from './values.js'

/** A one-to-one binding of ground-truth calls to logged calls. */
export interface Alignment {
  /** Index into the call log per ground-truth call, or `null`. */
  readonly calls: readonly (number | null)[]
  readonly covered: readonly boolean[]
}

/** The arguments of a logged call that may serve `truth`: well-formed, of a tool that was there, same name, every key of the truth present. */
function candidate(truth: GroundTruthCall, call: LoggedCall): JsonObject | undefined {
  if (call.malformed || call.early || call.name !== truth.name) return undefined
  return Object.keys(truth.arguments).every((key) => Object.hasOwn(call.arguments, key)) ? call.arguments : undefined
}

/** Number of the truth's arguments that have an equal value in `args`. */
export function equalArguments(truth: GroundTruthCall, args: JsonObject): number {
  return Object.keys(truth.arguments).filter((key) => equalValues(own(truth.arguments, key), own(args, key))).length
}

/** One greedy pass in ground-truth order (reward specification, section 5). */
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
 * Binds ground-truth calls to logged calls. `value` prefers equal arguments, `early` the first possible call; `early` is
 * used only where it covers strictly more. Cost O(n N), so an adversarial log cannot make scoring slow.
 */
export function align(truths: readonly GroundTruthCall[], log: readonly LoggedCall[]): Alignment {
  const byValue = pass(truths, log, 'value')
  const early = pass(truths, log, 'early')
  const count = ({ covered }: Alignment): number => covered.filter(Boolean).length
  return count(early) > count(byValue) ? early : byValue
}
