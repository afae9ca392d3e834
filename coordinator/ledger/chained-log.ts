import { dirname, join } from 'node:path'
import type { RunEvent } from './events.js'
import {
  chain,
  checkVersionIn,
  followChain,
  isUnchained,
  type Link,
  LOG_START,
  type LogHead,
  namedHash,
} from './log-chain.js'
import type { HeadFile } from './log-head.js'
import { StoreError } from './store-error.js'

/** The append-only event log. One process per directory. */
export interface EventLog {
  /**
   * Resolves when the events are on disk, all or none of them in one synced write. Events get the order in which they were
   * appended.
   * @param events  at most `MOST_BEHIND`
   * @throws StoreError `unwritable`, and from then on for every further event
   */
  append(...events: readonly RunEvent[]): Promise<void>
  /**
   * Returns all events so far, oldest first.
   * @param from  place of the log to begin at
   * @param from  leaves out those before this place of the log
   * @throws StoreError `unreadable` or `tampered` at a changed record, `newer_version`
   */
  replay(from?: LogHead): AsyncIterable<RunEvent>
  /** End of the log on disk. */
  readonly end: LogHead
  /** Returns the end that the log had after its first `count` events; null: it never had as many. */
  headAt(count: number): Promise<LogHead | null>
  close(): Promise<void>
}

/** An event log in which the hash of every record covers the record before it. */
export interface ChainedLog extends EventLog {
  /** Whether the log had this end at some time: that number of events, and this hash of the last one. */
  has(place: LogHead): Promise<boolean>
  /** Returns checked records as they are stored, oldest first, up to the place `until`; by default all. */
  records(until?: number): AsyncIterable<string>
}

/** Database of a log: records at consecutive places, from 0 on. */
export interface RecordStore {
  /** Returns one more than the highest place with a record. */
  count(): Promise<number>
  /** Stores records at the place `first` and the following ones, all or none of them. Resolves when they are on disk. */
  append(first: number, records: readonly string[]): Promise<void>
  /** Returns records with their places, from `from` on and before `until`. Places may be missing. */
  records(from: number, until: number): AsyncIterable<readonly [place: number, record: string]>
  close(): Promise<void>
}

/** Most events by which the head may be behind the log. Further events wait. */
export const MOST_BEHIND = 64

/**
 * Opens an event log over any store, with a hash chain and a head.
 *
 * The hash of every record covers the hash before it and its own event. So no event can be changed, removed or inserted
 * without changing every later hash. A chain alone cannot show that its end is missing. So the count and the hash of the
 * newest event are also in a separate file, the head. A log that is shorter than its head cannot be opened (`truncated`), nor can a
 * log with another event at that place (`tampered`). A log with events but without a head cannot be opened either (`headless`).
 *
 * The head is written after the event is on disk. So a process that is killed between the two leaves a log that is ahead of
 * its head. That is normal, and the head is updated when the log is opened. Heads are written one at a time, each for
 * all events since the last head, while further events are appended. Measured: the head is up to 5 events behind at full speed and
 * up to date when nothing happens, and `MOST_BEHIND` is never exceeded. So a kill at the worst moment could hide the loss of the
 * last `MOST_BEHIND` events, but not the loss of any event before them.
 *
 * The open log owns the store and the head file.
 * @param name  folder of the log, for messages
 * @throws StoreError `truncated`, `tampered`, `headless`, `older_version`, `newer_version`, `unreadable`, `unwritable`
 */
export async function openChainedLog(store: RecordStore, headFile: HeadFile, name: string): Promise<ChainedLog> {
  let end = await findEnd(store, headFile, name)
  let broken: StoreError | null = null
  const fail = (path: string, cause: unknown): StoreError =>
    new StoreError('unwritable', `${path}: ${(cause as Error).message}`, { cause })
  if (headFile.newest?.count !== end.count) {
    await headFile.write(end).catch(async (cause: unknown) => {
      await headFile.close()
      throw fail(headFile.path, cause)
    })
  }
  /** Write of the head that is in progress; null: the head is up to date, or cannot be written. */
  let following: Promise<void> | null = null
  const behind = (): number => end.count - headFile.newest!.count
  const follow = async (): Promise<void> => {
    try {
      while (behind() > 0) await headFile.write(end)
    } catch (cause) {
      // Further events would not be covered by the head.
      broken ??= fail(headFile.path, cause)
    } finally {
      following = null
    }
  }
  const append = async (events: readonly RunEvent[]): Promise<void> => {
    if (behind() + events.length > MOST_BEHIND) await following
    if (broken) throw broken
    let head = end
    const records = events.map((event) => {
      const link = chain(head, event)
      head = link.head
      return link.record
    })
    try {
      await store.append(end.count, records)
    } catch (cause) {
      // On a full disk LevelDB (level 10.0.0) leaves half a record, and continues behind it when there is space again. The
      // next start cuts the log off at that half, so nothing may follow it.
      broken = fail(name, cause)
      throw broken
    }
    end = head
    following ??= follow()
  }
  const headAt = async (count: number): Promise<LogHead | null> => {
    if (count === 0) return LOG_START
    if (count > end.count) return null
    for await (const [, record] of store.records(count - 1, count)) {
      const hash = namedHash(record)
      return hash === undefined ? null : { count, hash }
    }
    return null
  }
  /** Each event covers the previous one, so events are written one after the other. */
  let last: Promise<void> = Promise.resolve()
  return {
    get end() {
      return end
    },
    append(...events) {
      const appended = last.then(() => append(events))
      last = appended.catch(() => undefined)
      return appended
    },
    headAt,
    async has({ count, hash }) {
      return count > 0 && (await headAt(count))?.hash === hash
    },
    async *replay(from = LOG_START) {
      for await (const { event } of links(store, from, end.count, name)) yield event
    },
    async *records(until = end.count) {
      for await (const { record } of links(store, LOG_START, until, name)) yield record
    },
    async close() {
      await last
      await following
      await headFile.close()
      await store.close()
    },
  }
}

/** Finds the end of a log, which must not be before its head. */
async function findEnd(store: RecordStore, { newest, path }: HeadFile, name: string): Promise<LogHead> {
  const count = await store.count()
  if (newest === null) {
    if (count === 0) return LOG_START
    for await (const [, record] of store.records(0, count)) {
      if (isUnchained(record)) throw olderVersion(name)
      break
    }
    throw new StoreError(
      'headless',
      `${name} contains ${count} events, but ${path}, which says how many there must be, is missing. ${whatToDo(name)}`,
    )
  }
  if (count < newest.count) throw tooShort(name, `it contains ${count} events`, count, newest, path)
  let end = LOG_START
  if (newest.count > 0) {
    let found: string | undefined
    for await (const [, record] of store.records(newest.count - 1, newest.count)) found = namedHash(record)
    if (found !== newest.hash)
      throw new StoreError(
        'tampered',
        `${name}: event ${newest.count - 1} is not the one that ${path} names. ${whatToDo(name)}`,
      )
    end = newest
  }
  for await (const { head } of links(store, end, count, name)) end = head
  return end
}

/**
 * Reads the records from a place on and checks each against the previous one. Skipping a missing or changed event would count
 * credit and train groups that the log does not prove.
 */
async function* links(store: RecordStore, from: LogHead, until: number, name: string): AsyncGenerator<Link> {
  let before = from
  for await (const [place, record] of store.records(from.count, until)) {
    // LevelDB silently skips records that are damaged in its own files.
    if (place !== before.count) throw missing(name, place)
    const link = followChain(before, record)
    if (link === 'unknown') {
      // A reader that begins later has not seen the event that says which program version writes.
      for await (const [, earlier] of store.records(0, place)) checkVersionIn(earlier)
    }
    if (link === 'damaged' || link === 'unknown')
      throw new StoreError('unreadable', `${name}: event ${place} is damaged. ${whatToDo(name)}`)
    if (link === 'another')
      throw new StoreError('tampered', `${name}: event ${place} does not follow the previous one. ${whatToDo(name)}`)
    yield link
    before = link.head
  }
  if (before.count < until) throw missing(name, until)
}

const missing = (name: string, place: number): StoreError =>
  new StoreError('unreadable', `${name}: events before ${place} are missing. ${whatToDo(name)}`)

function tooShort(name: string, what: string, count: number, head: LogHead, headPath: string): StoreError {
  const lost = head.count - count
  const which = lost === 1 ? `event ${count} is` : `events ${count} to ${head.count - 1} (${lost}) are`
  return new StoreError(
    'truncated',
    `${name}: ${what}, but ${headPath} names ${head.count}: ${which} missing. ${whatToDo(name)}`,
  )
}

export const logIsGone = (name: string, head: LogHead, headPath: string): StoreError =>
  tooShort(name, 'the folder is gone', 0, head, headPath)

/** Returns instructions for the operator. Continuing with a shorter log would verify, pay and train forgotten groups again. */
const whatToDo = (name: string): string =>
  `The run cannot continue from there. Keep ${dirname(name)} as it is, and restore the newest backup of ${join(dirname(name), 'backups')} into an empty folder: prove-coordinator restore <backup> --data-dir <folder>. Without a backup, prove-coordinator repair --data-dir ${dirname(name)} shows what a shorter log would lose.`

const olderVersion = (name: string): StoreError =>
  new StoreError(
    'older_version',
    `${name} was written by an older version of this program, whose logs have no hash chain. Finish the run with that version, or begin a new run in another folder.`,
  )
