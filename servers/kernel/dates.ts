const DAY_MS = 86_400_000
const MINUTE_MS = 60_000

/** `date` (YYYY-MM-DD) moved by a number of days. */
export function addDays(date: string, days: number): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10)
}

/** Whether a calendar has it. @param date YYYY-MM-DD */
export function isRealDate(date: string): boolean {
  const day = new Date(`${date}T00:00:00Z`)
  return !Number.isNaN(day.getTime()) && day.toISOString().slice(0, 10) === date
}

/** Monday to Friday. @param date YYYY-MM-DD */
export function isWorkday(date: string): boolean {
  const weekday = new Date(`${date}T00:00:00Z`).getUTCDay()
  return weekday >= 1 && weekday <= 5
}

/** `instant` moved by a number of minutes, both in the form of the session's clock: ISO 8601 in UTC to the second. */
export function addMinutes(instant: string, minutes: number): string {
  return new Date(Date.parse(instant) + minutes * MINUTE_MS).toISOString().replace('.000Z', 'Z')
}

/** Minutes from one instant to another, negative when the second is earlier. */
export function minutesBetween(from: string, to: string): number {
  return (Date.parse(to) - Date.parse(from)) / MINUTE_MS
}

/** Minutes since midnight of an HH:MM time. */
export function minutesOf(clock: string): number {
  return Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3, 5))
}

/** The HH:MM time `minutes` after midnight, `minutes` in 0 .. 1440. */
export function clockOf(minutes: number): string {
  return `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`
}

/** The HH:MM of an instant in the form of the session's clock. */
export const timeOf = (instant: string): string => instant.slice(11, 16)
