import type { Command } from 'commander'
import { createProgram } from '../../../common/cli/index.js'
import { addAuthorCommands } from './author.js'
import { addEnvCommand } from './env.js'
import { addEnvironmentCommands } from './environments.js'
import { addImportCommands } from './import.js'
import { addPlayCommand } from './play.js'
import { addScoreCommand } from './score.js'

/** Creates the program `prove-server`. Help lists the commands in the order of this function. */
export function serverProgram(): Command {
  const program = createProgram(
    'prove-server',
    'Serve environments over MCP, and tasks as episodes for any trainer, with rewards.',
  )
  // Options after "import mcp <program>" belong to that program.
  program.enablePositionalOptions()
  addEnvironmentCommands(program)
  addEnvCommand(program)
  addScoreCommand(program)
  addPlayCommand(program)
  addAuthorCommands(program)
  addImportCommands(program)
  return program
}
