import type { Command } from 'commander'
import { admitWorlds } from './catalogue.js'

/** `--worlds ./library`: admits worlds from outside the project before the command's action begins. */
export function withWorldFolders(command: Command): Command {
  return command
    .option(
      '--worlds <folder>',
      'a world of your own, as "prove-server new" begins one: its code is run; repeatable',
      (folder: string, earlier: readonly string[]) => [...earlier, folder],
      [],
    )
    .hook('preAction', async (_, acting) => {
      await admitWorlds(acting.opts<{ worlds: string[] }>().worlds)
    })
}
