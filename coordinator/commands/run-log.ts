import { stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Command } from 'commander'
import { z } from 'zod'
import { type ControlClient, reachControl } from '../../common/control/index.js'
import { BackupError } from '../backup/backup-error.js'
import type { LogSource } from '../backup/make-backup.js'
import { openEventLog } from '../ledger/event-log.js'
import type { RunEvent } from '../ledger/events.js'
import { followChain, LOG_START, type LogHead } from '../ledger/log-chain.js'
import { StoreError } from '../ledger/store-error.js'
import { LOG_END, LOG_RECORDS } from '../service/control-routes.js'
import { ConfigError, readConfig } from '../settings/config.js'
import { dataFolderOf } from '../settings/data-folder.js'

/** Which run a command is about. */
export interface RunOptions {
  readonly config?: string
  readonly dataDir?: string
}

export const withRunOptions = (command: Command): Command =>
  command
    .option('--config <file>', 'run.yaml: names the data folder')
    .option('--data-dir <folder>', 'the data folder, if there is no run.yaml')

/** @throws ConfigError when neither or both are given */
export function dataDirOf(command: string, { config, dataDir }: RunOptions): string {
  if ((config === undefined) === (dataDir === undefined))
    throw new ConfigError(`${command}: give either --config or --data-dir`)
  return config === undefined ? resolve(dataDir!) : readConfig(config).dataDir
}

/** The log as the running coordinator tells it; without one it is opened here, and no coordinator can start meanwhile. */
export async function openRunLog(
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

/** The events of a run so far, oldest first, whether its coordinator works or not. @throws StoreError, BackupError, ControlError */
export async function* readEvents(dataDir: string, signal: AbortSignal): AsyncGenerator<RunEvent> {
  const { log, close } = await openRunLog(dataDir, signal)
  try {
    let place = LOG_START
    for await (const record of log.records((await log.end()).count)) {
      const link = followChain(place, record)
      if (typeof link === 'string')
        throw new StoreError('unreadable', `${dataDir}: the event ${place.count} is ${link}`)
      yield link.event
      place = link.head
    }
  } finally {
    await close()
  }
}

const head = z.object({ count: z.int().min(0), hash: z.string() })

const told = (control: ControlClient): LogSource => ({
  end: async (): Promise<LogHead> => head.parse(await control.get(LOG_END)),
  records: (until) => control.lines(`${LOG_RECORDS}?until=${until}`),
})
