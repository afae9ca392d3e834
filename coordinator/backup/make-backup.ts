import { mkdir, mkdtemp, opendir, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { packageVersion } from '../../common/cli/index.js'
import { isSha256 } from '../../proto/index.js'
import { readKey } from '../../swarm/index.js'
import { readStep } from '../jobs/step-folder.js'
import { followChain, LOG_START, type LogHead } from '../ledger/log-chain.js'
import { RunReducer } from '../ledger/run-reducer.js'
import type { RunState } from '../ledger/run-state.js'
import { versionIn } from '../settings/data-folder.js'
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
  VERSIONS,
} from './needed-files.js'
import { checkBackup } from './read-backup.js'

/** The log of a run, opened here or read through a running coordinator. */
export interface LogSource {
  /** Returns the end of the log on disk. */
  end(): Promise<LogHead>
  /** Returns records as the log stores them, oldest first, before the place `until`. */
  records(until: number): AsyncIterable<string>
}

export interface BackupParts {
  readonly log: LogSource
  readonly dataDir: string
  /** Path of run.yaml, to be included; null: none. */
  readonly configFile: string | null
  /** Folder to create; must not exist. */
  readonly target: string
  /** Time that the backup states. */
  readonly now: Date
}

/** A running coordinator removes files that it no longer needs. If it does so during a copy, the copy begins again. */
const ATTEMPTS = 3

/**
 * Backs up a run, whether its coordinator runs or not: the log up to its current end, and then the files. A file is on disk before the
 * event that names it, so all files that the log needs exist. Later events are omitted. The backup is read back and verified before it
 * gets its name.
 * @throws BackupError; StoreError for a damaged log
 */
export async function makeBackup(parts: BackupParts, signal: AbortSignal): Promise<BackupContent> {
  const target = resolve(parts.target)
  if (await exists(target))
    throw new BackupError('exists', `${target} exists already: name a new folder for the backup`)
  const identity = await readKey(parts.dataDir)
  if (!identity) throw new BackupError('no_run', `${parts.dataDir} contains no identity.key, so it contains no run`)
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
    // Opening a round removes the oldest manifest, so manifests are copied first. Newer ones than the log names do no harm.
    await copier.copyFolder(MANIFESTS, () => true)
    const { state, judged } = await writeEvents(draft, log, events, copier)
    await copyJobs(copier, dataDir, state)
    // A later version may be published again after a restore, with another manifest.
    const newest = state.current?.version ?? -1
    await copier.copyFolder(VERSIONS, (name) => (versionIn(name) ?? Number.POSITIVE_INFINITY) <= newest)
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

/** Writes the log up to a place. @returns  the state there, and the hashes of all bodies with verdicts */
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
      if (typeof link === 'string') throw new BackupError('damaged', `event ${end.count} of the log is ${link}`)
      state.apply(link.event)
      if (link.event.type === 'judged') judged.add(link.event.bodySha256)
      end = link.head
      await file.write(`${record}\n`)
    }
    if (end.hash !== cut.hash) throw new BackupError('damaged', `the log returned ${end.count} of ${cut.count} events`)
    await copier.add({ path: EVENTS_FILE, ...(await file.finish()) })
    return { state, judged }
  } finally {
    await file.close()
  }
}

/**
 * Copies the steps up to the published one, and the pending batch with its step, if the trainer has made it. A later step would
 * not belong to the log, and the trainer resumes from the newest step.
 */
async function copyJobs(copier: Copier, dataDir: string, state: RunState): Promise<void> {
  const published = state.current?.step ?? 0
  const pending = state.pendingBatch
  const steps = await stepsIn(dataDir)
  // The newest first, because the trainer may remove old ones in the meantime.
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
  /** Copies a file of the data folder, if it exists. */
  copy(path: string): Promise<void>
  copyAs(source: string, path: string): Promise<void>
  /** Copies the files below a folder of the data folder, except files that vanish in the meantime. */
  copyFolder(path: string, wanted: (name: string) => boolean): Promise<void>
  /** Copies a folder of the data folder. @throws BackupError `not_whole` when a file of it vanishes */
  copyWhole(path: string): Promise<void>
  /** Lists a file that was already written. */
  add(file: ListedFile): Promise<void>
  /** @throws BackupError `not_whole` when one of these files was not copied */
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
  /** @returns  whether the file exists */
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
      // Drafts may vanish at any time.
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
          throw new BackupError('not_whole', `${join(dataDir, gone)} was removed during the copy`)
        },
      ),
    copy: async (path) => void (await copy(path)),
    async check(needed) {
      for (const path of needed)
        if (!(await exists(join(draft, DATA_FOLDER, path))))
          throw new BackupError('not_whole', `${join(dataDir, path)} is missing, but the run needs it`)
    },
    total: () => ({ count, bytes }),
  }
}

/** Returns null if the file does not exist. */
async function orNone<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}

const exists = async (path: string): Promise<boolean> => (await orNone(stat(path))) !== null
