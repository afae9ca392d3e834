import { dirname } from 'node:path'
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
   * All events so far, oldest first.
   * @param from  leaves out those before this place of the log
   * @throws StoreError `unreadable` or `tampered` at one that is not as it was written, `newer_version`
   */
  replay(from?: LogHead): AsyncIterable<RunEvent>
  close(): Promise<void>
}

/** An event log whose every record covers the one before it. */
export interface ChainedLog extends EventLog {
  /** What is on disk. */
  readonly end: LogHead
  /** Whether the log has this place: so many events, of which the last has this hash. */
  has(place: LogHead): Promise<boolean>
  /** Checked records as they are stored, oldest first: those before the place `until`, by default all so far. */
  records(until?: number): AsyncIterable<string>
}

/** What a log needs of a database: records at consecutive places, from 0 on. */
export interface RecordStore {
  /** One more than the highest place that holds a record. */
  count(): Promise<number>
  /** Puts records at the place `first` and behind it, all or none of them. Resolves when they are on disk. */
  append(first: number, records: readonly string[]): Promise<void>
  /** Records with their places, from `from` on and before `until`; places may be missing. */
  records(from: number, until: number): AsyncIterable<readonly [place: number, record: string]>
  close(): Promise<void>
}

/** The head may be behind the log by this many events, and no more: the next ones wait. */
export const MOST_BEHIND = 64

/**
 * An event log over any store, with a chain and a head.
 *
 * Every record holds a hash over the hash before it and its own event, so that no event can be changed, left out or put
 * in between without every later hash being another. What a chain alone cannot show is that its end is gone. So the
 * count and the hash of the newest event are kept in a file of their own, the head, and a log that falls short of it is
 * refused (`truncated`), as is one whose event at that place is another (`tampered`) and one with events and no head
 * (`headless`).
 *
 * The head is written after the event is on disk, so a process that is killed between the two leaves a log that is ahead of
 * its head; that is as it should be, and the head follows when the log is opened. Heads are written one at a time, each for
 * all events since, while further events are appended: measured, the head is up to 5 events behind at full speed and up to
 * date when nothing happens, and `MOST_BEHIND` is never exceeded. So after a kill at the worst instant the loss of the last
 * `MOST_BEHIND` events would go unnoticed, and the loss of any before them would not.
 *
 * Once it is open, the log owns the store and the head file.
 * @param name  of the log, for messages: its folder
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
  /** Brings the head up to the end of the log; null: it is there, or cannot be. */
  let following: Promise<void> | null = null
  const behind = (): number => end.count - headFile.newest!.count
  const follow = async (): Promise<void> => {
    try {
      while (behind() > 0) await headFile.write(end)
    } catch (cause) {
      // Going on, the log would grow without anything that vouches for it.
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
      // On a full disk LevelDB (level 10.0.0) leaves half a record, and writes on behind it when there is room again; the
      // next start cuts the log off at that half. So nothing may follow it.
      broken = fail(name, cause)
      throw broken
    }
    end = head
    following ??= follow()
  }
  /** Each event covers the one before it, so they go to disk one after the other. */
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
    async has({ count, hash }) {
      if (count === 0 || count > end.count) return false
      for await (const [, record] of store.records(count - 1, count)) return namedHash(record) === hash
      return false
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

/** The end of a log that reaches at least as far as its head. */
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
      `${name} holds ${count} events, and ${path}, which says how many there must be, is missing. ${goOn(name)}`,
    )
  }
  if (count < newest.count) throw tooShort(name, `it holds ${count} events`, count, newest, path)
  let end = LOG_START
  if (newest.count > 0) {
    let there: string | undefined
    for await (const [, record] of store.records(newest.count - 1, newest.count)) there = namedHash(record)
    if (there !== newest.hash)
      throw new StoreError(
        'tampered',
        `${name}: the event ${newest.count - 1} is not the one that ${path} vouches for. ${goOn(name)}`,
      )
    end = newest
  }
  for await (const { head } of links(store, end, count, name)) end = head
  return end
}

/**
 * The records behind a place, each checked against the one before it. Going on without an event, or with another one, would
 * count credit and train groups that the log does not vouch for.
 */
async function* links(store: RecordStore, from: LogHead, until: number, name: string): AsyncGenerator<Link> {
  let before = from
  for await (const [place, record] of store.records(from.count, until)) {
    // LevelDB leaves out what is damaged in its own files without a word.
    if (place !== before.count) throw missing(name, place)
    const link = followChain(before, record)
    if (link === 'unknown') {
      // Whoever begins to read further on has not come past the event that says who writes.
      for await (const [, earlier] of store.records(0, place)) checkVersionIn(earlier)
    }
    if (link === 'damaged' || link === 'unknown')
      throw new StoreError('unreadable', `${name}: the event ${place} is damaged. ${goOn(name)}`)
    if (link === 'another')
      throw new StoreError(
        'tampered',
        `${name}: the event ${place} is not what was written behind those before it. ${goOn(name)}`,
      )
    yield link
    before = link.head
  }
  if (before.count < until) throw missing(name, until)
}

const missing = (name: string, place: number): StoreError =>
  new StoreError('unreadable', `${name}: events before ${place} are missing. ${goOn(name)}`)

function tooShort(name: string, what: string, count: number, head: LogHead, headPath: string): StoreError {
  const lost = head.count - count
  const which = lost === 1 ? `the event ${count} is` : `the events ${count} to ${head.count - 1} (${lost}) are`
  return new StoreError(
    'truncated',
    `${name}: ${what}, and ${headPath} vouches for ${head.count}: ${which} missing. ${goOn(name)}`,
  )
}

export const logIsGone = (name: string, head: LogHead, headPath: string): StoreError =>
  tooShort(name, 'the folder is gone', 0, head, headPath)

/** What the operator can do. A coordinator that went on by itself would judge, pay and train again what it has forgotten. */
const goOn = (name: string): string =>
  `The run does not go on by itself from there. Keep ${dirname(name)} as it is, and put a backup into an empty folder: prove-coordinator restore <backup> --data-dir <folder>. (Backups are made with: prove-coordinator backup <folder> --config run.yaml.)`

const olderVersion = (name: string): StoreError =>
  new StoreError(
    'older_version',
    `${name} was written by an older version of this program, whose logs have no chain. Finish that run with that version, or begin a new one in another folder.`,
  )
