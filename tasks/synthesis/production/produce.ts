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

/** Plan of a data set: everything that determines its bytes. */
export interface Plan {
  readonly recipe: Recipe
  readonly composition: Composition
  readonly shares: Readonly<Partial<Record<Split, number>>>
}

export interface Production {
  /** Yields the examples in the order of their indices. */
  examples(): AsyncGenerator<Example>
  readonly drops: Drops
  /** Requested examples that could not be made; empty if none is missing. */
  readonly missing: readonly Missing[]
}

/** Number of missing examples of a kind and split. */
export interface Missing extends Pick<Assignment, 'kind' | 'split'> {
  readonly count: number
}

export interface ProduceOptions {
  readonly workers: Workers
  readonly threads: number
  readonly finished: FinishedBatches
  /** Assignments per batch, or fewer in later passes. A resumed synthesis must use the same number. Default: 50. */
  readonly batchSize?: number
  readonly signal: AbortSignal
  onProgress(progress: { readonly kept: number; readonly wanted: number; readonly drops: Drops }): void
}

/** Assignments per batch, the unit of work that is stored on disk. */
const BATCH_SIZE = 50
/** Number of batches of a later pass, unless they would be larger. Small batches keep all threads busy with few assignments. */
const LATER_BATCHES = 16

/**
 * Makes the examples of a plan. Batches run on all threads, but duplicates are rejected in the order of the indices, pass by pass. So the
 * number of threads does not affect the examples. Ends early if the environments give no more distinct examples.
 * @throws SynthesisError `no_yield` if no example could be made; the signal's reason
 */
export async function produce(plan: Plan, options: ProduceOptions): Promise<Production> {
  const { recipe } = plan
  const { batchSize = BATCH_SIZE } = options
  const graph = toolGraph(await environmentsOf(recipe))
  const wanted = assignmentsFor(plan.composition, plan.shares, graph, recipe.seed)
  const duplicates = createDuplicateIndex()
  const targets = createTargets(graph, recipe.seed, profileNamed(recipe.profile).target)
  const drops: Record<string, number> = {}
  /** Indices of the examples of the first pass, and the examples of later passes. */
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

/** Makes the batches of one pass in parallel and yields them in order. */
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
    // A failure must not count as unhandled while the consumer waits for an earlier batch.
    results.catch(() => {})
    return { part, results }
  })
  try {
    // Removes each batch from the list, so that its examples do not stay in memory.
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
    `none of ${open.length} examples could be made, for example one of ${example}: use more environments or other shares of the splits`,
  )
}
