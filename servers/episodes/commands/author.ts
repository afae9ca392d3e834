import { resolve } from 'node:path'
import type { Command } from 'commander'
import { writeTemplate } from '../../authoring/new-environment.js'
import { shownFolder } from './options.js'

/** What whoever makes a world needs: one to begin with, and somebody who says what is wrong with it. */
export function addAuthorCommands(program: Command): void {
  program
    .command('new')
    .description('begin a world of your own: a folder with a small one that works')
    .argument('<name>', 'what it is called: lower case, words joined by _')
    .option('--in <folder>', 'where its folder goes', '.')
    .action(async (name: string, { in: parent }: { in: string }) => {
      const files = await writeTemplate(name, resolve(parent))
      process.stdout.write(
        `${[...files, '', 'Look at it, change it, and ask what is wrong with it:', '', `  prove-server check ${shownFolder(parent, name)}`, `  prove-server ${shownFolder(parent, name)} --http 8080`].join('\n')}\n`,
      )
    })

  program
    .command('check')
    .description('try whether a world of your own keeps what it declares: thousands of calls, in seconds')
    .argument('<folder>', 'the world: a folder with an index.js')
    .action(async (folder: string) => {
      // Loaded only here: the generator of its random calls is for nothing else.
      const { checkEnvironment } = await import('../../authoring/check-environment.js')
      const broken = await checkEnvironment(resolve(folder), (line) => void process.stdout.write(`${line}\n`))
      if (broken > 0) process.exitCode = 1
    })
}
