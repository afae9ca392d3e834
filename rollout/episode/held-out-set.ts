import { z } from 'zod'
import type { EvaluationSettings } from './evaluation.js'
import { parseTask, type Task } from './task.js'

const count = z.int().min(0)

/** Schema of the file that names how the versions of a run are scored: tasks, seeds and settings. */
const shape = z.strictObject({
  schema: z.literal(1),
  settings: z.strictObject({
    samplesPerTask: z.int().min(1).max(64),
    slots: z.int().min(1).max(64),
    seed: count,
    temperature: z.number().min(0).max(10),
    limits: z.strictObject({
      maxTurnTokens: count,
      maxRolloutTokens: count,
      maxAssistantTurns: count,
      maxCalls: count,
    }),
  }),
  toolCallFormat: z.string().max(64),
  reward: z.string().max(64),
  cacheType: z.string().max(64),
  tasks: z.array(z.unknown()).min(1).max(100_000),
})

/** How the versions of a run are scored. Every machine can play the same tasks again. */
export interface HeldOutSet {
  readonly settings: EvaluationSettings
  readonly toolCallFormat: string
  readonly reward: string
  readonly cacheType: string
  readonly tasks: readonly Task[]
}

export const heldOutText = (set: HeldOutSet): string => `${JSON.stringify({ schema: 1, ...set })}\n`

/** Parses a published held-out set. @throws SyntaxError, ZodError, EpisodeError if it is none */
export function parseHeldOut(text: string): HeldOutSet {
  const { schema: _, tasks, ...set } = shape.parse(JSON.parse(text))
  return { ...set, tasks: tasks.map((task) => parseTask(task)) }
}
