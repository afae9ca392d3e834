import type { Program } from '../../common/cli/index.js'
import { TrainerError } from '../jobs/errors.js'
import { HELP } from './help.js'

/** Command line of `prove-coordinator`. Help lists the commands in this order. */
export const PROGRAM: Program = {
  name: 'prove-coordinator',
  description: 'Run a PROVE training swarm',
  help: HELP,
  commands: {
    setup: async () => (await import('./setup.js')).addSetupCommand,
    base: async () => (await import('./base.js')).addBaseCommand,
    init: async () => (await import('./init.js')).addInitCommand,
    'warm-start': async () => (await import('./warm-start.js')).addWarmStartCommand,
    start: async () => (await import('./start.js')).addStartCommand,
    invitation: async () => (await import('./invitation.js')).addInvitationCommand,
    status: async () => (await import('./status.js')).addStatusCommand,
    nodes: async () => (await import('./nodes.js')).addNodesCommand,
    leaderboard: async () => (await import('./leaderboard.js')).addLeaderboardCommand,
    groups: async () => (await import('./groups.js')).addGroupsCommand,
    events: async () => (await import('./events.js')).addEventsCommand,
    pause: async () => (await import('./orders.js')).addPauseCommand,
    resume: async () => (await import('./orders.js')).addResumeCommand,
    ban: async () => (await import('./orders.js')).addBanCommand,
    unban: async () => (await import('./orders.js')).addUnbanCommand,
    'drop-task': async () => (await import('./orders.js')).addDropTaskCommand,
    'disable-environment': async () => (await import('./orders.js')).addDisableEnvironmentCommand,
    'enable-environment': async () => (await import('./orders.js')).addEnableEnvironmentCommand,
    rollback: async () => (await import('./orders.js')).addRollbackCommand,
    set: async () => (await import('./settings.js')).addSetCommand,
    reload: async () => (await import('./settings.js')).addReloadCommand,
    announce: async () => (await import('./orders.js')).addAnnounceCommand,
    export: async () => (await import('./export.js')).addExportCommand,
    backup: async () => (await import('./backup.js')).addBackupCommand,
    repair: async () => (await import('./repair.js')).addRepairCommand,
    restore: async () => (await import('./restore.js')).addRestoreCommand,
    metrics: async () => (await import('./metrics.js')).addMetricsCommand,
  },
  advice: (error) =>
    error instanceof TrainerError && /No module named/.test(error.detail)
      ? " (run prove-coordinator setup, which installs the trainer's Python packages)"
      : '',
}
