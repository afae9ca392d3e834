import { mkdir, mkdtemp, readdir, rename, rm, rmdir } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { readKey } from '../../swarm/index.js'
import { writeEventLog } from '../ledger/event-log.js'
import { dataFolderOf } from '../settings/data-folder.js'
import { BackupError } from './backup-error.js'
import { type BackupContent, DATA_FOLDER, EVENTS_FILE } from './backup-format.js'
import { copyFile, syncFolder } from './copy-file.js'
import { checkBackup, linesOfFile, listedFiles } from './read-backup.js'

/**
 * Restores a backup into a data folder that is empty or does not exist. Verifies everything before writing, and gives the folder its
 * name when it is complete.
 * @throws BackupError `exists`, `no_backup`, `damaged`, `not_whole`
 */
export async function restoreBackup(folder: string, dataDir: string, signal: AbortSignal): Promise<BackupContent> {
  const target = resolve(dataDir)
  const present = await namesIn(target)
  if (present !== null && present.length > 0)
    throw new BackupError('exists', `${target} is not empty: name an empty or new folder to restore the backup into`)
  const backup = await checkBackup(folder, signal)
  await mkdir(dirname(target), { recursive: true })
  const draft = await mkdtemp(`${target}.part-`)
  try {
    await copyData(folder, draft, signal)
    const identity = await readKey(draft)
    if (identity?.peerId !== backup.run)
      throw new BackupError('damaged', `${join(folder, DATA_FOLDER, 'identity.key')} is not the key of ${backup.run}`)
    const end = await writeEventLog(dataFolderOf(draft).log, linesOfFile(folder, EVENTS_FILE, signal))
    if (end.hash !== backup.events.hash)
      throw new BackupError('damaged', `${join(folder, EVENTS_FILE)} was changed during the restore`)
    await syncFolder(draft)
    if (present !== null) await rmdir(target)
    await rename(draft, target)
    await syncFolder(dirname(target))
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
  return backup
}

async function copyData(folder: string, draft: string, signal: AbortSignal): Promise<void> {
  const data = `${DATA_FOLDER}/`
  for await (const { path, sha256 } of listedFiles(folder, signal)) {
    if (!path.startsWith(data)) continue
    const copied = await copyFile(join(folder, path), join(draft, path.slice(data.length)), signal)
    if (copied.sha256 !== sha256)
      throw new BackupError('damaged', `${join(folder, path)} was changed during the restore`)
  }
}

/** Returns the names in a folder; null if it does not exist. */
async function namesIn(folder: string): Promise<readonly string[] | null> {
  try {
    return await readdir(folder)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}
