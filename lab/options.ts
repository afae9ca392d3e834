import { type Command, InvalidArgumentError, Option } from 'commander'
import { integerOption } from '../common/cli/index.js'
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

/** `--config`, `--turn-tokens` and `--rollout-tokens`: how long rollouts may be, see `limitsOf`. @param config  what else a run's configuration is read for */
export const withLimitOptions = (command: Command, config = 'a run.yaml, for the limits of its rollouts'): Command =>
  command
    .option('--config <file>', config)
    .option(
      '--turn-tokens <number>',
      `tokens of one answer; default: the run's, or ${DEFAULT_LIMITS.maxTurnTokens}`,
      integerOption(1, LIMITS.turnTokens.value),
    )
    .option(
      '--rollout-tokens <number>',
      `tokens of a rollout in all; default: the run's, or ${DEFAULT_LIMITS.maxRolloutTokens}`,
      integerOption(1, LIMITS.rolloutTokens.value),
    )

/** `--tool-call-format hermes`: by its name. @param otherwise  in words, what holds when it is not given, if not the usual one */
export function toolCallFormatOption(otherwise?: string): Option {
  const meaning = 'how the model writes tool calls'
  const option = new Option(
    '--tool-call-format <name>',
    otherwise === undefined ? meaning : `${meaning}; default: ${otherwise}`,
  )
  option.choices([...TOOL_CALL_FORMATS.keys()])
  return otherwise === undefined ? option.default(DEFAULT_RULES.toolCallFormat) : option
}

/** `--cache-type q8_0`: by its name; `cacheTypeFor` knows what holds without it. */
export const cacheTypeOption = (): Option =>
  new Option('--cache-type <name>', "of the engine's lanes; default: the run's, or f16").choices(CACHE_TYPES)

/** `--reward paper`: a preset by its name. */
export function rewardOption(): Option {
  const option = new Option('--reward <name>', 'what rollouts earn')
  return option.choices([...REWARD_PRESETS.keys()]).default(DEFAULT_RULES.reward)
}
