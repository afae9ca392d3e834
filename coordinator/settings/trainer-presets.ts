import type { TrainerSettings } from './trainer-settings.js'

/** Named settings of the trainer. Fields of `trainer.settings` take precedence. */
export const TRAINER_PRESETS = {
  /**
   * "Synthesize and Reward" (arXiv 2606.03892): advantages divided by the standard deviation and a KL term of 0.01. The paper does not
   * state its clipping. verl, which it used, clips at 0.2 on both sides and at 3 for negative advantages by default.
   */
  paper: { loss: { advantage: 'group', clipLow: 0.2, clipHigh: 0.2, dualClip: 3, klCoefficient: 0.01 } },
} as const satisfies Readonly<Record<string, Pick<TrainerSettings, 'loss'>>>
