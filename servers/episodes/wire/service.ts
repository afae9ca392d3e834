import type { RewardPreset } from '../../../rollout/reward/index.js'
import type { Split } from '../../../tasks/dataset/index.js'
import type { Episodes } from '../episodes.js'
import type { RewardSignal } from '../reward-signal.js'
import type { Tasks } from '../tasks.js'

/** Tasks and open episodes that all protocols share. */
export interface EpisodeService {
  readonly tasks: Tasks
  readonly episodes: Episodes
  /** Values for requests that name none. */
  readonly defaults: { readonly reward: RewardPreset; readonly signal: RewardSignal; readonly split: Split }
}
