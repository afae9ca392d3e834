import '../swarm/polyfill.js'
import { runProgram } from '../cli/index.js'
import { ConfigError } from './settings/config.js'
import { TrainerError } from './spool/errors.js'

await runProgram({
  name: 'prove-coordinator',
  description: 'Run a PROVE training swarm',
  commands: {
    setup: async () => (await import('./commands/setup.js')).addSetupCommand,
    start: async () => (await import('./commands/start.js')).addStartCommand,
    invitation: async () => (await import('./commands/invitation.js')).addInvitationCommand,
    status: async () => (await import('./commands/status.js')).addStatusCommand,
    nodes: async () => (await import('./commands/nodes.js')).addNodesCommand,
    board: async () => (await import('./commands/board.js')).addBoardCommand,
    groups: async () => (await import('./commands/groups.js')).addGroupsCommand,
    events: async () => (await import('./commands/events.js')).addEventsCommand,
    export: async () => (await import('./commands/export.js')).addExportCommand,
    backup: async () => (await import('./commands/backup.js')).addBackupCommand,
    restore: async () => (await import('./commands/restore.js')).addRestoreCommand,
    metrics: async () => (await import('./commands/metrics.js')).addMetricsCommand,
  },
  statusOf: (error) =>
    error instanceof ConfigError || (error instanceof TrainerError && error.code === 'no_python') ? 2 : 1,
  advice: (error) =>
    error instanceof TrainerError && /No module named/.test(error.detail)
      ? " (prove-coordinator setup installs the trainer's Python packages)"
      : '',
})
