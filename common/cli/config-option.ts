import { existsSync } from 'node:fs'
import { type Command, Option } from 'commander'

/** Run configuration that commands read from the working directory, unless `--config` names another file. */
export const RUN_FILE = 'run.yaml'

const MEANING = 'run configuration'

/** Creates `--config` for commands that need a run. */
export const configOption = (): Option => new Option('--config <file>', MEANING).default(RUN_FILE)

/** Adds `--config` to a command that also works without a run. @param use  what the command takes from the configuration */
export function withOptionalConfig(command: Command, use: string): Command {
  const found = existsSync(RUN_FILE) ? RUN_FILE : undefined
  const option = new Option(
    '--config <file>',
    `${MEANING}; ${use}; default: ${RUN_FILE} in this folder, if there is one`,
  )
  return command.addOption(option.default(found)).hook('preAction', (_, acting) => {
    if (found !== undefined && acting.getOptionValueSource('config') === 'default')
      process.stderr.write(`${RUN_FILE} of this folder is used; name another file with --config\n`)
  })
}
