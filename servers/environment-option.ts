import { type Command, InvalidArgumentError, Option } from 'commander'
import { environmentNames, environmentsNamed, namesEnvironment } from './catalogue.js'

/**
 * Creates the option `--environments banking,./library`: names of environments and folders of own environments, comma-separated or repeated.
 * @param defaults  value without the option
 * @param shown  description of `defaults` for the help
 */
export function environmentsOption(defaults: readonly string[], shown: string): Option {
  const parse = (text: string, earlier: readonly string[]): string[] => {
    const named = text.split(',')
    for (const name of named)
      if (!namesEnvironment(name))
        throw new InvalidArgumentError(
          `No environment "${name}". Choose from ${environmentNames().join(', ')}, or give the folder of your own environment, such as ./${name}.`,
        )
    return [...(earlier === defaults ? [] : earlier), ...named]
  }
  return new Option(
    '--environments <names>',
    'environments by name, or folders of your own such as ./library, whose code is run; comma-separated or repeated',
  )
    .argParser(parse)
    .default(defaults, shown)
}

/** Adds `--environments`, and loads the folders that it names before the command's action begins. */
export function withEnvironmentFolders(command: Command): Command {
  return command
    .addOption(environmentsOption([], 'the environments of the project'))
    .hook('preAction', async (_, acting) => {
      await environmentsNamed(acting.opts<{ environments: string[] }>().environments)
    })
}
