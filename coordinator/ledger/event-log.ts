import { Level } from 'level'
import { parseEvent, type RunEvent } from './events.js'

export class StoreError extends Error {
  override readonly name = 'StoreError'
  constructor(
    readonly code: 'in_use' | 'unreadable' | 'unwritable',
    message: string,
    options?: ErrorOptions,
  ) {
    super(`${code}: ${message}`, options)
  }
}

/** The append-only event log. One process per directory. */
export interface EventLog {
  /**
   * Resolves when the event is on disk. Events get the order in which they were appended.
   * @throws StoreError `unwritable`, and from then on for every further event
   */
  append(event: RunEvent): Promise<void>
  /** All events so far, oldest first. @throws StoreError `unreadable` at one that is damaged */
  replay(): AsyncIterable<RunEvent>
  close(): Promise<void>
}

/** Log keys sort as text, so the sequence number is padded to the width of the largest safe integer. */
const key = (sequence: number): string => String(sequence).padStart(16, '0')

/** @throws StoreError `in_use` when another process holds the directory, `unreadable` */
export async function openEventLog(directory: string): Promise<EventLog> {
  const db = new Level<string, unknown>(directory, { valueEncoding: 'json' })
  try {
    await db.open()
  } catch (error) {
    const cause = error instanceof Error ? (error.cause ?? error) : error
    if (cause instanceof Error && 'code' in cause && cause.code === 'LEVEL_LOCKED') {
      throw new StoreError(
        'in_use',
        `another process works with ${directory}; stop it, or give this one another directory`,
        { cause },
      )
    }
    throw new StoreError('unreadable', `${directory}: ${(cause as Error).message}`, { cause })
  }
  const [last] = await db.keys({ reverse: true, limit: 1 }).all()
  if (last !== undefined && !/^\d{16}$/.test(last)) {
    await db.close()
    throw new StoreError(
      'unreadable',
      `${directory} is no event log: it holds the key ${JSON.stringify(last.slice(0, 40))}`,
    )
  }
  let next = last === undefined ? 0 : Number(last) + 1
  let broken: StoreError | null = null
  return {
    async append(event) {
      if (broken) throw broken
      // Once on disk it would keep the run from ever starting again.
      if (!parseEvent(event)) throw new TypeError(`an event that could not be read back: ${JSON.stringify(event)}`)
      try {
        await db.put(key(next++), event, { sync: true })
      } catch (cause) {
        // On a full disk LevelDB (level 10.0.0) leaves half a record, and writes on behind it when there is room again; the
        // next start cuts the log off at that half. So nothing may follow it.
        broken = new StoreError('unwritable', `${directory}: ${(cause as Error).message}`, { cause })
        throw broken
      }
    },
    replay: () => replay(db, directory),
    close: () => db.close(),
  }
}

/** Going on without an event, or with half of one, would count credit and train groups that the log does not vouch for. */
async function* replay(db: Level<string, unknown>, directory: string): AsyncGenerator<RunEvent> {
  let at = 'the first event'
  try {
    let expected = 0
    for await (const [place, value] of db.iterator()) {
      // LevelDB leaves out what is damaged in its own files without a word.
      if (place !== key(expected++))
        throw new StoreError('unreadable', `${directory}: events before ${place} are missing`)
      const event = parseEvent(value)
      if (!event) throw new StoreError('unreadable', `${directory}: the event ${place} is damaged`)
      at = `the event after ${place}`
      yield event
    }
  } catch (cause) {
    if (cause instanceof StoreError || !isDecodeError(cause)) throw cause
    throw new StoreError('unreadable', `${directory}: ${at} is damaged`, { cause })
  }
}

const isDecodeError = (cause: unknown): boolean =>
  cause instanceof Error && 'code' in cause && cause.code === 'LEVEL_DECODE_ERROR'
