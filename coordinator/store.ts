import { Level } from 'level'
import type { RunEvent } from './events.js'

export class StoreError extends Error {
  override readonly name = 'StoreError'
  constructor(
    readonly code: 'in_use' | 'unreadable',
    message: string,
    options?: ErrorOptions,
  ) {
    super(`${code}: ${message}`, options)
  }
}

/** The append-only event log. One process per directory. */
export interface EventLog {
  /** Resolves when the event is on disk. Events get the order in which they were appended. */
  append(event: RunEvent): Promise<void>
  /** All events so far, oldest first. */
  replay(): AsyncIterable<RunEvent>
  close(): Promise<void>
}

/** Log keys sort as text, so the sequence number is padded to the width of the largest safe integer. */
const key = (sequence: number): string => String(sequence).padStart(16, '0')

/** @throws StoreError `in_use` when another process holds the directory, `unreadable` */
export async function openEventLog(directory: string): Promise<EventLog> {
  const db = new Level<string, RunEvent>(directory, { valueEncoding: 'json' })
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
  let next = last === undefined ? 0 : Number(last) + 1
  return {
    append: (event) => db.put(key(next++), event, { sync: true }),
    replay: () => db.values(),
    close: () => db.close(),
  }
}
