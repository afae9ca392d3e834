const DAY_MS = 86_400_000

const at = (date: string): Date => new Date(`${date}T00:00:00Z`)

/** `date` (YYYY-MM-DD) moved by `days`. */
export const addDays = (date: string, days: number): string =>
  new Date(at(date).getTime() + days * DAY_MS).toISOString().slice(0, 10)

/** Monday to Friday. */
export function isWorkday(date: string): boolean {
  const weekday = at(date).getUTCDay()
  return weekday >= 1 && weekday <= 5
}

/** The next workday after `date`. */
export function workdayAfter(date: string): string {
  const next = addDays(date, 1)
  return isWorkday(next) ? next : workdayAfter(next)
}

/** The last workday on or before `date`. */
export const workdayUpTo = (date: string): string => (isWorkday(date) ? date : workdayUpTo(addDays(date, -1)))
