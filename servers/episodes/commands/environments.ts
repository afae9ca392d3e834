import { once } from 'node:events'
import { type Command, InvalidArgumentError } from 'commander'
import { countOf } from '../../../common/errors/index.js'
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
import { countOption, originOption, portOption, stopSignal, WRONG_USAGE } from './options.js'

const seedOption = (text: string): number => {
  // `Number` alone would read an empty value, as an unset shell variable gives, as 0.
  if (!isSeed(text)) throw new InvalidArgumentError('an integer from 0 to 4294967295')
  return Number(text)
}

/** @throws EnvironmentFolderError */
async function environmentsOf(names: readonly string[]): Promise<Environment[]> {
  const unknown = names.find((name) => !namesEnvironment(name))
  if (unknown === undefined) return environmentsNamed(names)
  process.stderr.write(
    `prove-server: there is no server "${unknown}". Choose one of: ${environmentNames().join(', ')}; or give the folder of a world of your own, such as ./${unknown}.\n`,
  )
  return process.exit(WRONG_USAGE)
}

async function list(): Promise<void> {
  const environments = await loadEnvironments()
  let tools = 0
  for (const environment of environments.values()) {
    tools += environment.tools.length
    const counted = countOf(environment.tools.length, 'tool').padStart(9)
    process.stdout.write(`${environment.name.padEnd(16)} ${counted}  ${environment.description}\n`)
  }
  process.stderr.write(`${countOf(environments.size, 'server')}, ${countOf(tools, 'tool')}\n`)
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

async function serveEnvironments(names: string[], options: ServeOptions): Promise<void> {
  const offer = offerEnvironments(await environmentsOf(names))
  const seedStates = createSeedStateCache()
  const open = (environment: Environment, seed = options.seed) => seedStates.open(environment, seed)
  const offered = `${offer.environments.map(({ name }) => name).join(', ')}, seed ${options.seed}, ${countOf(offer.tools.length, 'tool')}`
  if (options.http === undefined) {
    process.stderr.write(`prove-server: ${offered}, MCP on stdio\n`)
    return serveStdio(offer, open, options.seed)
  }
  const stopped = stopSignal()
  const { http: port, host, allowHost: allowedHosts, allowOrigin: allowedOrigins } = options
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
    process.stderr.write(`prove-server: cannot listen on ${host}, port ${port}: ${error.message}\n`)
    process.exit(1)
  })
  process.stderr.write(`prove-server: ${offered}, MCP at ${served.url}\n`)
  await once(stopped, 'abort')
  await served.close()
}

export function addEnvironmentCommands(program: Command): void {
  withEnvironmentFolders(program.command('list')).description('list the worlds').action(list)

  program
    .command('describe')
    .description('tools, failures and dependency graph of a world, in Markdown')
    .argument('<server>', 'a name from the list, or the folder of a world of your own')
    .action(async (name: string) => {
      for (const environment of await environmentsOf([name]))
        process.stdout.write(`${describeEnvironment(environment)}\n`)
    })

  withEnvironmentFolders(program.command('serve', { isDefault: true }))
    .description('serve one or more worlds, on stdin and stdout unless --http is given; "serve" may be left out')
    .argument('[servers...]', 'names from the list, or folders of worlds of your own; without any, lists them')
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
    .option('--max-sessions <number>', 'HTTP sessions open at the same time', countOption)
    .option('--max-sessions-per-client <number>', 'of those, from one address', countOption)
    .action((names: string[], options: ServeOptions) =>
      names.length === 0 ? list() : serveEnvironments(names, options),
    )
}
