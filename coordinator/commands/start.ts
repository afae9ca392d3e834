import { once } from 'node:events'
import { type Command, Option } from 'commander'
import { configOption, stopSignal } from '../../common/cli/index.js'
import { PRIVATE_UMASK } from '../../common/control/index.js'
import { createStderrLogger } from '../../swarm/index.js'
import { defaultPython, trainerFolder } from '../jobs/python.js'
import { timeOf } from '../report/words.js'
import type { Progress } from '../service/progress.js'
import { startCoordinator } from '../service/start-coordinator.js'
import { readConfig } from '../settings/config.js'
import { progressLine } from './progress-line.js'

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error']

export function addStartCommand(program: Command): void {
  program
    .command('start')
    .description('Start a run, or resume it')
    .addOption(configOption())
    .option('--json', 'print JSON on stdout, one object per line', false)
    .option('--no-dry-run', 'skip the dry run, which plays some tasks with the base model before the first version')
    .option('--public', 'show the dashboard to visitors without a token too, like dashboard.public', false)
    .option('--exit-when-complete', 'stop when the last version is published, instead of continuing to serve it', false)
    .addOption(new Option('--log-level <level>', 'level of the log on stderr').choices(LOG_LEVELS).default('warn'))
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
    // Without a time, the address is easier to copy.
    const time = options.json || progress.type === 'listening' ? '' : `${timeOf(Date.now())}  `
    process.stdout.write(`${time}${line}\n`)
  }
  const coordinator = await startCoordinator({
    config,
    configFile: options.config,
    trainerFolder,
    python: defaultPython(),
    dryRun: options.dryRun,
    publicDashboard: options.public,
    logger,
    onProgress,
  })
  const stop = stopSignal()
  const stopped = once(stop.signal, 'abort')
  try {
    await Promise.race([
      stopped,
      options.exitWhenComplete
        ? coordinator.complete.then(() => coordinator.lastScore)
        : coordinator.complete.then(() => stopped),
    ])
  } finally {
    await coordinator.close()
    stop.release()
  }
}
