import { z } from 'zod'
import type { RankState } from './cluster.js'

/** A line of the trainer's standard output (docs/trainer.md). */
export const trainerEvent = z.looseObject({
  event: z.string(),
  step: z.int().optional(),
  batchId: z.string().nullish(),
  code: z.string().optional(),
  message: z.string().optional(),
  reason: z.string().nullish(),
})
/** `ranks` is the one event that we say: which ranks on other machines have reported. */
export type TrainerEvent = z.output<typeof trainerEvent> & { readonly ranks?: unknown }

/** Whether it says which ranks there are. Only what we say ourselves does. */
export const isOfRanks = (
  news: TrainerEvent,
): news is TrainerEvent & { readonly event: 'ranks'; readonly ranks: readonly RankState[] } =>
  news.event === 'ranks' && Array.isArray(news.ranks)
