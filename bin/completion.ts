import { Argument, type Command } from 'commander'
import { completionScript, SHELLS, type Shell, withCommands } from '../common/cli/index.js'
import { PROGRAMS } from './programs.js'

/** Adds `prove-swarm completion`: the completion of all programs for a shell. */
export function addCompletionCommand(program: Command): void {
  program
    .command('completion')
    .description('Print the completion of all programs for a shell')
    .addArgument(new Argument('<shell>', 'shell that loads the output').choices(SHELLS))
    .action(async (shell: Shell) => {
      const trees = await Promise.all(PROGRAMS.map(async (one) => withCommands(await one.load())))
      process.stdout.write(completionScript(shell, trees, program.name()))
    })
}
