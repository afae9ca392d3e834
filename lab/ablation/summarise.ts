import { type Estimate, estimate, type TaskResult } from '../../rollout/episode/index.js'
import { REWARD_PRESETS } from '../../rollout/reward/index.js'
import type { CellResult } from './ablate.js'
import { WHOLE } from './variants.js'

/** What is measured of a policy on a task. */
export interface Measure {
  readonly name: string
  /** How it is shown. */
  readonly shown: { readonly heading: string; readonly scale: number; readonly digits: number }
  of(result: TaskResult): number
}

export const MEASURES: readonly Measure[] = [
  { name: 'solved', shown: { heading: 'solved, %', scale: 100, digits: 1 }, of: ({ solved }) => solved },
  { name: 'calls', shown: { heading: 'calls per task', scale: 1, digits: 2 }, of: ({ calls }) => calls },
  ...[...REWARD_PRESETS.keys()].map((preset) => ({
    ...{ name: preset, shown: { heading: `reward \`${preset}\``, scale: 1, digits: 3 } },
    of: ({ rewards }: TaskResult) => rewards[preset]!,
  })),
]
const [SOLVED] = MEASURES as [Measure]

/** By the names of the measures. */
export type Measured = Readonly<Record<string, Estimate>>

export interface VariantSummary {
  /** null: the base, untrained. */
  readonly variant: string | null
  readonly seeds: number
  /** Held-out tasks. */
  readonly tasks: number
  /** Means over tasks, each averaged over the seeds; standard errors over tasks. */
  readonly measured: Measured
  /** The same tasks and seeds, minus those of the whole reward; null for that one, or where it was not trained. */
  readonly change: Measured | null
  /** The mean change of `solved` from each seed, in their order: how far apart two trainings are. */
  readonly solvedBySeed: readonly number[]
}

/**
 * @param results  of one task set
 * @throws RangeError when two of them are not of the same tasks
 */
export function summarise(results: readonly CellResult[]): VariantSummary[] {
  const variants = [...new Set(results.map(({ variant }) => variant))]
  return variants.map((variant) => {
    const own = results.filter((one) => one.variant === variant)
    const pairs = own.flatMap((one) => {
      const whole = results.find((other) => other.variant === WHOLE && other.seed === one.seed)
      return whole && variant !== WHOLE ? [[one, whole] as const] : []
    })
    return {
      variant,
      seeds: own.length,
      tasks: own[0]!.tasks.length,
      measured: each((measure) => overTasks(own.map(({ tasks }) => tasks.map(measure.of)))),
      change: pairs.length === 0 ? null : each((measure) => overTasks(pairs.map((pair) => changes(measure, pair)))),
      solvedBySeed: pairs.map((pair) => meanOf(changes(SOLVED, pair))),
    }
  })
}

const each = (of: (measure: Measure) => Estimate): Measured =>
  Object.fromEntries(MEASURES.map((measure) => [measure.name, of(measure)]))

function changes(measure: Measure, [one, whole]: readonly [CellResult, CellResult]): number[] {
  if (one.tasks.length !== whole.tasks.length) throw new RangeError('two results are not of the same tasks')
  return one.tasks.map((task, i) => {
    const other = whole.tasks[i]!
    if (other.taskId !== task.taskId) throw new RangeError('two results are not of the same tasks')
    return measure.of(task) - measure.of(other)
  })
}

const meanOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length

/** Tasks are what another task set would have drawn anew: an error counts them, not their seeds. */
const overTasks = (bySeed: readonly (readonly number[])[]): Estimate =>
  estimate(bySeed[0]!.map((_, task) => meanOf(bySeed.map((values) => values[task]!))))
