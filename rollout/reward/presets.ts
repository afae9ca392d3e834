import { CodedError } from '../../common/errors/index.js'
import { ORCHESTRATION } from './orchestration.js'
import { OUTCOME } from './outcome.js'
import { PAPER } from './paper.js'
import type { RewardPreset } from './preset.js'
import { SOLVED } from './solved-preset.js'

/** All reward presets of this version, by name. */
export const REWARD_PRESETS: ReadonlyMap<string, RewardPreset> = new Map(
  [PAPER, OUTCOME, SOLVED, ORCHESTRATION].map((preset) => [preset.name, preset]),
)

/** Error of an unknown reward preset. */
export class PresetError extends CodedError<'unknown_reward'> {}

/** Returns the reward preset with this name. @throws PresetError `unknown_reward`, which lists the known ones */
export function rewardPreset(name: string): RewardPreset {
  const preset = REWARD_PRESETS.get(name)
  if (!preset)
    throw new PresetError(
      'unknown_reward',
      `there is no reward ${name}: choose one of ${[...REWARD_PRESETS.keys()].join(', ')}`,
    )
  return preset
}
