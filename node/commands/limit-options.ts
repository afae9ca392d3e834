import { type Command, InvalidArgumentError } from 'commander'
import { parseLimits } from '../limits/limits-file.js'
import { LIMIT_FIELDS, type LimitField, type LimitName, type LimitSettings, optionOf } from '../limits/settings.js'
import { NodeError } from '../report/errors.js'

/** Adds an option for every limit, and `--cpu` for `--gpu none`. */
export function addLimitOptions(command: Command): Command {
  command.optionsGroup('Limits:')
  for (const field of LIMIT_FIELDS) {
    const { name, placeholder, meaning } = field
    if (placeholder === null) command.option(`--${optionOf(name)}`, meaning)
    else command.option(`--${optionOf(name)} ${placeholder}`, meaning, (text: string) => limitFrom(field, text))
  }
  return command.option('--cpu', 'do not use a GPU, as --gpu none', false)
}

/** Returns the limits among the options of a command. */
export function givenLimits({ cpu, ...options }: LimitSettings & { readonly cpu: boolean }): LimitSettings {
  const given = LIMIT_FIELDS.flatMap(({ name }) => (options[name] === undefined ? [] : [[name, options[name]]]))
  return { ...(Object.fromEntries(given) as LimitSettings), ...(cpu ? { gpu: 'none' as const } : {}) }
}

function limitFrom({ name, expects, read }: LimitField, text: string): LimitSettings[LimitName] {
  try {
    return parseLimits({ [name]: read(text) }, name)[name]
  } catch (error) {
    if (error instanceof NodeError) throw new InvalidArgumentError(`Give ${expects}.`)
    throw error
  }
}
