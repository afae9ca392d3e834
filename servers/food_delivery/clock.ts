const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

/** `instant` (ISO 8601 UTC to the second, the form of the session's clock) moved by `minutes`. */
export function addMinutes(instant: string, minutes: number): string {
  return new Date(Date.parse(instant) + minutes * MINUTE_MS).toISOString().replace('.000Z', 'Z')
}

/** `date` (YYYY-MM-DD) moved by `days`. */
export function addDays(date: string, days: number): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10)
}

/** The HH:MM of an instant. */
export const timeOf = (instant: string): string => instant.slice(11, 16)

/** Minutes from midnight to an HH:MM time. */
export const minutesOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3, 5))

/** The HH:MM time `minutes` after midnight, `minutes` in 0 .. 1439. */
export const clockOf = (minutes: number): string =>
  `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`
