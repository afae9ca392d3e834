import type { Command } from 'commander'
import { admitEnvironments } from './catalogue.js'

/** `--environments ./library`: admits worlds from outside the project before the command's action begins. */
export function withEnvironmentFolders(command: Command): Command {
  return command
    .option(
      '--environments <folder>',
      'a world of your own, as "prove-server new" begins one: its code is run; repeatable',
      (folder: string, earlier: readonly string[]) => [...earlier, folder],
      [],
    )
    .hook('preAction', async (_, acting) => {
      await admitEnvironments(acting.opts<{ environments: string[] }>().environments)
    })
}
