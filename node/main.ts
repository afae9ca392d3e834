import '../swarm/polyfill.js'
import { runProgram } from '../cli/index.js'

await runProgram({
  name: 'prove-node',
  description: 'Take part in a PROVE training swarm',
  commands: {
    join: async () => (await import('./commands/join.js')).addJoinCommand,
    status: async () => (await import('./commands/steer.js')).addStatusCommand,
    pause: async () => (await import('./commands/steer.js')).addPauseCommand,
    resume: async () => (await import('./commands/steer.js')).addResumeCommand,
    finish: async () => (await import('./commands/steer.js')).addFinishCommand,
    doctor: async () => (await import('./commands/doctor.js')).addDoctorCommand,
    bench: async () => (await import('./commands/bench.js')).addBenchCommand,
    service: async () => (await import('./commands/service.js')).addServiceCommands,
    limits: async () => (await import('./commands/limits.js')).addLimitsCommand,
    identity: async () => (await import('./commands/identity.js')).addIdentityCommands,
    board: async () => (await import('./commands/board.js')).addBoardCommand,
    verdicts: async () => (await import('./commands/verdicts.js')).addVerdictsCommand,
    verify: async () => (await import('./commands/verify.js')).addVerifyCommand,
    cache: async () => (await import('./commands/cache.js')).addCacheCommands,
    serve: async () => (await import('./commands/serve.js')).addServeCommand,
    chat: async () => (await import('./commands/chat.js')).addChatCommand,
    adapters: async () => (await import('./commands/adapters.js')).addAdaptersCommands,
  },
})
