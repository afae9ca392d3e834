import { resolve } from 'node:path'
import type { Command } from 'commander'
import { EXIT } from '../../../common/cli/index.js'
import { writeTemplate } from '../../authoring/new-environment.js'
import { loadEnvironments } from '../../catalogue.js'
import { shownFolder } from './options.js'

/** Adds `new`, which creates an environment. */
export function addNewCommand(program: Command): void {
  program
    .command('new')
    .description('Create an environment of your own: a folder with a small working example')
    .argument('<name>', 'name of the environment: lower case, words joined by _')
    .option('--in <folder>', 'folder to create it in', '.')
    .action(async (name: string, { in: parent }: { in: string }) => {
      const files = await writeTemplate(name, resolve(parent), (await loadEnvironments()).keys())
      process.stdout.write(
        `${[...files, '', 'Change the files, check them, and serve the environment:', '', `  prove-server check ${shownFolder(parent, name)}`, `  prove-server ${shownFolder(parent, name)} --port 8080`].join('\n')}\n`,
      )
    })
}

/** Adds `check`, which tests an environment. */
export function addCheckCommand(program: Command): void {
  program
    .command('check')
    .description('Check with thousands of random calls that an environment of your own does what it declares')
    .argument('<folder>', 'folder of the environment, with an index.js')
    .action(async (folder: string) => {
      // Loaded here because no other command needs the generator of random calls.
      const { checkEnvironment } = await import('../../authoring/check-environment.js')
      const broken = await checkEnvironment(resolve(folder), (line) => void process.stdout.write(`${line}\n`))
      if (broken > 0) process.exitCode = EXIT.failed
    })
}
