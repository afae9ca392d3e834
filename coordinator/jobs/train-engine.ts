import type { Refusal } from './refusal-file.js'

/** What became of a batch. */
export type BatchOutcome =
  | { readonly kind: 'trained'; readonly step: number }
  /** Its evidence lies beside it: the trainer waits for findings. */
  | { readonly kind: 'measured' }
  | ({ readonly kind: 'refused' } & Refusal)

/** The process that turns batches into steps. Batches travel through the spool; see docs/trainer.md. */
export interface TrainEngine {
  /** Resolves when the trainer stands at its newest complete step. @throws TrainerError */
  start(signal: AbortSignal): Promise<{ readonly step: number }>
  /**
   * What becomes of a batch that lies in the spool. Idempotent: a batch that was trained before returns its step. `measured`
   * is no end: who hears it writes findings and asks again, and may hear it once more when the trainer was started anew.
   * @throws TrainerError when there will be no outcome
   */
  outcome(batchId: string, signal: AbortSignal): Promise<BatchOutcome>
  close(): Promise<void>
}
