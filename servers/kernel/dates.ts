const DAY_MS = 86_400_000
const MINUTE_MS = 60_000

/** Adds a number of days to a date (YYYY-MM-DD). */
export function addDays(date: string, days: number): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10)
}

/** Returns whether a date exists. @param date YYYY-MM-DD */
export function isRealDate(date: string): boolean {
  const day = new Date(`${date}T00:00:00Z`)
  return !Number.isNaN(day.getTime()) && day.toISOString().slice(0, 10) === date
}

/** Returns whether a date is from Monday to Friday. @param date YYYY-MM-DD */
export function isWorkday(date: string): boolean {
  const weekday = new Date(`${date}T00:00:00Z`).getUTCDay()
  return weekday >= 1 && weekday <= 5
}

/** Adds a number of minutes to an instant, both in the form of the session's clock: ISO 8601 in UTC to the second. */
export function addMinutes(instant: string, minutes: number): string {
  return new Date(Date.parse(instant) + minutes * MINUTE_MS).toISOString().replace('.000Z', 'Z')
}

/** Returns the minutes from one instant to another, negative if the second is earlier. */
export function minutesBetween(from: string, to: string): number {
  return (Date.parse(to) - Date.parse(from)) / MINUTE_MS
}

/** Returns the minutes from midnight to an HH:MM time. */
export function minutesOf(clock: string): number {
  return Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3, 5))
}

/** Returns the HH:MM time `minutes` after midnight, `minutes` in 0 .. 1440. */
export function clockOf(minutes: number): string {
  return `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`
}

/** Returns the HH:MM of an instant in the form of the session's clock. */
export const timeOf = (instant: string): string => instant.slice(11, 16)
