import type { TrainerSettings } from './trainer-settings.js'

/** Settings of the trainer under a name; what `trainer.settings` says besides goes before them. */
export const TRAINER_PRESETS = {
  /**
   * "Synthesize and Reward" (arXiv 2606.03892): advantages divided by the standard deviation and a KL term of 0.01. It does not say how it
   * clips; verl, which it used, has 0.2 to both sides and 3 for negative advantages by default.
   */
  paper: { loss: { advantage: 'group', clipLow: 0.2, clipHigh: 0.2, dualClip: 3, klCoefficient: 0.01 } },
} as const satisfies Readonly<Record<string, Pick<TrainerSettings, 'loss'>>>
