import pLimit from 'p-limit'
import type { Drops, Example } from '../../dataset/example.js'
import { SPLITS, type Split } from '../../dataset/profile.js'
import { countExample, emptyStatistics, KINDS, type Statistics } from '../../dataset/statistics.js'
import { nodeName, toolGraph } from '../graph.js'
import { inOrder } from '../making/objections.js'
import { planText, type TaskPlan } from '../making/plan.js'
import { environmentsOf, profileNamed, type Recipe, SynthesisError } from '../making/recipe.js'
import type { Assignment, Rejection } from '../making/synthesis-context.js'
import { type Composition, IDLE_ROUNDS, MAX_ROUNDS, plansFor } from './assignments.js'
import { createDuplicateIndex } from './duplicates.js'
import type { FinishedBatches } from './finished-batches.js'
import type { Batch, BatchResult, PlainAssignment } from './make-batch.js'
import { createTargets } from './targets.js'
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
  readonly statistics: Statistics
  /** Number of examples whose plan asked for more than any chain gave. */
  readonly gaveUp: number
  /** Reasons for the small number of examples with a tool, by the name of the tool. */
  readonly scarcity: Readonly<Record<string, string>>
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
  onProgress(progress: Progress): void
  /** Called for each candidate that is dropped, in order. `id` names the example, the round and the attempt: `12.0.3`. */
  onRejected?(id: string, plan: TaskPlan, rejection: Rejection): void
}

/** State of a synthesis after a batch. */
export interface Progress {
  readonly kept: number
  readonly wanted: number
  readonly drops: Drops
  readonly statistics: Statistics
}

/** Assignments per batch, the unit of work that is stored on disk. */
const BATCH_SIZE = 50
/** Batches of the first wave. What is learnt of chains and tools in a wave serves the next one, which is twice as large. */
const FIRST_BATCHES = 2
const MOST_BATCHES = 16
/** Batches of a wave with few assignments, which keep all threads busy. */
const FEWEST_BATCHES = 4

/**
 * Makes the examples of a plan. Batches run on all threads, but duplicates are rejected in order, wave by wave. So the
 * number of threads does not affect the examples. Ends early if the environments give no more distinct examples.
 * @throws SynthesisError `no_yield` if no example could be made; the signal's reason
 */
export async function produce(plan: Plan, options: ProduceOptions): Promise<Production> {
  const { recipe } = plan
  const { batchSize = BATCH_SIZE } = options
  const graph = toolGraph(await environmentsOf(recipe))
  const profile = profileNamed(recipe.profile)
  const targets = createTargets(graph, profile, new Set(recipe.heldOutEnvironments), recipe.seed)
  const plans = plansFor(plan.composition, plan.shares, { ...recipe, profile }, targets.able)
  const duplicates = createDuplicateIndex()
  const drops: Record<string, number> = {}
  const statistics = emptyStatistics()
  let gaveUp = 0
  /** Examples of the first round by index, with their waves, and the examples of later rounds. */
  const early = new Map<number, number>()
  const late = new Map<number, Example>()
  const batches: { readonly wave: number; readonly batch: number }[] = []
  let open: Open[] = plans.map((wanted, index) => ({ wanted, index, round: 0 }))
  let idle = 0
  for (let wave = 0; open.length > 0 && idle < IDLE_ROUNDS; wave++) {
    const before = early.size + late.size
    const now = open.slice(0, batchSize * Math.min(MOST_BATCHES, FIRST_BATCHES * 2 ** wave))
    const isAll = now.length === open.length
    open = open.slice(now.length)
    const assignments = now.map(({ wanted, index, round }) => targets.assign(wanted, index, round))
    const size = Math.min(batchSize, Math.ceil(now.length / FEWEST_BATCHES))
    const parts = Array.from({ length: Math.ceil(now.length / size) }, (_, i) =>
      assignments.slice(i * size, (i + 1) * size),
    )
    let place = 0
    for await (const results of batchesOf(parts, wave, { recipe, spent: targets.spent() }, options)) {
      batches.push({ wave, batch: batches.filter((other) => other.wave === wave).length })
      for (const { example, rejected } of results) {
        const [assignment, { wanted }] = [assignments[place] as Assignment, now[place] as Open]
        const isKept = example !== null && duplicates.keep(example)
        const all: readonly Rejection[] = example && !isKept ? [...rejected, { by: 'duplicate' }] : rejected
        const { index, round } = assignment
        for (const [attempt, rejection] of all.entries()) {
          drops[rejection.by] = (drops[rejection.by] ?? 0) + 1
          options.onRejected?.(`${index}.${round}.${attempt}`, assignment, rejection)
        }
        targets.note(assignment, isKept ? example : null, all)
        if (isKept) countExample(statistics, example)
        if (isKept && asksForLess(assignment, wanted)) gaveUp++
        if (isKept && round === 0) early.set(index, wave)
        else if (isKept) late.set(index, example)
        else open.push({ wanted, index, round: round + 1 })
        place++
      }
      options.onProgress({ kept: early.size + late.size, wanted: plans.length, drops, statistics })
    }
    if (isAll) idle = early.size + late.size > before ? 0 : idle + 1
    if (open.every(({ round }) => round >= MAX_ROUNDS)) break
  }
  if (early.size + late.size === 0) throw noYield(open)
  return {
    missing: missingIn(open),
    drops: inOrder(drops),
    statistics,
    gaveUp,
    scarcity: targets.scarcity(),
    async *examples() {
      const waiting = [...late.values()].sort((a, b) => b.index - a.index)
      for (const { wave, batch } of batches) {
        for (const { index, example } of await options.finished.read(wave, batch)) {
          if (!example || early.get(index) !== wave) continue
          for (let next = waiting.at(-1); next && next.index < index; next = waiting.at(-1))
            yield waiting.pop() as Example
          yield example
        }
      }
      for (let next = waiting.pop(); next; next = waiting.pop()) yield next
    },
  }
}

const asksForLess = (plan: TaskPlan, wanted: TaskPlan): boolean =>
  plan.recovery !== wanted.recovery ||
  plan.crossing !== wanted.crossing ||
  plan.information !== wanted.information ||
  plan.rules !== wanted.rules

/** A plan without an example yet. */
interface Open {
  readonly wanted: TaskPlan
  readonly index: number
  readonly round: number
}

/** Makes the batches of one wave in parallel and yields their results in order. */
async function* batchesOf(
  parts: readonly (readonly Assignment[])[],
  wave: number,
  shared: Pick<Batch, 'recipe' | 'spent'>,
  { workers, threads, finished, signal }: ProduceOptions,
): AsyncGenerator<BatchResult[]> {
  const limit = pLimit(threads)
  const stop = new AbortController()
  const either = AbortSignal.any([signal, stop.signal])
  const batches = parts.map((part, batch) => {
    const assignments = part.map(
      (assignment): PlainAssignment => ({ ...assignment, target: nodeName(assignment.target) }),
    )
    const results = limit(async () => {
      either.throwIfAborted()
      return finished.of(wave, batch, () => workers.run({ ...shared, assignments }, either))
    })
    // A failure must not count as unhandled while the consumer waits for an earlier batch.
    results.catch(() => {})
    return results
  })
  try {
    // Removes each batch from the list, so that its examples do not stay in memory.
    for (let next = batches.shift(); next; next = batches.shift()) yield await next
  } finally {
    stop.abort()
  }
}

function missingIn(open: readonly Open[]): Missing[] {
  return KINDS.flatMap((kind) =>
    SPLITS.flatMap((split) => {
      const count = open.filter(({ wanted }) => wanted.kind === kind && wanted.split === split).length
      return count === 0 ? [] : [{ kind, split, count }]
    }),
  )
}

const noYield = (open: readonly Open[]): SynthesisError =>
  new SynthesisError(
    'no_yield',
    `none of ${open.length} examples could be made, for example ${open.slice(0, 1).map(({ wanted }) => planText(wanted))}: use more environments or other shares of the splits`,
  )
