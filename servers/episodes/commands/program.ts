import type { Command } from 'commander'
import { createProgram } from '../../../common/cli/index.js'
import { addAuthorCommands } from './author.js'
import { addEnvCommand } from './env.js'
import { addEnvironmentCommands } from './environments.js'
import { addImportCommands } from './import.js'
import { WRONG_USAGE } from './options.js'
import { addPlayCommand } from './play.js'
import { addScoreCommand } from './score.js'

/** `prove-server` with its commands, in the order in which help names them. */
export function serverProgram(): Command {
  const program = createProgram(
    'prove-server',
    'Serve worlds over MCP, and tasks as episodes that any trainer can play and get scored.',
  )
  // Before the commands are added: they inherit it.
  program.exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : WRONG_USAGE))
  // What stands behind "import mcp <program>" belongs to that program.
  program.enablePositionalOptions()
  addEnvironmentCommands(program)
  addEnvCommand(program)
  addScoreCommand(program)
  addPlayCommand(program)
  addAuthorCommands(program)
  addImportCommands(program)
  return program
}
