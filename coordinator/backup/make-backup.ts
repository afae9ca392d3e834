import { mkdir, mkdtemp, opendir, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { packageVersion } from '../../common/cli/index.js'
import { isSha256 } from '../../proto/index.js'
import { readKey } from '../../swarm/index.js'
import { readStep } from '../jobs/step-folder.js'
import { followChain, LOG_START, type LogHead } from '../ledger/log-chain.js'
import { RunReducer } from '../ledger/run-reducer.js'
import type { RunState } from '../ledger/run-state.js'
import { BackupError } from './backup-error.js'
import {
  BACKUP_FILE,
  BACKUP_NEEDS,
  type BackupContent,
  CONFIG_FILE,
  DATA_FOLDER,
  EVENTS_FILE,
  LIST_FILE,
  type ListedFile,
  writeBackupFile,
} from './backup-format.js'
import { copyFile, createFile, type NewFile, syncFolder } from './copy-file.js'
import {
  BLOBS,
  BODIES,
  batchFolder,
  CALIBRATIONS,
  EVIDENCE,
  MANIFESTS,
  neededFiles,
  STEPS,
  stepFolder,
} from './needed-files.js'
import { checkBackup } from './read-backup.js'

/** The log of a run, whoever holds it. */
export interface LogSource {
  /** What is on disk by now. */
  end(): Promise<LogHead>
  /** Records as the log stores them, oldest first, before the place `until`. */
  records(until: number): AsyncIterable<string>
}

export interface BackupParts {
  readonly log: LogSource
  readonly dataDir: string
  /** run.yaml, to be kept with the rest; null: without. */
  readonly configFile: string | null
  /** Folder that the backup becomes; it must not be there. */
  readonly target: string
  /** Written into the backup. */
  readonly now: Date
}

/** A running coordinator removes what it needs no longer. One that does so in the middle of a copy is asked again from the start. */
const ATTEMPTS = 3

/**
 * Backs a run up, while its coordinator works or not: the log up to the place where it is now, and then the files. What an event
 * names is on disk before the event is, so all that the log needs is there; what has come since is left out. Read back and checked
 * before it gets its name.
 * @throws BackupError; StoreError for a log that is damaged
 */
export async function makeBackup(parts: BackupParts, signal: AbortSignal): Promise<BackupContent> {
  const target = resolve(parts.target)
  if (await exists(target)) throw new BackupError('exists', `${target} is there already; a backup gets a new folder`)
  const identity = await readKey(parts.dataDir)
  if (!identity) throw new BackupError('no_run', `${parts.dataDir} holds no key, so no run`)
  await mkdir(dirname(target), { recursive: true })
  for (let attempt = 1; ; attempt++) {
    const draft = await mkdtemp(`${target}.part-`)
    try {
      const backup = await fill(draft, identity.peerId, parts, signal)
      await checkBackup(draft, signal)
      await rename(draft, target)
      await syncFolder(dirname(target))
      return backup
    } catch (error) {
      await rm(draft, { recursive: true, force: true })
      if (attempt === ATTEMPTS || !(error instanceof BackupError && error.code === 'not_whole')) throw error
    }
  }
}

async function fill(draft: string, run: string, parts: BackupParts, signal: AbortSignal): Promise<BackupContent> {
  const { log, dataDir, configFile, now } = parts
  const events = await log.end()
  const list = await createFile(join(draft, LIST_FILE))
  try {
    const copier = createCopier(draft, dataDir, list, signal)
    // A round that opens takes the oldest manifest away, so these come before what takes long. Newer ones than the log names do no harm.
    await copier.copyFolder(MANIFESTS, () => true)
    const { state, judged } = await writeEvents(draft, log, events, copier)
    await copyJobs(copier, dataDir, state)
    for (const name of ['identity.key', 'trainer.json']) await copier.copy(name)
    await copier.copyFolder(CALIBRATIONS, () => true)
    await copier.copyFolder(EVIDENCE, () => true)
    await copier.copyFolder(BLOBS, isSha256)
    await copier.copyFolder(BODIES, (name) => judged.has(name))
    if (configFile !== null) await copier.copyAs(configFile, CONFIG_FILE)
    await copier.check(await neededFiles(state, join(draft, DATA_FOLDER), run))
    const { sha256 } = await list.finish()
    const backup = {
      schema: 1,
      program: packageVersion(),
      needs: BACKUP_NEEDS,
      createdAt: now.toISOString(),
      run,
      events,
      files: { ...copier.total(), sha256 },
    } as const
    const file = await createFile(join(draft, BACKUP_FILE))
    await file.write(writeBackupFile(backup))
    await file.finish()
    await syncFolder(draft)
    return backup
  } finally {
    await list.close()
  }
}

/** Writes the log up to its end at the cut. @returns  the state there, and the hashes of all bodies that were judged */
async function writeEvents(
  draft: string,
  log: LogSource,
  cut: LogHead,
  copier: Copier,
): Promise<{ readonly state: RunState; readonly judged: ReadonlySet<string> }> {
  const state = new RunReducer()
  const judged = new Set<string>()
  const file = await createFile(join(draft, EVENTS_FILE))
  try {
    let end = LOG_START
    for await (const record of log.records(cut.count)) {
      const link = followChain(end, record)
      if (typeof link === 'string') throw new BackupError('damaged', `the event ${end.count} of the log is ${link}`)
      state.apply(link.event)
      if (link.event.type === 'judged') judged.add(link.event.bodySha256)
      end = link.head
      await file.write(`${record}\n`)
    }
    if (end.hash !== cut.hash) throw new BackupError('damaged', `the log gave ${end.count} events of ${cut.count}`)
    await copier.add({ path: EVENTS_FILE, ...(await file.finish()) })
    return { state, judged }
  } finally {
    await file.close()
  }
}

/**
 * Steps up to the published one, and what there is of the pending batch: its folder, and its step if the trainer has made it.
 * A step beyond these would be another one than the log goes on with, and the trainer resumes at the newest.
 */
async function copyJobs(copier: Copier, dataDir: string, state: RunState): Promise<void> {
  const published = state.current?.step ?? 0
  const pending = state.pendingBatch
  const steps = await stepsIn(dataDir)
  // The newest first: the trainer may remove old ones meanwhile, and needs those least.
  for (const step of steps.filter((number) => number <= published)) await copier.copyWhole(stepFolder(step))
  if (!pending) return
  if (pending.step > published && steps.includes(pending.step)) {
    const { batchId } = await readStep(join(dataDir, 'jobs'), pending.step)
    if (batchId === pending.batchId) await copier.copyWhole(stepFolder(pending.step))
  }
  await copier.copyFolder(batchFolder(pending.batchId), () => true)
}

async function stepsIn(dataDir: string): Promise<number[]> {
  const names = await orNone(readdir(join(dataDir, STEPS)))
  return (names ?? []).flatMap((name) => (/^step-\d+$/.test(name) ? [Number(name.slice(5))] : [])).sort((a, b) => b - a)
}

interface Copier {
  /** Copies a file of the data folder, unless it is not there. */
  copy(path: string): Promise<void>
  copyAs(source: string, path: string): Promise<void>
  /** Copies what is in a folder of the data folder, and in folders in it, as far as it is still there. */
  copyFolder(path: string, wanted: (name: string) => boolean): Promise<void>
  /** Copies a folder of the data folder. @throws BackupError `not_whole` when something of it goes meanwhile */
  copyWhole(path: string): Promise<void>
  /** Lists a file that was written already. */
  add(file: ListedFile): Promise<void>
  /** @throws BackupError `not_whole` when one of these files of the data folder was not copied */
  check(needed: readonly string[]): Promise<void>
  total(): { readonly count: number; readonly bytes: number }
}

function createCopier(draft: string, dataDir: string, list: NewFile, signal: AbortSignal): Copier {
  let count = 0
  let bytes = 0
  const add = async (file: ListedFile): Promise<void> => {
    count++
    bytes += file.size
    await list.write(`${JSON.stringify(file)}\n`)
  }
  const copyAs = async (source: string, path: string): Promise<void> => {
    await add({ path, ...(await copyFile(source, join(draft, path), signal)) })
  }
  /** @returns  whether it was there */
  const copy = async (path: string): Promise<boolean> =>
    (await orNone(copyAs(join(dataDir, path), `${DATA_FOLDER}/${path}`).then(() => true))) ?? false
  const copyFolder = async (
    path: string,
    wanted: (name: string) => boolean,
    onGone: (path: string) => void,
  ): Promise<void> => {
    const folder = await orNone(opendir(join(dataDir, path)))
    if (!folder) return onGone(path)
    for await (const entry of folder) {
      signal.throwIfAborted()
      const inside = `${path}/${entry.name}`
      if (entry.isDirectory()) await copyFolder(inside, wanted, onGone)
      // Drafts come and go.
      else if (entry.isFile() && wanted(entry.name) && !entry.name.endsWith('.tmp') && !(await copy(inside)))
        onGone(inside)
    }
  }
  return {
    add,
    copyAs,
    copyFolder: (path, wanted) => copyFolder(path, wanted, () => undefined),
    copyWhole: (path) =>
      copyFolder(
        path,
        () => true,
        (gone) => {
          throw new BackupError('not_whole', `${join(dataDir, gone)} was removed while it was copied`)
        },
      ),
    copy: async (path) => void (await copy(path)),
    async check(needed) {
      for (const path of needed)
        if (!(await exists(join(draft, DATA_FOLDER, path))))
          throw new BackupError('not_whole', `${join(dataDir, path)} is missing, and the run needs it`)
    },
    total: () => ({ count, bytes }),
  }
}

/** Null when it is gone. */
async function orNone<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}

const exists = async (path: string): Promise<boolean> => (await orNone(stat(path))) !== null
