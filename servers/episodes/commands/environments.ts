import { once } from 'node:events'
import { type Command, InvalidArgumentError } from 'commander'
import { countOf, UsageError } from '../../../common/errors/index.js'
import { environmentNames, environmentsNamed, loadEnvironments, namesEnvironment } from '../../catalogue.js'
import { describeEnvironment } from '../../describe.js'
import { withEnvironmentFolders } from '../../environment-option.js'
import {
  createSeedStateCache,
  type Environment,
  isSeed,
  offerEnvironments,
  serveHttp,
  serveStdio,
} from '../../kernel/index.js'
import { countOption, interruption, ListenError, originOption, portOption } from './options.js'

const seedOption = (text: string): number => {
  // `Number` alone would parse the empty text of an unset shell variable as 0.
  if (!isSeed(text)) throw new InvalidArgumentError('Give an integer from 0 to 4294967295.')
  return Number(text)
}

/** Returns the named environments. @throws UsageError for an unknown name; EnvironmentFolderError */
async function environmentsOf(names: readonly string[]): Promise<Environment[]> {
  const unknown = names.find((name) => !namesEnvironment(name))
  if (unknown === undefined) return environmentsNamed(names)
  throw new UsageError(
    'usage',
    `no environment "${unknown}": choose from ${environmentNames().join(', ')}, or give the folder of your own environment, such as ./${unknown}`,
  )
}

async function list(): Promise<void> {
  const environments = await loadEnvironments()
  let tools = 0
  for (const environment of environments.values()) {
    tools += environment.tools.length
    const counted = countOf(environment.tools.length, 'tool').padStart(9)
    process.stdout.write(`${environment.name.padEnd(16)} ${counted}  ${environment.description}\n`)
  }
  process.stderr.write(`${countOf(environments.size, 'environment')}, ${countOf(tools, 'tool')}\n`)
}

interface ServeOptions {
  seed: number
  port?: number
  host: string
  allowHost: string[]
  allowOrigin: string[]
  maxSessions?: number
  maxSessionsPerClient?: number
}

async function serveEnvironments(names: string[], options: ServeOptions): Promise<void> {
  const offer = offerEnvironments(await environmentsOf(names))
  const seedStates = createSeedStateCache()
  const open = (environment: Environment, seed = options.seed) => seedStates.open(environment, seed)
  const offered = `${offer.environments.map(({ name }) => name).join(', ')}, seed ${options.seed}, ${countOf(offer.tools.length, 'tool')}`
  if (options.port === undefined) {
    process.stderr.write(`prove-server: ${offered}, MCP on stdio\n`)
    return serveStdio(offer, open, options.seed)
  }
  const stopped = interruption()
  const { port, host, allowHost: allowedHosts, allowOrigin: allowedOrigins } = options
  const { maxSessions, maxSessionsPerClient } = options
  const served = await serveHttp(offer, open, {
    port,
    host,
    allowedHosts,
    allowedOrigins,
    defaultSeed: options.seed,
    ...(maxSessionsPerClient === undefined ? {} : { maxSessionsPerClient }),
    ...(maxSessions === undefined ? {} : { maxSessions }),
  }).catch((error: Error) => {
    throw new ListenError(host, port, error)
  })
  process.stderr.write(`prove-server: ${offered}, MCP at ${served.url}\n`)
  await once(stopped, 'abort')
  await served.close()
}

export function addListCommand(program: Command): void {
  withEnvironmentFolders(program.command('list')).description('List the environments').action(list)
}

export function addDescribeCommand(program: Command): void {
  program
    .command('describe')
    .description('Describe an environment in Markdown: tools, failures and dependency graph')
    .argument('<environment>', 'name from the list, or folder of your own environment')
    .action(async (name: string) => {
      for (const environment of await environmentsOf([name]))
        process.stdout.write(`${describeEnvironment(environment)}\n`)
    })
}

export function addMcpCommand(program: Command): void {
  withEnvironmentFolders(program.command('mcp', { isDefault: true }))
    .description(
      'Serve environments over MCP, on stdin and stdout or with --port over HTTP; the word "mcp" is optional',
    )
    .argument('[environments...]', 'names from the list, or folders of your own environments; none: list them')
    .option(
      '--seed <number>',
      'seed of random choices, of the environments; an HTTP client can choose its own with ?seed=N',
      seedOption,
      0,
    )
    .option('--port <number>', 'port to listen on, for streamable HTTP at /mcp; 0: any free port', portOption)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--allow-host <names...>', 'additional host names that clients may use', [])
    .option(
      '--allow-origin <origin>',
      'web origin whose pages may send requests; repeatable, such as http://localhost:5173',
      originOption,
      [],
    )
    .option('--max-sessions <number>', 'most open HTTP sessions', countOption)
    .option('--max-sessions-per-client <number>', 'most open HTTP sessions of one address', countOption)
    .action((names: string[], options: ServeOptions) =>
      names.length === 0 ? list() : serveEnvironments(names, options),
    )
}
