import type { RewardPreset } from '../../../rollout/reward/index.js'
import type { Split } from '../../../tasks/dataset/index.js'
import type { Episodes } from '../episodes.js'
import type { RewardSignal } from '../reward-signal.js'
import type { Tasks } from '../tasks.js'

/** What every dialect speaks of: the same tasks, the same open episodes. */
export interface EpisodeService {
  readonly tasks: Tasks
  readonly episodes: Episodes
  /** Of episodes whose client names none. */
  readonly defaults: { readonly reward: RewardPreset; readonly signal: RewardSignal; readonly split: Split }
}
