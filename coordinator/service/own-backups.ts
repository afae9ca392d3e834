import { mkdir, readdir, rm, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { PRIVATE_FOLDER } from '../../common/control/index.js'
import { makeBackup } from '../backup/make-backup.js'
import type { ChainedLog } from '../ledger/chained-log.js'
import type { RunConfig } from '../settings/config.js'
import type { Clock } from '../../swarm/index.js'

export interface OwnBackupsParts {
  readonly settings: RunConfig['backups']
  readonly log: Pick<ChainedLog, 'end' | 'records'>
  readonly dataDir: string
  /** Path of run.yaml, to be included; null: none. */
  readonly configFile: string | null
  readonly clock: Clock
  readonly logger: Logger
  /** Receives the folder of each backup, or why there is none. */
  readonly onBackup: (result: { readonly folder: string; readonly events: number } | { readonly why: string }) => void
}

/** Names of backups sort by time. */
const NAME = /^\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}Z$/
/** A backup must leave as much space again as it takes, and this much. */
const SPARE_BYTES = 1024 ** 3

/** Backs the run up at intervals until the signal fires, and removes the oldest backups. A failure is reported, and the next interval tries again. */
export async function keepBackups(parts: OwnBackupsParts, signal: AbortSignal): Promise<void> {
  const { settings, dataDir, clock, onBackup } = parts
  if (settings.keep === 0) return
  const folder = settings.folder ?? join(dataDir, 'backups')
  for (;;) {
    await clock.sleep(await untilDueMs(folder, settings.everyMs, clock.now()), signal).catch(() => undefined)
    if (signal.aborted) return
    try {
      onBackup(await backUp(parts, folder, signal))
    } catch (error) {
      if (signal.aborted) return
      parts.logger.error({ error }, 'the run could not be backed up')
      onBackup({ why: (error as Error).message })
      await clock.sleep(settings.everyMs, signal).catch(() => undefined)
    }
  }
}

async function backUp({ log, dataDir, configFile, settings, clock }: OwnBackupsParts, folder: string, signal: AbortSignal) {
  await mkdir(folder, { recursive: true, mode: PRIVATE_FOLDER })
  const earlier = await backupsIn(folder)
  const newest = earlier.at(-1)
  if (newest !== undefined) await requireSpace(folder, await sizeOf(join(folder, newest)))
  const now = new Date(clock.now())
  const target = join(folder, `${now.toISOString().slice(0, 19).replaceAll(':', '-')}Z`)
  const source = { end: async () => log.end, records: (until: number) => log.records(until) }
  const { events } = await makeBackup({ log: source, dataDir, configFile, target, now }, signal)
  for (const name of earlier.slice(0, Math.max(0, earlier.length + 1 - settings.keep)))
    await rm(join(folder, name), { recursive: true, force: true })
  return { folder: target, events: events.count }
}

/** Returns the names of the backups, oldest first. */
const backupsIn = async (folder: string): Promise<string[]> =>
  (await readdir(folder).catch(() => [] as string[])).filter((name) => NAME.test(name)).sort()

async function untilDueMs(folder: string, everyMs: number, nowMs: number): Promise<number> {
  const newest = (await backupsIn(folder)).at(-1)
  if (newest === undefined) return everyMs
  const [date, time] = newest.slice(0, -1).split('T') as [string, string]
  const madeMs = Date.parse(`${date}T${time.replaceAll('-', ':')}Z`)
  // After the clock was set back, a backup of the future must not stop further ones.
  return Math.min(everyMs, Math.max(0, madeMs + everyMs - nowMs))
}

/** @throws Error if another backup of this size would nearly fill the disk */
async function requireSpace(folder: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder)
  const free = bavail * bsize
  if (free >= 2 * bytes + SPARE_BYTES) return
  throw new Error(
    `${folder} has ${Math.floor(free / 1e6)} MB free, and a backup takes ${Math.ceil(bytes / 1e6)} MB: free some space, name another disk in backups.folder, or set backups.keep to 0`,
  )
}

async function sizeOf(folder: string): Promise<number> {
  let bytes = 0
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) bytes += (await stat(join(entry.parentPath, entry.name))).size
  return bytes
}
