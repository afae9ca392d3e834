import { createProgram, parseOrExplain } from '../cli/index.js'
import { addEnvCommand } from './commands/env.js'
import { WRONG_USAGE } from './commands/options.js'
import { addScoreCommand } from './commands/score.js'
import { addWorldCommands } from './commands/worlds.js'

const program = createProgram(
  'prove-server',
  'Serve worlds over MCP, and tasks as episodes that any trainer can play and get scored.',
)
// Before the commands are added: they inherit it.
program.exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : WRONG_USAGE))
addWorldCommands(program)
addEnvCommand(program)
addScoreCommand(program)
await parseOrExplain(program)
