import { createReadStream } from 'node:fs'
import { opendir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { linesOf } from '../../common/control/index.js'
import { followChain, LOG_START, type LogHead } from '../ledger/log-chain.js'
import { RunReducer } from '../ledger/run-reducer.js'
import type { RunState } from '../ledger/run-state.js'
import { BackupError } from './backup-error.js'
import {
  BACKUP_FILE,
  type BackupContent,
  DATA_FOLDER,
  EVENTS_FILE,
  LIST_FILE,
  type ListedFile,
  parseBackupFile,
  parseListed,
} from './backup-format.js'
import { digestFile } from './copy-file.js'
import { neededFiles } from './needed-files.js'

/**
 * Reads a whole backup and verifies every file, the log, and that all files exist that the run needs. Keeps the run's state and the
 * names of the files in memory.
 * @throws BackupError `no_backup`, `damaged`, `not_whole`
 */
export async function checkBackup(folder: string, signal: AbortSignal): Promise<BackupContent> {
  const backup = await readBackupFile(folder)
  const names = await checkFiles(folder, backup, signal)
  const state = await checkEvents(folder, backup, signal)
  for (const path of await neededFiles(state, join(folder, DATA_FOLDER), backup.run))
    if (!names.has(`${DATA_FOLDER}/${path}`))
      throw new BackupError('not_whole', `${join(folder, DATA_FOLDER, path)} is missing, but the run needs it`)
  return backup
}

/** Returns the lines of a file of the backup. */
export async function* linesOfFile(folder: string, name: string, signal: AbortSignal): AsyncGenerator<string> {
  signal.throwIfAborted()
  yield* linesOf(createReadStream(join(folder, name), { signal }))
}

/** Returns the files that a backup lists. @throws BackupError `damaged` */
export async function* listedFiles(folder: string, signal: AbortSignal): AsyncGenerator<ListedFile> {
  let number = 0
  for await (const line of linesOfFile(folder, LIST_FILE, signal)) {
    number++
    const file = parseListed(line)
    if (!file) throw damaged(folder, LIST_FILE, `line ${number} lists no file`)
    yield file
  }
}

async function readBackupFile(folder: string): Promise<BackupContent> {
  const text = await readFile(join(folder, BACKUP_FILE), 'utf8').catch((cause: Error) => {
    const why = `${folder} is no finished backup: ${cause.message}`
    throw new BackupError('no_backup', why, { cause })
  })
  const backup = parseBackupFile(text)
  if (!backup) throw damaged(folder, BACKUP_FILE, 'it was changed, or is of another version of this program')
  return backup
}

/** Verifies that exactly the listed files exist, unchanged. @returns  their names */
async function checkFiles(folder: string, backup: BackupContent, signal: AbortSignal): Promise<Set<string>> {
  const list = await digestOf(folder, LIST_FILE, signal)
  if (list.sha256 !== backup.files.sha256) throw damaged(folder, LIST_FILE, 'its hash does not match')
  const names = new Set<string>()
  for await (const { path, size, sha256 } of listedFiles(folder, signal)) {
    const found = await digestOf(folder, path, signal)
    if (found.size !== size) throw damaged(folder, path, `it has ${found.size} B, not ${size}`)
    if (found.sha256 !== sha256) throw damaged(folder, path, 'its hash does not match')
    const [, named] = /^data\/(?:bodies|blobs)\/([0-9a-f]{64})$/.exec(path) ?? []
    if (named !== undefined && named !== sha256) throw damaged(folder, path, 'its content does not match its name')
    names.add(path)
  }
  for await (const path of filesBelow(folder))
    if (path !== BACKUP_FILE && path !== LIST_FILE && !names.has(path))
      throw damaged(folder, path, 'it was added after the backup was made')
  return names
}

async function checkEvents(folder: string, { events }: BackupContent, signal: AbortSignal): Promise<RunState> {
  const state = new RunReducer()
  let end: LogHead = LOG_START
  for await (const record of linesOfFile(folder, EVENTS_FILE, signal)) {
    const link = followChain(end, record)
    if (typeof link === 'string') throw damaged(folder, EVENTS_FILE, `event ${end.count} was changed`)
    state.apply(link.event)
    end = link.head
  }
  if (end.count !== events.count || end.hash !== events.hash)
    throw damaged(folder, EVENTS_FILE, `it has ${end.count} events, not ${events.count}, or its last event was changed`)
  return state
}

async function digestOf(folder: string, path: string, signal: AbortSignal) {
  return digestFile(join(folder, path), signal).catch((cause: Error) => {
    signal.throwIfAborted()
    throw damaged(folder, path, cause.message)
  })
}

async function* filesBelow(folder: string, inside = ''): AsyncGenerator<string> {
  for await (const entry of await opendir(join(folder, inside))) {
    const path = inside === '' ? entry.name : `${inside}/${entry.name}`
    if (entry.isDirectory()) yield* filesBelow(folder, path)
    else yield path
  }
}

const damaged = (folder: string, path: string, detail: string): BackupError =>
  new BackupError('damaged', `${join(folder, path)}: ${detail}`)
