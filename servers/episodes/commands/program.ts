import type { Program } from '../../../common/cli/index.js'
import { HELP } from './help.js'

/** The program with its commands, in the order of its help. */
export const PROGRAM: Program = {
  name: 'prove-server',
  description: 'Serve environments over MCP, and tasks as episodes for any trainer, with rewards',
  help: HELP,
  fallback: 'mcp',
  commands: {
    list: async () => (await import('./environments.js')).addListCommand,
    describe: async () => (await import('./environments.js')).addDescribeCommand,
    mcp: async () => (await import('./environments.js')).addMcpCommand,
    env: async () => (await import('./env.js')).addEnvCommand,
    score: async () => (await import('./score.js')).addScoreCommand,
    play: async () => (await import('./play.js')).addPlayCommand,
    new: async () => (await import('./author.js')).addNewCommand,
    check: async () => (await import('./author.js')).addCheckCommand,
    import: async () => (await import('./import.js')).addImportCommands,
  },
}
