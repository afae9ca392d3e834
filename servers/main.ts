import { InvalidArgumentError } from 'commander'
import { createProgram, parseOrExplain } from '../cli/index.js'
import { CATALOGUE } from './catalogue.js'
import { describeServer } from './describe.js'
import {
  createWorldCache,
  isOrigin,
  isSeed,
  offerWorlds,
  type ServerDefinition,
  serveHttp,
  serveStdio,
} from './kernel/index.js'

const seedOption = (text: string): number => {
  // `Number` alone would read an empty value, as an unset shell variable gives, as 0.
  if (!isSeed(text)) throw new InvalidArgumentError('an integer from 0 to 4294967295')
  return Number(text)
}

const portOption = (text: string): number => {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) throw new InvalidArgumentError('a port from 0 to 65535')
  return Number(text)
}

const sessionsOption = (text: string): number => {
  if (!/^\d{1,6}$/.test(text) || Number(text) < 1) throw new InvalidArgumentError('an integer from 1 to 999999')
  return Number(text)
}

const originOption = (text: string, earlier: string[]): string[] => {
  if (!isOrigin(text)) throw new InvalidArgumentError('an origin such as http://localhost:5173')
  return [...earlier, text]
}

/** Commander ends the process with 1 after a wrong option; wrong usage is 2 here, whichever part of it was wrong. */
const WRONG_USAGE = 2

function worldNamed(name: string): ServerDefinition {
  const server = CATALOGUE.get(name)
  if (server) return server
  process.stderr.write(
    `prove-server: there is no server "${name}". Choose one of: ${[...CATALOGUE.keys()].join(', ')}.\n`,
  )
  return process.exit(WRONG_USAGE)
}

function list(): void {
  let tools = 0
  for (const server of CATALOGUE.values()) {
    tools += server.tools.length
    const counted = `${String(server.tools.length).padStart(3)} tools`
    process.stdout.write(`${server.name.padEnd(16)} ${counted}  ${server.description}\n`)
  }
  process.stderr.write(`${CATALOGUE.size} servers, ${tools} tools\n`)
}

interface ServeOptions {
  seed: number
  http?: number
  host: string
  allowHost: string[]
  allowOrigin: string[]
  maxSessions?: number
  maxSessionsPerClient?: number
}

async function serveWorlds(names: string[], options: ServeOptions): Promise<void> {
  const offer = offerWorlds([...new Set(names)].map(worldNamed))
  const worlds = createWorldCache()
  const open = (server: ServerDefinition, seed = options.seed) => worlds.open(server, seed)
  const offered = `${offer.servers.map(({ name }) => name).join(', ')}, seed ${options.seed}, ${offer.tools.length} tools`
  if (options.http === undefined) {
    process.stderr.write(`prove-server: ${offered}, MCP on stdio\n`)
    return serveStdio(offer, open)
  }
  const { http: port, host, allowHost: allowedHosts, allowOrigin: allowedOrigins } = options
  const { maxSessions, maxSessionsPerClient } = options
  const served = await serveHttp(offer, open, {
    port,
    host,
    allowedHosts,
    allowedOrigins,
    ...(maxSessionsPerClient === undefined ? {} : { maxSessionsPerClient }),
    ...(maxSessions === undefined ? {} : { maxSessions }),
  }).catch((error: Error) => {
    process.stderr.write(`prove-server: cannot listen on ${host}, port ${port}: ${error.message}\n`)
    process.exit(1)
  })
  process.stderr.write(`prove-server: ${offered}, MCP at ${served.url}\n`)
  const stopped = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve())
  })
  await stopped
  await served.close()
}

const program = createProgram('prove-server', 'Serve worlds over MCP. Every client gets a session of its own.')
program.exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : WRONG_USAGE))

program.command('list').description('list the worlds').action(list)

program
  .command('describe')
  .description('tools, failures and dependency graph of a world, in Markdown')
  .argument('<server>', 'a name from the list')
  .action((name: string) => void process.stdout.write(`${describeServer(worldNamed(name))}\n`))

program
  .command('serve', { isDefault: true })
  .description('serve one or more worlds, on stdin and stdout unless --http is given; "serve" may be left out')
  .argument('[servers...]', 'names from the list; without any, lists them')
  .option('--seed <number>', 'seed of the worlds; HTTP clients may ask for another with ?seed=N', seedOption, 0)
  .option('--http <port>', 'serve streamable HTTP at /mcp on this port; 0 takes a free one', portOption)
  .option('--host <address>', 'address to listen on', '127.0.0.1')
  .option('--allow-host <names...>', 'further host names that HTTP clients may use', [])
  .option(
    '--allow-origin <origin>',
    'origin whose pages may call, such as http://localhost:5173; repeatable',
    originOption,
    [],
  )
  .option('--max-sessions <number>', 'HTTP sessions open at the same time', sessionsOption)
  .option('--max-sessions-per-client <number>', 'of those, from one address', sessionsOption)
  .action((names: string[], options: ServeOptions) => (names.length === 0 ? list() : serveWorlds(names, options)))

await parseOrExplain(program)
