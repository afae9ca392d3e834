import { copyFile as copy, cp, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { PRIVATE_FOLDER } from '../../common/control/index.js'
import { exists } from '../jobs/job-directory.js'
import { openRecordStore, repairRecordStore, writeEventLog } from '../ledger/event-log.js'
import type { RunEvent } from '../ledger/events.js'
import {
  type ChainFault,
  chain,
  followChain,
  type Link,
  LOG_START,
  type LogHead,
  storedEvent,
} from '../ledger/log-chain.js'
import { headFileOf, openHeadFile, syncFolderOf } from '../ledger/log-head.js'
import { RunReducer } from '../ledger/run-reducer.js'
import type { RunState } from '../ledger/run-state.js'
import { StoreError } from '../ledger/store-error.js'
import { dataFolderOf } from '../settings/data-folder.js'
import { BackupError } from './backup-error.js'
import { STEPS, stepFolder } from './needed-files.js'

/** A log whose end cannot be used. */
export interface LogDamage {
  /** End of the longest intact prefix. */
  readonly intact: LogHead
  /** State of the run there. */
  readonly state: RunState
  /** Number of events that the log had, as far as is known. */
  readonly count: number
  /** Fault of the first lost event; null: the log is intact. */
  readonly why: string | null
  /** Lost events that can still be read, although they prove nothing. */
  readonly readable: readonly RunEvent[]
}

const DRAFT = 'log.repaired'

/**
 * Finds the longest prefix of a run's log in which every event follows the one before it. Changes nothing.
 * @throws StoreError `in_use` when a coordinator runs, `newer_version`; BackupError `no_run`
 */
export async function examineLog(dataDir: string, signal: AbortSignal): Promise<LogDamage> {
  const { log } = dataFolderOf(dataDir)
  await finishRepair(dataDir)
  if (!(await exists(log))) throw new BackupError('no_run', `${log} does not exist: restore a backup`)
  return withRecords(log, async (records) => {
    const named = await openHeadFile(headFileOf(log)).then(
      ({ newest }) => newest,
      () => null,
    )
    const state = new RunReducer()
    const readable: RunEvent[] = []
    let intact = LOG_START
    let why: string | null = null
    let last = -1
    for await (const [place, record] of records) {
      signal.throwIfAborted()
      last = place
      const isNext: boolean = why === null && place === intact.count
      const link: Link | ChainFault = isNext ? followChain(intact, record) : 'another'
      if (typeof link !== 'string') {
        state.apply(link.event)
        intact = link.head
        continue
      }
      why ??= isNext ? `event ${place} is ${FAULTS[link]}` : `event ${intact.count} is missing`
      const event = storedEvent(record)
      if (event) readable.push(event)
    }
    const count = Math.max(last + 1, named?.count ?? 0)
    if (why === null && named !== null && named.count > intact.count) why = `event ${intact.count} is missing`
    if (why === null && named === null && intact.count > 0)
      why = `${headFileOf(log)} is missing or damaged, so nothing shows whether event ${intact.count} existed`
    return { intact, state, count, why, readable }
  })
}

const FAULTS = { damaged: 'damaged', another: 'not the one that followed', unknown: 'of an unknown type' } as const

/**
 * Replaces the log by its intact prefix, with an event that states the loss. Moves the old log, and steps of the trainer that the prefix does not
 * contain, to a new folder `damaged-…`.
 * @returns  that folder
 */
export async function repairLog(dataDir: string, damage: LogDamage, now: Date, signal: AbortSignal): Promise<string> {
  const folder = dataFolderOf(dataDir)
  const aside = join(dataDir, `damaged-${now.toISOString().replaceAll(/[:.]/g, '-')}`)
  const draft = join(dataDir, DRAFT)
  for (const path of [draft, headFileOf(draft)]) await rm(path, { recursive: true, force: true })
  await withRecords(folder.log, async (records) => {
    async function* kept(): AsyncGenerator<string> {
      for await (const [place, record] of records) {
        signal.throwIfAborted()
        if (place >= damage.intact.count) break
        yield record
      }
      const lost = damage.count - damage.intact.count
      yield chain(damage.intact, { type: 'repaired', atMs: now.getTime(), lost }).record
    }
    await writeEventLog(draft, kept())
  })
  await mkdir(join(aside, 'steps'), { recursive: true, mode: PRIVATE_FOLDER })
  // A start fails at each of these points, because the old head names another log, until the last rename.
  const head = headFileOf(folder.log)
  if (await exists(head)) await copy(head, join(aside, 'log.head'))
  await rename(folder.log, join(aside, 'log'))
  await setStepsAside(dataDir, damage.state, join(aside, 'steps'))
  if (await exists(folder.checkpoint)) await rename(folder.checkpoint, join(aside, 'log.checkpoint'))
  await finishRepair(dataDir)
  return aside
}

/** Gives the repaired log its name, also after a repair that was interrupted between its last steps. */
async function finishRepair(dataDir: string): Promise<void> {
  const { log } = dataFolderOf(dataDir)
  const draft = join(dataDir, DRAFT)
  if (!(await exists(headFileOf(draft)))) return
  if (await exists(log)) {
    // The draft has its name already, or was never finished.
    if (await exists(draft)) return
  } else await rename(draft, log)
  await rename(headFileOf(draft), headFileOf(log))
  await syncFolderOf(log)
}

/** Moves the steps that were made after the intact prefix: the trainer resumes from the newest one. */
async function setStepsAside(dataDir: string, { current, pendingBatch }: RunState, aside: string): Promise<void> {
  const newest = pendingBatch?.step ?? current?.step ?? -1
  for (const name of await readdir(join(dataDir, STEPS)).catch(() => [] as string[])) {
    const step = /^step-(\d+)$/.exec(name)?.[1]
    if (step !== undefined && Number(step) > newest)
      await rename(join(dataDir, stepFolder(Number(step))), join(aside, name))
  }
}

/** Reads the records of a log. A database that cannot be opened is repaired in a copy. */
async function withRecords<T>(
  log: string,
  read: (records: AsyncIterable<readonly [place: number, record: string]>) => Promise<T>,
): Promise<T> {
  const all = [0, Number.MAX_SAFE_INTEGER] as const
  const opened = await openRecordStore(log).catch((error: unknown) => {
    if (error instanceof StoreError && error.code === 'unreadable') return null
    throw error
  })
  if (opened)
    try {
      return await read(opened.records(...all))
    } finally {
      await opened.close()
    }
  const temporary = await mkdtemp(`${log}.copy-`)
  try {
    await cp(log, temporary, { recursive: true })
    await repairRecordStore(temporary)
    const store = await openRecordStore(temporary)
    try {
      return await read(store.records(...all))
    } finally {
      await store.close()
    }
  } finally {
    await rm(temporary, { recursive: true, force: true })
  }
}
