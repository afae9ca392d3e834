import '../swarm/polyfill.js'
import { existsSync } from 'node:fs'
import { createProgram, runProgram } from '../cli/index.js'
import { addAdaptersCommands } from './commands/adapters.js'
import { dataFolder, demoModel } from './commands/arguments.js'
import { addIdentityCommands } from './commands/identity.js'
import { addJoinCommand } from './commands/join.js'
import { addVerdictsCommand } from './commands/verdicts.js'
import { addVerifyCommand } from './commands/verify.js'
import { NodeError } from './errors.js'

const program = createProgram('prove-node', 'Take part in a PROVE training swarm').enablePositionalOptions()
addJoinCommand(program)
addIdentityCommands(program)
addVerdictsCommand(program, dataFolder)
addVerifyCommand(program, dataFolder, demoModel)
addAdaptersCommands(program)

await runProgram(program, {
  advice: (error) =>
    !existsSync(demoModel) && error instanceof NodeError && error.code === 'wrong_base'
      ? ' (give the base model with --model)'
      : '',
})
