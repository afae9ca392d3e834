import { quoted, type Row } from './row-text.js'
import { deepFreeze, type SeedTable } from './seed-table.js'

export type { Row } from './row-text.js'

/** A table, read-only. Rows are in seed order, then in the order of insertion. */
export interface TableView<R> {
  get(key: string): R | undefined
  has(key: string): boolean
  /** Returns the rows for which `where` is true, or all rows. It reads every row: prefer `by` where a field decides. */
  list(where?: (row: R) => boolean): R[]
  /** Returns the rows whose `field` equals `value`, through an index that all sessions of a seed share. */
  by<K extends keyof R>(field: K, value: R[K]): readonly R[]
  /** Returns the first row for which `where` is true. */
  find(where: (row: R) => boolean): R | undefined
  count(where?: (row: R) => boolean): number
  /** Returns the keys of the rows that the session has written, and of seed rows that it has removed. */
  writtenKeys(): string[]
}

/** A table as a tool reads and writes it in its transaction. */
export interface Table<R> extends TableView<R> {
  /** Adds a row. @throws Error if the key exists: the environment must check before, so this is its defect */
  insert(row: R): R
  /** Replaces fields of a row. @throws Error if there is no such row or the patch changes the key */
  update(key: string, patch: Partial<R>): R
  /** Removes a row. @throws Error if there is no such row */
  remove(key: string): void
}

const NOTHING_WRITTEN: number[] = []

interface Write {
  readonly table: OverlayTable
  readonly position: number
  /** The row before the write, or `undefined` for the first write. */
  readonly before: Row | null | undefined
  readonly previous: Write | undefined
}

/** Writes of a transaction, the latest first, for undo. */
export class UndoLog {
  #latest: Write | undefined

  record(table: OverlayTable, position: number, before: Row | null | undefined): void {
    this.#latest = { table, position, before, previous: this.#latest }
  }

  commit(): void {
    this.#latest = undefined
  }

  rollback(): void {
    for (let write = this.#latest; write; write = write.previous) write.table.restore(write.position, write.before)
    this.#latest = undefined
  }
}

/**
 * One table of a session. It reads the shared, frozen list of seed rows until its first write, and then its own copy of the list. Copying
 * some hundred references once costs less than a lookup in a map of changes on every read. Writes go into the session's undo log, so that a
 * call that throws changes nothing. Copying the rows themselves per call (immer, structuredClone) measured two to three orders of magnitude
 * slower.
 */
export class OverlayTable implements Table<Row> {
  readonly #seed: SeedTable
  readonly #log: UndoLog
  /** Rows in seed order, then those of other keys in the order of their first writing; `null` where one was removed. */
  #rows: (Row | null)[]
  /** Positions that were ever written, in that order. Only an undo takes one back. */
  #written: number[]
  /** Positions of the keys that the seed does not have. */
  #added: Map<string, number> | undefined
  /** How many rows are `null`. */
  #removed: number
  /** Whether no seed state or fork shares the lists above. Shared lists are copied before a write. */
  #owned = false
  /** Result of `changesText` since the last write. */
  #changesText: string | undefined

  constructor(seed: SeedTable, log: UndoLog, from?: OverlayTable) {
    this.#seed = seed
    this.#log = log
    this.#rows = from ? from.#rows : (seed.rows as Row[])
    this.#written = from ? from.#written : NOTHING_WRITTEN
    this.#added = from ? from.#added : undefined
    this.#removed = from ? from.#removed : 0
    this.#changesText = from ? from.#changesText : ''
  }

  get(key: string): Row | undefined {
    const position = this.#position(key)
    return position === undefined ? undefined : (this.#rows[position] ?? undefined)
  }

  has(key: string): boolean {
    return this.get(key) !== undefined
  }

  list(where?: (row: Row) => boolean): Row[] {
    if (!where && this.#removed === 0) return this.#rows.slice() as Row[]
    const rows: Row[] = []
    for (const row of this.#rows) if (row !== null && (!where || where(row))) rows.push(row)
    return rows
  }

  by(field: string, value: unknown): readonly Row[] {
    const seeded = this.#seed.by(field, value)
    let changed = false
    let positions = seeded.positions
    for (const position of this.#written) {
      const before = this.#seed.rows[position]
      if (before !== undefined && before[field] === value) changed = true
      else if (this.#rows[position]?.[field] === value) positions = [...positions, position]
    }
    if (positions !== seeded.positions) positions = positions.toSorted((a, b) => a - b)
    else if (!changed) return seeded.rows
    const rows: Row[] = []
    for (const position of positions) {
      const row = this.#rows[position]
      if (row && row[field] === value) rows.push(row)
    }
    return rows
  }

  find(where: (row: Row) => boolean): Row | undefined {
    for (const row of this.#rows) if (row !== null && where(row)) return row
    return undefined
  }

  count(where?: (row: Row) => boolean): number {
    if (!where) return this.#rows.length - this.#removed
    let count = 0
    for (const row of this.#rows) if (row !== null && where(row)) count++
    return count
  }

  writtenKeys(): string[] {
    return this.#written.flatMap((position) => {
      const row = this.#rows[position] ?? this.#seed.rows[position]
      return row ? [String(row[this.#seed.keyField])] : []
    })
  }

  insert(row: Row): Row {
    const key = String(row[this.#seed.keyField])
    const position = this.#position(key)
    if (position !== undefined && this.#rows[position]) throw new Error(`insert: key ${key} is taken`)
    deepFreeze(row)
    this.#write(position ?? this.#rows.length, key, row)
    return row
  }

  update(key: string, patch: Partial<Row>): Row {
    const position = this.#position(key)
    const row = position === undefined ? undefined : this.#rows[position]
    if (position === undefined || !row) throw new Error(`update: no row ${key}`)
    const next = { ...row, ...patch }
    const { keyField } = this.#seed
    if (next[keyField] !== row[keyField]) throw new Error(`update: the key of ${key} cannot change`)
    // What is not in the patch was frozen with the old row.
    for (const field in patch) deepFreeze(patch[field])
    this.#write(position, key, Object.freeze(next))
    return next
  }

  remove(key: string): void {
    const position = this.#position(key)
    if (position === undefined || !this.#rows[position]) throw new Error(`remove: no row ${key}`)
    this.#write(position, key, null)
  }

  /** An independent copy. The lists are copied only when one of the two is written to. */
  fork(log: UndoLog): OverlayTable {
    this.#owned = false
    return new OverlayTable(this.#seed, log, this)
  }

  /** Takes the latest write back. `before` is what the log was given. */
  restore(position: number, before: Row | null | undefined): void {
    this.#claim()
    const row = this.#rows[position]
    if (row === null) this.#removed--
    if (before === null) this.#removed++
    if (before !== undefined) {
      this.#rows[position] = before
      return
    }
    this.#written.pop()
    const seeded = this.#seed.rows[position]
    if (seeded) {
      this.#rows[position] = seeded
    } else {
      this.#rows.pop()
      this.#added!.delete(String(row![this.#seed.keyField]))
    }
  }

  /**
   * Rows that differ from the seed, by ascending key, as canonical JSON; `null` for removed ones. Writes that restored
   * the seed's row do not count.
   */
  changes(): [key: string, json: string][] {
    const changed: [string, string][] = []
    for (const position of this.#written) {
      const row = this.#rows[position]
      const seeded = this.#seed.rows[position]
      if (row === seeded || (row === null && seeded === undefined)) continue
      const json = row ? this.#seed.textOf(row) : 'null'
      if (seeded === undefined || json !== this.#seed.seedText(position)) {
        changed.push([String((row ?? seeded)![this.#seed.keyField]), json])
      }
    }
    return changed.sort(([a], [b]) => (a < b ? -1 : 1))
  }

  /** The same as one object of canonical JSON, by key; empty if there are none. */
  changesText(): string {
    if (this.#changesText === undefined) {
      const parts = this.changes().map(([key, json]) => `${quoted(key)}:${json}`)
      this.#changesText = parts.length === 0 ? '' : `{${parts.join(',')}}`
    }
    return this.#changesText
  }

  #position(key: string): number | undefined {
    return this.#seed.position(key) ?? this.#added?.get(key)
  }

  #write(position: number, key: string, row: Row | null): void {
    this.#claim()
    const isNew = position === this.#rows.length
    const before = isNew ? undefined : this.#rows[position]
    const isFirst = isNew || (before === this.#seed.rows[position] && !this.#written.includes(position))
    if (isFirst) this.#written.push(position)
    if (isNew) {
      this.#added ??= new Map()
      this.#added.set(key, position)
    }
    if (before === null) this.#removed--
    if (row === null) this.#removed++
    this.#rows[position] = row
    this.#log.record(this, position, isFirst ? undefined : before)
  }

  /** Before every write. */
  #claim(): void {
    this.#changesText = undefined
    if (this.#owned) return
    this.#rows = this.#rows.slice()
    this.#written = this.#written.slice()
    if (this.#added) this.#added = new Map(this.#added)
    this.#owned = true
  }
}
