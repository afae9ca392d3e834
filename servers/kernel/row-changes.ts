import type { Session } from './session.js'

/** A row that is not in two states of an environment alike. */
export interface RowChange {
  readonly environment: string
  readonly table: string
  readonly key: string
  /** Null: the row is missing. */
  readonly before: unknown
  readonly after: unknown
}

/** Every row in which two sessions of one environment and seed differ, by table and key. */
export function rowChanges(before: Session, after: Session): RowChange[] {
  const environment = after.seedState.environment.name
  const tables = new Map<string, Set<string>>()
  for (const changed of [before.changedKeys(), after.changedKeys()])
    for (const [table, keys] of changed) tables.set(table, new Set([...(tables.get(table) ?? []), ...keys]))
  return [...tables]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([table, keys]) =>
      [...keys].sort().flatMap((key) => {
        const [old, now] = [before.db[table]!.get(key) ?? null, after.db[table]!.get(key) ?? null]
        return JSON.stringify(old) === JSON.stringify(now) ? [] : [{ environment, table, key, before: old, after: now }]
      }),
    )
}
