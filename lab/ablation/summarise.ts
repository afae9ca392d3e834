import { type Estimate, estimate, type TaskResult } from '../../rollout/episode/index.js'
import { REWARD_PRESETS } from '../../rollout/reward/index.js'
import type { CellResult } from './ablate.js'
import { WHOLE } from './variants.js'

/** Measure of a policy on a task. */
export interface Measure {
  readonly name: string
  /** Format in tables. */
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

/** Estimates by the name of their measure. */
export type Measured = Readonly<Record<string, Estimate>>

export interface VariantSummary {
  /** null: the untrained base model. */
  readonly variant: string | null
  readonly seeds: number
  /** Number of held-out tasks. */
  readonly tasks: number
  /** Means over tasks, each averaged over the seeds; standard errors over tasks. */
  readonly measured: Measured
  /** Differences from the full reward on the same tasks and seeds; null for the full reward, or if it was not trained. */
  readonly change: Measured | null
  /** Mean change of `solved` per seed, in order; shows the variation between trainings. */
  readonly solvedBySeed: readonly number[]
}

/**
 * Summarises the results per variant.
 * @param results  results on one task set
 * @throws RangeError if two results have different tasks
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
  if (one.tasks.length !== whole.tasks.length)
    throw new RangeError('two results have different tasks: remove the results and evaluate again')
  return one.tasks.map((task, i) => {
    const other = whole.tasks[i]!
    if (other.taskId !== task.taskId)
      throw new RangeError('two results have different tasks: remove the results and evaluate again')
    return measure.of(task) - measure.of(other)
  })
}

const meanOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length

/** Averages over seeds first: another task set would sample tasks, so standard errors count tasks. */
const overTasks = (bySeed: readonly (readonly number[])[]): Estimate =>
  estimate(bySeed[0]!.map((_, task) => meanOf(bySeed.map((values) => values[task]!))))
