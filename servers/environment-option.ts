import type { Command } from 'commander'
import { admitEnvironments } from './catalogue.js'

/** Adds `--environments ./library`, which admits environments from outside this package before the action of the command begins. */
export function withEnvironmentFolders(command: Command): Command {
  return command
    .option(
      '--environments <folder>',
      'folder of your own environment, as "prove-server new" makes one; runs its code; repeatable',
      (folder: string, earlier: readonly string[]) => [...earlier, folder],
      [],
    )
    .hook('preAction', async (_, acting) => {
      await admitEnvironments(acting.opts<{ environments: string[] }>().environments)
    })
}
