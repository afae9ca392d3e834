import { z } from 'zod'

const count = z.int().min(0)

/** The parts of a run configuration that determine what a group counts for. */
const shape = z.object({
  dataset: z.object({ tasks: z.int().min(1) }),
  toolCallFormat: z.string(),
  reward: z.string(),
  cacheType: z.string().default('f16'),
  groupSize: z.int().min(1),
  limits: z.object({ maxTurnTokens: count, maxRolloutTokens: count, maxAssistantTurns: count, maxCalls: count }),
  audit: z.object({ calibrations: z.record(z.string(), z.string()) }),
})
export type ReadConfiguration = z.output<typeof shape>

/** Reads a run configuration; null: it is none of this version of the program. */
export const readConfiguration = (configuration: unknown): ReadConfiguration | null =>
  shape.safeParse(configuration).data ?? null
