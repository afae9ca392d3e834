#!/usr/bin/env node
import { Command, InvalidArgumentError } from 'commander'
import { CATALOGUE } from './catalogue.js'
import { createWorldCache, serveStdio } from './kernel/index.js'

const seedOption = (text: string): number => {
  const seed = Number(text)
  // `Number` alone would read an empty value, as an unset shell variable gives, as 0.
  if (!/^\d+$/.test(text) || seed > 0xffffffff) throw new InvalidArgumentError('an integer from 0 to 4294967295')
  return seed
}

/** Commander ends the process with 1 after a wrong option; wrong usage is 2 here, whichever part of it was wrong. */
const WRONG_USAGE = 2

await new Command('prove-server')
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : WRONG_USAGE))
  .description('Serve one world over MCP on stdin and stdout. Each process is one isolated session.')
  .argument('[server]', `one of: ${[...CATALOGUE.keys()].join(', ')}; without it, lists them`)
  .option('--seed <number>', 'seed of the world', seedOption, 0)
  .action(async (name: string | undefined, { seed }: { seed: number }) => {
    if (name === undefined) {
      for (const server of CATALOGUE.values()) {
        process.stdout.write(
          `${server.name.padEnd(16)} ${String(server.tools.length).padStart(3)} tools  ${server.description}\n`,
        )
      }
      return
    }
    const server = CATALOGUE.get(name)
    if (!server) {
      process.stderr.write(
        `prove-server: there is no server "${name}". Choose one of: ${[...CATALOGUE.keys()].join(', ')}.\n`,
      )
      process.exitCode = WRONG_USAGE
      return
    }
    process.stderr.write(`prove-server: ${name}, seed ${seed}, ${server.tools.length} tools, MCP on stdio\n`)
    await serveStdio(createWorldCache(1).open(server, seed))
  })
  .parseAsync()
