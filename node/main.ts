#!/usr/bin/env node
import '../swarm/polyfill.js'
import { existsSync } from 'node:fs'
import { Command } from 'commander'
import { EngineError } from '../engine/index.js'
import { EpisodeError } from '../episode/index.js'
import { CalibrationError } from '../judging/index.js'
import { IdentityError, TransportError } from '../swarm/index.js'
import { addAdaptersCommands } from './commands/adapters.js'
import { dataFolder, demoModel } from './commands/arguments.js'
import { addIdentityCommands } from './commands/identity.js'
import { addJoinCommand } from './commands/join.js'
import { addVerdictsCommand } from './commands/verdicts.js'
import { addVerifyCommand } from './commands/verify.js'
import { NodeError } from './errors.js'

const program = new Command('prove-node').description('Take part in a PROVE training swarm')
program.enablePositionalOptions()
addJoinCommand(program)
addIdentityCommands(program)
addVerdictsCommand(program, dataFolder)
addVerifyCommand(program, dataFolder, demoModel)
addAdaptersCommands(program)

/** What the volunteer can put right; anything else is a fault of ours and keeps its stack trace. */
const EXPECTED = [NodeError, EngineError, EpisodeError, TransportError, IdentityError, CalibrationError]
const isFileError = (error: unknown): boolean =>
  error instanceof Error && 'syscall' in error && 'path' in error && typeof error.path === 'string'

try {
  await program.parseAsync()
} catch (error) {
  const missing =
    !existsSync(demoModel) && error instanceof NodeError && error.code === 'wrong_base'
      ? ' (give the base model with --model)'
      : ''
  if (!isFileError(error) && !EXPECTED.some((kind) => error instanceof kind)) throw error
  process.stderr.write(`prove-node: ${(error as Error).message}${missing}\n`)
  process.exitCode = 1
}
