import pLimit from 'p-limit'
import { DROP_REASONS, type Drops, type Example } from '../../dataset/example.js'
import { SPLITS, type Split } from '../../dataset/profile.js'
import { KINDS } from '../../dataset/statistics.js'
import { nodeName, toolGraph } from '../making/graph.js'
import { environmentsOf, profileNamed, type Recipe, SynthesisError } from '../making/recipe.js'
import type { Assignment } from '../making/synthesis-context.js'
import { assignmentsFor, type Composition, createTargets, IDLE_ROUNDS, MAX_ROUNDS } from './assignments.js'
import { createDuplicateIndex } from './duplicates.js'
import type { FinishedBatches } from './finished-batches.js'
import type { BatchResult, PlainAssignment } from './make-batch.js'
import type { Workers } from './worker-pool.js'

/** A data set before it is made: all that its bytes depend on. */
export interface Plan {
  readonly recipe: Recipe
  readonly composition: Composition
  readonly shares: Readonly<Partial<Record<Split, number>>>
}

export interface Production {
  /** The examples in the assignment of their indices. */
  examples(): AsyncGenerator<Example>
  readonly drops: Drops
  /** What was asked for and could not be made; empty when nothing is missing. */
  readonly missing: readonly Missing[]
}

/** Examples of a kind and split that the worlds do not give. */
export interface Missing extends Pick<Assignment, 'kind' | 'split'> {
  readonly count: number
}

export interface ProduceOptions {
  readonly workers: Workers
  readonly threads: number
  readonly finished: FinishedBatches
  /** Orders per batch, or fewer in later passes. A run that is gone on with must have the same. Default 50. */
  readonly batchSize?: number
  readonly signal: AbortSignal
  onProgress(progress: { readonly kept: number; readonly wanted: number; readonly drops: Drops }): void
}

/** Orders in one batch, the unit of work that is kept on disk. */
const BATCH_SIZE = 50
/** Batches of a later pass, unless they would be larger: of the few orders that are left at last all threads are to have some. */
const LATER_BATCHES = 16

/**
 * Makes the examples of a plan. Batches run on all threads, but what is kept is decided in the assignment of the indices, pass
 * by pass, so that the examples do not depend on how many threads there are. Where worlds give no more examples that differ, it ends with
 * those that there are.
 * @throws SynthesisError `no_yield` when nothing at all could be made; the signal's reason
 */
export async function produce(plan: Plan, options: ProduceOptions): Promise<Production> {
  const { recipe } = plan
  const { batchSize = BATCH_SIZE } = options
  const graph = toolGraph(await environmentsOf(recipe))
  const wanted = assignmentsFor(plan.composition, plan.shares, graph, recipe.seed)
  const duplicates = createDuplicateIndex()
  const targets = createTargets(graph, recipe.seed, profileNamed(recipe.profile).target)
  const drops: Record<string, number> = {}
  /** Indices of the examples kept in the first pass, and the few that came later. */
  const early = new Set<number>()
  const late = new Map<number, Example>()
  let open: Assignment[] = wanted
  let idle = 0
  for (let pass = 0; open.length > 0 && pass < MAX_ROUNDS && idle < IDLE_ROUNDS; pass++) {
    const before = early.size + late.size
    const again: Assignment[] = []
    const size = pass === 0 ? batchSize : Math.min(batchSize, Math.ceil(open.length / LATER_BATCHES))
    for await (const [assignments, results] of batchesOf(open, pass, size, recipe, options)) {
      for (const [i, { example, drops: dropped }] of results.entries()) {
        for (const [reason, count] of Object.entries(dropped)) drops[reason] = (drops[reason] ?? 0) + count
        if (example && duplicates.keep(example)) {
          targets.count(example)
          if (pass === 0) early.add(example.index)
          else late.set(example.index, example)
          continue
        }
        if (example) drops.duplicate = (drops.duplicate ?? 0) + 1
        again.push(targets.nextRound(assignments[i]!))
      }
      options.onProgress({ kept: early.size + late.size, wanted: wanted.length, drops: drops as Drops })
    }
    open = again
    idle = early.size + late.size > before ? 0 : idle + 1
  }
  if (early.size + late.size === 0) throw noYield(open)
  return {
    missing: missingIn(open),
    drops: Object.fromEntries(DROP_REASONS.flatMap((reason) => (drops[reason] ? [[reason, drops[reason]]] : []))),
    async *examples() {
      for (let batch = 0; batch * batchSize < wanted.length; batch++) {
        for (const { index, example } of await options.finished.read(0, batch)) {
          const kept = late.get(index) ?? (early.has(index) ? example : null)
          if (kept) yield kept
        }
      }
    },
  }
}

/** The batches of one pass, made side by side and given in order. */
async function* batchesOf(
  assignments: readonly Assignment[],
  pass: number,
  batchSize: number,
  recipe: Recipe,
  { workers, threads, finished, signal }: ProduceOptions,
): AsyncGenerator<[assignments: readonly Assignment[], results: BatchResult[]]> {
  const limit = pLimit(threads)
  const stop = new AbortController()
  const either = AbortSignal.any([signal, stop.signal])
  const batches = Array.from({ length: Math.ceil(assignments.length / batchSize) }, (_, batch) => {
    const part = assignments.slice(batch * batchSize, (batch + 1) * batchSize)
    const plain = part.map((assignment): PlainAssignment => ({ ...assignment, target: nodeName(assignment.target) }))
    const results = limit(async () => {
      either.throwIfAborted()
      return finished.of(pass, batch, () => workers.run({ recipe, assignments: plain }, either))
    })
    // Whoever waits for an earlier batch must not find this one's failure unhandled.
    results.catch(() => {})
    return { part, results }
  })
  try {
    // Taken off the list, so that the examples of a finished batch are not kept in memory.
    for (let next = batches.shift(); next; next = batches.shift()) yield [next.part, await next.results]
  } finally {
    stop.abort()
  }
}

function missingIn(open: readonly Assignment[]): Missing[] {
  return KINDS.flatMap((kind) =>
    SPLITS.flatMap((split) => {
      const count = open.filter((one) => one.kind === kind && one.split === split).length
      return count === 0 ? [] : [{ kind, split, count }]
    }),
  )
}

function noYield(open: readonly Assignment[]): SynthesisError {
  const [first] = open
  const example = `${first!.kind}, ${first!.split}, about ${nodeName(first!.target)}`
  return new SynthesisError(
    'no_yield',
    `none of ${open.length} examples could be made (such as one of ${example}). Use more worlds, or other shares of the splits.`,
  )
}
