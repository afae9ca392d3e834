import { InvalidArgumentError, Option } from 'commander'
import { DEFAULT_RULES, DIALECTS } from '../episode/index.js'
import { REWARD_PRESETS } from '../reward/index.js'
import { CATALOGUE } from '../servers/catalogue.js'
import type { ServerDefinition } from '../servers/kernel/index.js'

/** Parses a command-line integer within bounds. */
export function integerOption(low: number, high: number): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (!Number.isInteger(value) || value < low || value > high)
      throw new InvalidArgumentError(`Give an integer from ${low} to ${high}.`)
    return value
  }
}

/** Parses a share: a number from 0 to 1. */
export function shareOption(text: string): number {
  const value = Number(text)
  if (!(value >= 0 && value <= 1)) throw new InvalidArgumentError('Give a number from 0 to 1.')
  return value
}

/** `--dialect hermes`: by its name. */
export function dialectOption(): Option {
  const option = new Option('--dialect <name>', 'how the model writes tool calls')
  return option.choices([...DIALECTS.keys()]).default(DEFAULT_RULES.dialect)
}

/** `--reward paper`: a preset by its name. */
export function rewardOption(): Option {
  const option = new Option('--reward <name>', 'what rollouts earn')
  return option.choices([...REWARD_PRESETS.keys()]).default(DEFAULT_RULES.reward)
}

/** `--worlds banking,email`: the worlds by name, all of the catalogue without it. */
export function worldsOption(): Option {
  const parse = (text: string): ServerDefinition[] =>
    text.split(',').map((name) => {
      const server = CATALOGUE.get(name)
      if (!server) {
        throw new InvalidArgumentError(`There is no world "${name}". Choose from ${[...CATALOGUE.keys()].join(', ')}.`)
      }
      return server
    })
  return new Option('--worlds <names>', 'comma-separated').argParser(parse).default([...CATALOGUE.values()], 'all')
}
