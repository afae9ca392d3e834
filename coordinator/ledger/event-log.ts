import { stat } from 'node:fs/promises'
import { Level } from 'level'
import { type ChainedLog, logIsGone, openChainedLog, type RecordStore } from './chained-log.js'
import { followChain, LOG_START, type LogHead } from './log-chain.js'
import { headFileOf, openHeadFile } from './log-head.js'
import { StoreError } from './store-error.js'

export type { ChainedLog, EventLog } from './chained-log.js'
export { StoreError } from './store-error.js'

/** Log keys sort as text, so the sequence number is padded to the width of the largest safe integer. */
const key = (sequence: number): string => String(sequence).padStart(16, '0')
const KEY = /^\d{16}$/

/**
 * Opens the log in a folder, which is created if necessary, with its head next to the folder.
 * @throws StoreError `in_use` when another process holds the folder, `truncated`, `tampered`, `headless`, `older_version`,
 *   `newer_version`, `unreadable`, `unwritable`
 */
export async function openEventLog(directory: string): Promise<ChainedLog> {
  // LevelDB would create an empty log.
  if (!(await exists(directory))) {
    const { newest, path } = await openHeadFile(headFileOf(directory))
    if (newest && newest.count > 0) throw logIsGone(directory, newest, path)
  }
  const store = await openRecordStore(directory)
  try {
    const headFile = await openHeadFile(headFileOf(directory))
    return await openChainedLog(store, headFile, directory)
  } catch (error) {
    await store.close()
    throw error
  }
}

/**
 * Writes a complete log into a folder without one, from records of another log.
 * @returns  its end
 * @throws StoreError `tampered` at a record that does not follow the previous one, `in_use`, `unwritable`
 */
export async function writeEventLog(directory: string, records: AsyncIterable<string>): Promise<LogHead> {
  const store = await openRecordStore(directory)
  const headFile = await openHeadFile(headFileOf(directory))
  try {
    if (headFile.newest !== null || (await store.count()) > 0)
      throw new StoreError('in_use', `${directory} contains a log already`)
    let end = LOG_START
    let group: string[] = []
    const flush = async (): Promise<void> => {
      await store.append(end.count - group.length, group)
      group = []
    }
    for await (const record of records) {
      const link = followChain(end, record)
      if (typeof link === 'string')
        throw new StoreError('tampered', `event ${end.count} does not follow the previous one`)
      end = link.head
      if (group.push(record) === GROUP) await flush()
    }
    await flush()
    await headFile.write(end)
    return end
  } finally {
    await headFile.close()
    await store.close()
  }
}

/** Records per synced write, where the order on disk does not matter. */
const GROUP = 256

/** Opens the database of a log. @throws StoreError `in_use` when another process has opened the directory, `unreadable` */
export async function openRecordStore(directory: string): Promise<RecordStore> {
  const db = new Level<string, string>(directory, { valueEncoding: 'utf8' })
  try {
    await db.open()
  } catch (error) {
    const cause = error instanceof Error ? (error.cause ?? error) : error
    if (cause instanceof Error && 'code' in cause && cause.code === 'LEVEL_LOCKED') {
      throw new StoreError('in_use', `another process uses ${directory}: stop it, or use another directory`, { cause })
    }
    throw new StoreError('unreadable', `${directory}: ${(cause as Error).message}`, { cause })
  }
  return {
    async count() {
      const [last] = await db.keys({ reverse: true, limit: 1 }).all()
      if (last === undefined) return 0
      if (!KEY.test(last)) {
        const what = JSON.stringify(last.slice(0, 40))
        throw new StoreError('unreadable', `${directory} is no event log: it contains the key ${what}`)
      }
      return Number(last) + 1
    },
    append: (first, records) =>
      db.batch(
        records.map((value, i) => ({ type: 'put', key: key(first + i), value })),
        { sync: true },
      ),
    async *records(from, until) {
      for await (const [place, record] of db.iterator({ gte: key(from), lt: key(until) })) yield [Number(place), record]
    },
    close: () => db.close(),
  }
}

/**
 * Rebuilds the index of a database from its files. Records of damaged files may be lost.
 * @throws StoreError `unreadable`
 */
export async function repairRecordStore(directory: string): Promise<void> {
  const { repair } = Level as unknown as { repair(location: string): Promise<void> }
  await repair.call(Level, directory).catch((cause: Error) => {
    throw new StoreError('unreadable', `${directory}: ${cause.message}`, { cause })
  })
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )
