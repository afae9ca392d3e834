import { type Command, InvalidArgumentError, Option } from 'commander'
import { integerOption, withOptionalConfig } from '../common/cli/index.js'
import { LIMITS } from '../proto/index.js'
import { CACHE_TYPES } from '../rollout/engine/index.js'
import { DEFAULT_LIMITS, DEFAULT_RULES, TOOL_CALL_FORMATS } from '../rollout/episode/index.js'
import { REWARD_PRESETS } from '../rollout/reward/index.js'

/** Parses a command-line number within bounds. */
export function numberOption(low: number, high: number): (text: string) => number {
  return (text) => {
    const value = text.trim() === '' ? Number.NaN : Number(text)
    if (!(value >= low && value <= high)) throw new InvalidArgumentError(`Give a number from ${low} to ${high}.`)
    return value
  }
}

/** Parses a share: a number from 0 to 1. */
export const shareOption = numberOption(0, 1)

/** Adds `--config`, `--turn-tokens` and `--rollout-tokens`, see `limitsOf`. @param use  what the command takes from the configuration */
export const withLimitOptions = (command: Command, use = 'gives the limits of rollouts'): Command =>
  withOptionalConfig(command, use)
    .option(
      '--turn-tokens <number>',
      `most tokens of one assistant turn; default: the run's, or ${DEFAULT_LIMITS.maxTurnTokens}`,
      integerOption(1, LIMITS.turnTokens.value),
    )
    .option(
      '--rollout-tokens <number>',
      `most tokens of a rollout; default: the run's, or ${DEFAULT_LIMITS.maxRolloutTokens}`,
      integerOption(1, LIMITS.rolloutTokens.value),
    )

/** Creates `--tool-call-format`. @param otherwise  description of the default, if it is not the usual format */
export function toolCallFormatOption(otherwise?: string): Option {
  const meaning = 'how the model writes tool calls'
  const option = new Option(
    '--tool-call-format <name>',
    otherwise === undefined ? meaning : `${meaning}; default: ${otherwise}`,
  )
  option.choices([...TOOL_CALL_FORMATS.keys()])
  return otherwise === undefined ? option.default(DEFAULT_RULES.toolCallFormat) : option
}

/** Creates `--cache-type`; see `cacheTypeFor` for its default. */
export const cacheTypeOption = (): Option =>
  new Option('--cache-type <name>', "type of the engine's key-value cache; default: the run's, or f16").choices(
    CACHE_TYPES,
  )

/** Creates `--reward`. */
export function rewardOption(): Option {
  const option = new Option('--reward <name>', 'reward preset, of the rollouts')
  return option.choices([...REWARD_PRESETS.keys()]).default(DEFAULT_RULES.reward)
}
