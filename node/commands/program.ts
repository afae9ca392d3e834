import type { Program } from '../../common/cli/index.js'
import { NodeError } from '../report/errors.js'
import { HELP } from './help.js'

/** The program with its commands, in the order of its help. */
export const PROGRAM: Program = {
  name: 'prove-node',
  description: 'Take part in a PROVE training swarm',
  help: HELP,
  prepare({ dataDir }) {
    if (dataDir === '')
      throw new NodeError(
        'bad_folder',
        'this user has no home folder for the data of the node: set HOME, or give --data-dir',
      )
  },
  commands: {
    setup: async () => (await import('./setup.js')).addSetupCommand,
    join: async () => (await import('./join.js')).addJoinCommand,
    status: async () => (await import('./control.js')).addStatusCommand,
    pause: async () => (await import('./control.js')).addPauseCommand,
    resume: async () => (await import('./control.js')).addResumeCommand,
    finish: async () => (await import('./control.js')).addFinishCommand,
    doctor: async () => (await import('./doctor.js')).addDoctorCommand,
    bench: async () => (await import('./bench.js')).addBenchCommand,
    service: async () => (await import('./service.js')).addServiceCommands,
    limits: async () => (await import('./limits.js')).addLimitsCommand,
    leaderboard: async () => (await import('./leaderboard.js')).addLeaderboardCommand,
    verdicts: async () => (await import('./verdicts.js')).addVerdictsCommand,
    'verify-group': async () => (await import('./verify.js')).addVerifyCommand,
    identity: async () => (await import('./identity.js')).addIdentityCommands,
    cache: async () => (await import('./cache.js')).addCacheCommands,
    serve: async () => (await import('./serve.js')).addServeCommand,
    chat: async () => (await import('./chat.js')).addChatCommand,
    adapters: async () => (await import('./adapters.js')).addAdaptersCommands,
  },
}
