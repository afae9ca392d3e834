import canonicalize from 'canonicalize'

/** A row as handlers see it: immutable; change it with `update`. */
export type Row = Readonly<Record<string, unknown>>

/** What anyone may do with a table: look. Rows come in seed order, then in order of insertion. */
export interface TableView<R> {
  get(key: string): R | undefined
  has(key: string): boolean
  /** Rows for which `where` holds; all of them without it. Looks at every row: prefer `by` where a field decides. */
  list(where?: (row: R) => boolean): R[]
  /** Rows whose `field` is exactly `value`, found through an index that all sessions of a seed share. */
  by<K extends keyof R>(field: K, value: R[K]): readonly R[]
  /** The first row for which `where` holds. */
  find(where: (row: R) => boolean): R | undefined
  count(where?: (row: R) => boolean): number
}

/** What a tool may do with a table inside its transaction. */
export interface Table<R> extends TableView<R> {
  /** @throws Error if the key is taken: the caller must have checked, so it is the world's bug */
  insert(row: R): R
  /** Replaces the given fields. @throws Error if there is no such row or the patch changes the key */
  update(key: string, patch: Partial<R>): R
  /** @throws Error if there is no such row */
  remove(key: string): void
}

/** Rows never change, so each is turned into text at most once, by whichever session asks first. */
const texts = new WeakMap<Row, string>()

function canonicalJson(row: Row): string {
  let text = texts.get(row)
  if (text === undefined) {
    text = canonicalize(row)!
    texts.set(row, text)
  }
  return text
}

/** So that a handler that changes a row in place fails instead of reaching other sessions. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const part of Object.values(value)) deepFreeze(part)
  }
  return value
}

const NO_ROWS: readonly Row[] = Object.freeze([])

/** The frozen start of one table, shared by every session of its seed, with indexes made when first asked for. */
export class SeedTable {
  readonly keyField: string
  /** In seed order. */
  readonly rows: readonly Row[]
  readonly #positions = new Map<string, number>()
  readonly #indexes = new Map<string, Map<unknown, Row[]>>()

  /** @throws Error if a key occurs twice */
  constructor(keyField: string, rows: readonly Row[]) {
    this.keyField = keyField
    this.rows = rows
    for (const [position, row] of rows.entries()) {
      const key = String(row[keyField])
      if (this.#positions.has(key)) throw new Error(`key ${key} occurs twice`)
      this.#positions.set(key, position)
    }
  }

  get(key: string): Row | undefined {
    const position = this.#positions.get(key)
    return position === undefined ? undefined : this.rows[position]
  }

  position(key: string): number | undefined {
    return this.#positions.get(key)
  }

  by(field: string, value: unknown): readonly Row[] {
    let index = this.#indexes.get(field)
    if (!index) {
      index = new Map()
      for (const row of this.rows) {
        const sharing = index.get(row[field])
        if (sharing) sharing.push(row)
        else index.set(row[field], [row])
      }
      this.#indexes.set(field, index)
    }
    return index.get(value) ?? NO_ROWS
  }
}

/** How to take back what a transaction has done so far, in the order in which it was done. */
export class UndoLog {
  #undo: (() => void)[] = []

  record(undo: () => void): void {
    this.#undo.push(undo)
  }

  commit(): void {
    if (this.#undo.length > 0) this.#undo = []
  }

  rollback(): void {
    for (const undo of this.#undo.reverse()) undo()
    this.#undo = []
  }
}

/**
 * A session's view of one table: reads fall through to the shared, frozen seed rows, writes go to an overlay and into
 * the session's undo log, so that a call that throws leaves no trace. Copying whole tables per call (immer,
 * structuredClone) measured two to three orders of magnitude slower.
 */
export class OverlayTable implements Table<Row> {
  readonly #seed: SeedTable
  readonly #log: UndoLog
  /** `null` marks a removed row. Entries are never deleted except by undo, so iteration order is that of first writing. */
  readonly #overlay: Map<string, Row | null>

  constructor(seed: SeedTable, log: UndoLog, overlay = new Map<string, Row | null>()) {
    this.#seed = seed
    this.#log = log
    this.#overlay = overlay
  }

  get(key: string): Row | undefined {
    const written = this.#overlay.get(key)
    return written === undefined ? this.#seed.get(key) : (written ?? undefined)
  }

  has(key: string): boolean {
    return this.get(key) !== undefined
  }

  list(where?: (row: Row) => boolean): Row[] {
    const rows = this.#overlay.size === 0 ? this.#seed.rows : this.#merged()
    return where ? rows.filter(where) : [...rows]
  }

  by(field: string, value: unknown): readonly Row[] {
    const seeded = this.#seed.by(field, value)
    if (this.#overlay.size === 0) return seeded
    const rows = seeded.filter((row) => !this.#overlay.has(String(row[this.#seed.keyField])))
    const kept = rows.length
    const added: Row[] = []
    for (const [key, row] of this.#overlay) {
      if (row === null || row[field] !== value) continue
      if (this.#seed.position(key) === undefined) added.push(row)
      else rows.push(row)
    }
    if (rows.length > kept) rows.sort((a, b) => this.#positionOf(a) - this.#positionOf(b))
    return added.length > 0 ? rows.concat(added) : rows
  }

  find(where: (row: Row) => boolean): Row | undefined {
    return (this.#overlay.size === 0 ? this.#seed.rows : this.#merged()).find(where)
  }

  count(where?: (row: Row) => boolean): number {
    return this.list(where).length
  }

  insert(row: Row): Row {
    const key = String(row[this.#seed.keyField])
    if (this.has(key)) throw new Error(`insert: key ${key} is taken`)
    return this.#write(key, row)
  }

  update(key: string, patch: Partial<Row>): Row {
    const row = this.get(key)
    if (!row) throw new Error(`update: no row ${key}`)
    const next = { ...row, ...patch }
    const { keyField } = this.#seed
    if (next[keyField] !== row[keyField]) throw new Error(`update: the key of ${key} cannot change`)
    return this.#write(key, next)
  }

  remove(key: string): void {
    if (!this.has(key)) throw new Error(`remove: no row ${key}`)
    this.#write(key, null)
  }

  /** An independent copy that shares the seed. Costs as much as the overlay is large. */
  fork(log: UndoLog): OverlayTable {
    return new OverlayTable(this.#seed, log, new Map(this.#overlay))
  }

  /**
   * Rows that differ from the seed, by ascending key, as canonical JSON; `null` for removed ones. Writes that restored
   * the seed's row do not count.
   */
  changes(): [key: string, json: string][] {
    const changed: [string, string][] = []
    for (const [key, row] of this.#overlay) {
      const seeded = this.#seed.get(key)
      if (row === seeded || (row === null && seeded === undefined)) continue
      const json = row === null ? 'null' : canonicalJson(row)
      if (seeded === undefined || json !== canonicalJson(seeded)) changed.push([key, json])
    }
    return changed.sort(([a], [b]) => (a < b ? -1 : 1))
  }

  #merged(): Row[] {
    const rows: (Row | null)[] = [...this.#seed.rows]
    for (const [key, row] of this.#overlay) {
      const position = this.#seed.position(key)
      if (position === undefined) rows.push(row)
      else rows[position] = row
    }
    return rows.filter((row) => row !== null)
  }

  #positionOf(row: Row): number {
    return this.#seed.position(String(row[this.#seed.keyField]))!
  }

  #write<R extends Row | null>(key: string, row: R): R {
    deepFreeze(row)
    const before = this.#overlay.get(key)
    this.#log.record(() => {
      if (before === undefined) this.#overlay.delete(key)
      else this.#overlay.set(key, before)
    })
    this.#overlay.set(key, row)
    return row
  }
}
