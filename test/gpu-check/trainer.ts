import { join } from 'node:path'
import { execa } from 'execa'
import { z } from 'zod'
import { checkout } from '../support/checkout.js'

const report = z.strictObject({
  device: z.string(),
  torch: z.string(),
  cpuSeconds: z.number(),
  steps: z.array(
    z.strictObject({
      precision: z.string(),
      distance: z.number().nonnegative(),
      bound: z.number().positive(),
      seconds: z.number(),
    }),
  ),
})
const answer = z.union([report, z.strictObject({ lacks: z.string() })])

/** Comparison of the trainer's gradient on a GPU, in each precision, with that of the CPU in float32. `distance` and its bound are shares of the gradient's length. */
export type TrainerReport = z.output<typeof report>

/** @returns  or why there is nothing to compare. @throws what running Python throws */
export async function examineTrainer(
  base: string,
  signal: AbortSignal,
): Promise<TrainerReport | { readonly lacks: string }> {
  const folder = join(checkout, 'coordinator', 'trainer')
  const { stdout } = await execa(
    join(checkout, '.venv', 'bin', 'python'),
    ['-m', 'prove_trainer.device_check', '--base', base],
    { env: { PYTHONPATH: folder }, stdin: 'ignore', stderr: 'inherit', cancelSignal: signal },
  )
  return answer.parse(JSON.parse(stdout))
}
