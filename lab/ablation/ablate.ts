import { z } from 'zod'
import type { AdapterFile } from '../../rollout/engine/index.js'
import type { TaskResult } from '../../rollout/episode/index.js'
import type { Journal } from '../journal.js'

/** One policy: the reward variant and the seed of its training. */
export interface Cell {
  readonly variant: string
  readonly seed: number
}

/** Results of a policy on the held-out tasks. `variant` null: the untrained base model, sampled with this seed. */
export interface CellResult {
  readonly variant: string | null
  readonly seed: number
  readonly tasks: readonly TaskResult[]
}

const share = z.number().min(0).max(1)
/** Schema of a journal line. */
export const cellResult: z.ZodType<CellResult> = z.strictObject({
  variant: z.string().nullable(),
  seed: z.int().min(0),
  tasks: z.array(
    z.strictObject({
      taskId: z.string(),
      reward: z.number(),
      rewards: z.record(z.string(), z.number()),
      solved: share,
      calls: z.number().min(0),
    }),
  ),
})

export interface AblationParts {
  readonly variants: readonly string[]
  readonly seeds: readonly number[]
  readonly journal: Journal<CellResult>
  readonly train: (cell: Cell, signal: AbortSignal) => Promise<AdapterFile>
  readonly evaluate: (adapter: AdapterFile | null, seed: number, signal: AbortSignal) => Promise<readonly TaskResult[]>
  onCell(cell: CellResult, done: number, wanted: number): void
}

/**
 * Trains and evaluates every variant with every seed. Seeds are the outer loop, so an early stop leaves complete comparisons. Cells in the
 * journal are not repeated.
 * @throws what `train` and `evaluate` throw; the signal's reason
 */
export async function ablate(parts: AblationParts, signal: AbortSignal): Promise<CellResult[]> {
  const { variants, seeds, journal, train, evaluate, onCell } = parts
  const wanted = seeds.flatMap((seed) => [null, ...variants].map((variant) => ({ variant, seed })))
  const results: CellResult[] = []
  for (const { variant, seed } of wanted) {
    let result = journal.earlier.find((one) => one.variant === variant && one.seed === seed)
    if (!result) {
      signal.throwIfAborted()
      const adapter = variant === null ? null : await train({ variant, seed }, signal)
      result = { variant, seed, tasks: await evaluate(adapter, seed, signal) }
      await journal.add([result])
    }
    results.push(result)
    onCell(result, results.length, wanted.length)
  }
  return results
}
