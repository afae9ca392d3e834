import '../swarm/polyfill.js'
import { createProgram, runProgram } from '../cli/index.js'
import { addBackupCommand } from './commands/backup.js'
import { addMetricsCommand } from './commands/metrics.js'
import { addRestoreCommand } from './commands/restore.js'
import { addSetupCommand } from './commands/setup.js'
import { addStartCommand } from './commands/start.js'
import { ConfigError } from './settings/config.js'
import { TrainerError } from './spool/errors.js'

const program = createProgram('prove-coordinator', 'Run a PROVE training swarm')
addSetupCommand(program)
addStartCommand(program)
addBackupCommand(program)
addRestoreCommand(program)
addMetricsCommand(program)

await runProgram(program, {
  statusOf: (error) => (error instanceof ConfigError ? 2 : 1),
  advice: (error) =>
    error instanceof TrainerError && /No module named/.test(error.detail)
      ? " (prove-coordinator setup installs the trainer's Python packages)"
      : '',
})
