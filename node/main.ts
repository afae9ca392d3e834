import '../swarm/polyfill.js'
import { existsSync } from 'node:fs'
import { runProgram } from '../cli/index.js'
import { demoModel } from './commands/defaults.js'
import { NodeError } from './errors.js'

await runProgram({
  name: 'prove-node',
  description: 'Take part in a PROVE training swarm',
  commands: {
    join: async () => (await import('./commands/join.js')).addJoinCommand,
    status: async () => (await import('./commands/steer.js')).addStatusCommand,
    pause: async () => (await import('./commands/steer.js')).addPauseCommand,
    resume: async () => (await import('./commands/steer.js')).addResumeCommand,
    finish: async () => (await import('./commands/steer.js')).addFinishCommand,
    limits: async () => (await import('./commands/limits.js')).addLimitsCommand,
    identity: async () => (await import('./commands/identity.js')).addIdentityCommands,
    verdicts: async () => (await import('./commands/verdicts.js')).addVerdictsCommand,
    verify: async () => (await import('./commands/verify.js')).addVerifyCommand,
    adapters: async () => (await import('./commands/adapters.js')).addAdaptersCommands,
  },
  advice: (error) =>
    !existsSync(demoModel) && error instanceof NodeError && error.code === 'wrong_base'
      ? ' (give the base model with --model)'
      : '',
})
