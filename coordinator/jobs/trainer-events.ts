import { z } from 'zod'
import type { RankState } from './cluster.js'

/** A line of the trainer's standard output (docs/reference/trainer.md). */
export const trainerEvent = z.looseObject({
  event: z.string(),
  step: z.int().optional(),
  batchId: z.string().nullish(),
  code: z.string().optional(),
  message: z.string().optional(),
  reason: z.string().nullish(),
})
/** An event of the trainer, or `ranks`, with which the coordinator reports the ranks on other machines. */
export type TrainerEvent = z.output<typeof trainerEvent> & { readonly ranks?: unknown }

/** Whether an event is the coordinator's own event `ranks`. */
export const isOfRanks = (
  event: TrainerEvent,
): event is TrainerEvent & { readonly event: 'ranks'; readonly ranks: readonly RankState[] } =>
  event.event === 'ranks' && Array.isArray(event.ranks)
