import { stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { type Command, Option } from 'commander'
import { z } from 'zod'
import { configOption } from '../../common/cli/index.js'
import { type ControlClient, reachControl } from '../../common/control/index.js'
import { BackupError } from '../backup/backup-error.js'
import type { LogSource } from '../backup/make-backup.js'
import { openEventLog } from '../ledger/event-log.js'
import type { RunEvent } from '../ledger/events.js'
import { followChain, LOG_START, type LogHead } from '../ledger/log-chain.js'
import { StoreError } from '../ledger/store-error.js'
import { LOG_END, LOG_RECORDS } from '../service/control-routes.js'
import { readConfig } from '../settings/config.js'
import { dataFolderOf } from '../settings/data-folder.js'

/** Options that say which run a command is about. */
export interface RunOptions {
  readonly config: string
  /** Takes the place of `config`. */
  readonly dataDir?: string
}

/** Adds `--config` and `--data-dir`, of which the user gives at most one. */
export const withRunOptions = (command: Command): Command =>
  command
    .addOption(configOption())
    .addOption(
      new Option('--data-dir <folder>', 'data folder of the program; takes the place of --config').conflicts('config'),
    )

/** Returns the data folder that the options name. @throws ConfigError */
export const dataDirOf = ({ config, dataDir }: RunOptions): string =>
  dataDir === undefined ? readConfig(config).dataDir : resolve(dataDir)

/** Opens the log through the running coordinator. Without one, opens it here; no coordinator can start in the meantime. */
export async function openRunLog(
  dataDir: string,
  signal: AbortSignal,
): Promise<{ readonly log: LogSource; close(): Promise<void> }> {
  const control = await reachControl(dataDir, signal)
  if (control) return { log: logOver(control), close: async () => undefined }
  const { log: folder } = dataFolderOf(dataDir)
  // `openEventLog` would create missing files.
  for (const path of [folder, join(dataDir, 'identity.key')])
    await stat(path).catch((cause: unknown) => {
      throw new BackupError('no_run', `${dataDir} contains no run: ${path} does not exist`, { cause })
    })
  const log = await openEventLog(folder)
  return { log: { end: async () => log.end, records: (until) => log.records(until) }, close: () => log.close() }
}

/** Reads the events of a run so far, oldest first, whether its coordinator runs or not. @throws StoreError, BackupError, ControlError */
export async function* readEvents(dataDir: string, signal: AbortSignal): AsyncGenerator<RunEvent> {
  const { log, close } = await openRunLog(dataDir, signal)
  try {
    let place = LOG_START
    for await (const record of log.records((await log.end()).count)) {
      const link = followChain(place, record)
      if (typeof link === 'string') throw new StoreError('unreadable', `${dataDir}: event ${place.count} is ${link}`)
      yield link.event
      place = link.head
    }
  } finally {
    await close()
  }
}

const head = z.object({ count: z.int().min(0), hash: z.string() })

const logOver = (control: ControlClient): LogSource => ({
  end: async (): Promise<LogHead> => head.parse(await control.get(LOG_END)),
  records: (until) => control.lines(`${LOG_RECORDS}?until=${until}`),
})
