import { addDays, isWorkday } from '../kernel/dates.js'

/** The next workday after `date`. */
export function workdayAfter(date: string): string {
  const next = addDays(date, 1)
  return isWorkday(next) ? next : workdayAfter(next)
}

/** The last workday on or before `date`. */
export const workdayUpTo = (date: string): string => (isWorkday(date) ? date : workdayUpTo(addDays(date, -1)))
