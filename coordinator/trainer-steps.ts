import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'

const sha256 = z.string().regex(/^[0-9a-f]{64}$/)

const stepSchema = z.object({
  step: z.int().min(0),
  batchId: z.string().nullable(),
  skipped: z.string().nullable(),
  lora: z.object({ rank: z.int(), alpha: z.number(), targetModules: z.array(z.string()) }),
  files: z.record(z.string(), sha256),
  stats: z.record(z.string(), z.unknown()).nullable(),
  probes: z.array(
    z.object({
      prompt: z.array(z.int().min(0)),
      continuation: z.array(z.int().min(0)),
      base: z.array(z.number()),
      adapter: z.array(z.number()),
    }),
  ),
})

/** `step.json` of a complete step, as far as the coordinator reads it (docs/trainer.md). */
export type TrainerStep = z.output<typeof stepSchema> & {
  /** Folder of the step's files. */
  readonly folder: string
}

/** Reads a complete step from the spool. @throws when it is missing or does not parse */
export async function readStep(spool: string, step: number): Promise<TrainerStep> {
  const folder = join(spool, 'steps', `step-${step}`)
  const content: unknown = JSON.parse(await readFile(join(folder, 'step.json'), 'utf8'))
  return { ...stepSchema.parse(content), folder }
}
