import { stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { type Command, InvalidArgumentError } from 'commander'
import { z } from 'zod'
import { BackupError } from '../backup/backup-error.js'
import { type LogSource, makeBackup } from '../backup/make-backup.js'
import { openEventLog } from '../ledger/event-log.js'
import type { LogHead } from '../ledger/log-chain.js'
import { type ControlClient, reachControl } from '../service/control-client.js'
import { LOG_END, LOG_RECORDS } from '../service/control-routes.js'
import { ConfigError, readConfig } from '../settings/config.js'
import { dataFolderOf, PRIVATE_UMASK } from '../settings/data-folder.js'
import { interruptible } from './interruptible.js'

export function addBackupCommand(program: Command): void {
  program
    .command('backup')
    .description('Copy a run into a new folder, also while its coordinator works')
    .argument('<folder>', 'the backup; must not be there yet', nonEmpty)
    .option('--config <file>', 'run.yaml: names the data folder, and is kept with the backup')
    .option('--data-dir <folder>', 'the data folder, if there is no run.yaml')
    .action(backUp)
}

async function backUp(target: string, options: { config?: string; dataDir?: string }): Promise<void> {
  const { config } = options
  if ((config === undefined) === (options.dataDir === undefined))
    throw new ConfigError('backup: give either --config or --data-dir')
  const dataDir = config === undefined ? resolve(options.dataDir!) : readConfig(config).dataDir
  process.umask(PRIVATE_UMASK)
  await interruptible('the backup', async (signal) => {
    const { log, close } = await openSource(dataDir, signal)
    try {
      const parts = { log, dataDir, configFile: config ?? null, target, now: new Date() }
      const { run, events, files } = await makeBackup(parts, signal)
      const size = `${events.count} events and ${files.count} files, ${files.bytes} B`
      process.stdout.write(`${resolve(target)} holds the run ${run}: ${size}, read back and checked\n`)
    } finally {
      await close()
    }
  })
}

/** The log as the running coordinator tells it; without one it is opened here, and no coordinator can start meanwhile. */
async function openSource(
  dataDir: string,
  signal: AbortSignal,
): Promise<{ readonly log: LogSource; close(): Promise<void> }> {
  const control = await reachControl(dataDir, signal)
  if (control) return { log: told(control), close: async () => undefined }
  const { log: folder } = dataFolderOf(dataDir)
  // Opening would make them.
  for (const path of [folder, join(dataDir, 'identity.key')])
    await stat(path).catch((cause: unknown) => {
      throw new BackupError('no_run', `${dataDir} holds no run: ${path} is not there`, { cause })
    })
  const log = await openEventLog(folder)
  return { log: { end: async () => log.end, records: (until) => log.records(until) }, close: () => log.close() }
}

const head = z.object({ count: z.int().min(0), hash: z.string() })

const told = (control: ControlClient): LogSource => ({
  end: async (): Promise<LogHead> => head.parse(await control.get(LOG_END)),
  records: (until) => control.lines(`${LOG_RECORDS}?until=${until}`),
})

function nonEmpty(value: string): string {
  if (value === '') throw new InvalidArgumentError('A folder is needed.')
  return value
}
