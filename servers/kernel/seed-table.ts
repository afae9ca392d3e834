import { type Row, RowWriter } from './row-text.js'

/** So that a handler that changes a row in place fails instead of reaching other sessions. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    if (Array.isArray(value)) for (const item of value) deepFreeze(item)
    else for (const field in value) deepFreeze(value[field])
  }
  return value
}

/** Seed rows that share the value of a field, and their positions in the table. */
export interface Sharing {
  readonly rows: readonly Row[]
  readonly positions: readonly number[]
}

const NOBODY: Sharing = { rows: Object.freeze([]), positions: Object.freeze([]) }

/** The frozen start of one table, shared by every session of its seed, with indexes made when first asked for. */
export class SeedTable {
  readonly keyField: string
  /** In seed order. */
  readonly rows: readonly Row[]
  readonly #writer = new RowWriter()
  readonly #texts: string[] = []
  readonly #positions = new Map<string, number>()
  readonly #indexes = new Map<string, Map<unknown, { rows: Row[]; positions: number[] }>>()

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

  position(key: string): number | undefined {
    return this.#positions.get(key)
  }

  /** Any row that fits this table, as canonical JSON. */
  textOf(row: Row): string {
    return this.#writer.write(row)
  }

  /** The row at this position of the seed, as canonical JSON. */
  seedText(position: number): string {
    let text = this.#texts[position]
    if (text === undefined) {
      text = this.textOf(this.rows[position]!)
      this.#texts[position] = text
    }
    return text
  }

  by(field: string, value: unknown): Sharing {
    return (this.#indexes.get(field) ?? this.#index(field)).get(value) ?? NOBODY
  }

  #index(field: string): Map<unknown, Sharing> {
    const index = new Map<unknown, { rows: Row[]; positions: number[] }>()
    for (const [position, row] of this.rows.entries()) {
      let sharing = index.get(row[field])
      if (!sharing) {
        sharing = { rows: [], positions: [] }
        index.set(row[field], sharing)
      }
      sharing.rows.push(row)
      sharing.positions.push(position)
    }
    this.#indexes.set(field, index)
    return index
  }
}
