import { isRealDate, SESSION_START, type SeedState, type Session } from '../../kernel/index.js'
import { hold } from './breach.js'

const DATED = /^\d{4}-\d{2}(-\d{2})?([T ].*)?$/

/** No passport, licence or photo is older or lasts longer. Years. */
const MOST_YEARS = 15
const SESSION_YEAR = Number(SESSION_START.slice(0, 4))

const columns = new WeakMap<SeedState, readonly (readonly [table: string, column: string])[]>()

/** Columns whose values in the seed state are all dates, months or instants. */
function dateColumns(seedState: SeedState): readonly (readonly [table: string, column: string])[] {
  let found = columns.get(seedState)
  if (!found) {
    found = [...seedState.tables].flatMap(([table, { rows }]) =>
      Object.keys(seedState.environment.tables[table]!.row.shape).flatMap((column) => {
        const values = rows.map((row) => row[column]).filter((value) => value !== null && value !== undefined)
        const isDated = values.length > 0 && values.every((value) => typeof value === 'string' && DATED.test(value))
        return isDated ? [[table, column] as const] : []
      }),
    )
    columns.set(seedState, found)
  }
  return found
}

/** @throws ContractBreach for a date that does not exist, or that is decades away */
export function checkDates({ seedState: environment, db }: Session, when: string): void {
  for (const [table, column] of dateColumns(environment)) {
    for (const row of db[table]!.list()) {
      const value = row[column]
      if (typeof value !== 'string') continue
      const where = `${when}: ${table}, ${column}: ${value}`
      hold(
        isRealDate(value.length === 7 ? `${value}-01` : value.slice(0, 10)),
        `${where} does not exist`,
        'Move dates with addDays, and take them as z.iso.date().',
      )
      hold(
        Math.abs(Number(value.slice(0, 4)) - SESSION_YEAR) <= MOST_YEARS,
        `${where} is decades away`,
        `Bound how far away a date may be: nothing here is more than ${MOST_YEARS} years from ${SESSION_YEAR}.`,
      )
    }
  }
}
