import { type Command, Option } from 'commander'
import { PRIVATE_UMASK } from '../../common/control/index.js'
import { createStderrLogger } from '../../swarm/index.js'
import { defaultPython, trainerFolder } from '../jobs/python.js'
import { timeOf } from '../report/words.js'
import { type Progress, startCoordinator } from '../service/start-coordinator.js'
import { readConfig } from '../settings/config.js'
import { progressLine } from './progress-line.js'

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error']

export function addStartCommand(program: Command): void {
  program
    .command('start')
    .description('Start a run, or resume it after a stop')
    .requiredOption('--config <file>', 'run.yaml')
    .option('--json', 'report progress as JSON lines on stdout', false)
    .option('--no-dry-run', 'do not play some tasks with the base model before the first version')
    .option('--public', 'whoever has no token may look at the dashboard too, as dashboard.public says it', false)
    .option('--exit-when-complete', 'stop when the last version is published instead of serving it on', false)
    .addOption(new Option('--log-level <level>', 'what is logged on stderr').choices(LOG_LEVELS).default('warn'))
    .action(start)
}

async function start(options: {
  config: string
  json: boolean
  exitWhenComplete: boolean
  dryRun: boolean
  public: boolean
  logLevel: string
}): Promise<void> {
  const config = readConfig(options.config)
  process.umask(PRIVATE_UMASK)
  const logger = createStderrLogger(options.logLevel)
  const onProgress = (progress: Progress): void => {
    const line = options.json ? JSON.stringify(progress) : progressLine(progress)
    if (line === null) return
    // The address is there to be copied.
    const time = options.json || progress.type === 'listening' ? '' : `${timeOf(Date.now())}  `
    process.stdout.write(`${time}${line}\n`)
  }
  const coordinator = await startCoordinator({
    config,
    trainerFolder,
    python: defaultPython(),
    dryRun: options.dryRun,
    publicDashboard: options.public,
    logger,
    onProgress,
  })
  const stopped = new Promise<void>((resolve) => {
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => resolve())
  })
  try {
    await Promise.race([
      stopped,
      options.exitWhenComplete
        ? coordinator.complete.then(() => coordinator.lastScore)
        : coordinator.complete.then(() => stopped),
    ])
  } finally {
    await coordinator.close()
  }
}
