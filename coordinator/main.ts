#!/usr/bin/env node
import '../swarm/polyfill.js'
import { Command } from 'commander'
import { ConfigError } from './config.js'
import { addEvalCommand } from './eval-command.js'
import { addStartCommand } from './start-command.js'
import { addSynthesizeCommand } from './synthesize-command.js'

const program = new Command('prove-coordinator').description('Run a PROVE training swarm')
addSynthesizeCommand(program)
addStartCommand(program)
addEvalCommand(program)
try {
  await program.parseAsync()
} catch (error) {
  if (!(error instanceof ConfigError)) throw error
  process.stderr.write(`prove-coordinator: ${error.message}\n`)
  process.exitCode = 2
}
