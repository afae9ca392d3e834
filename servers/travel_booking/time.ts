/** Days of the timetable: number, from the first date on which there are flights. */
export const DAYS = 45
/** The first date of the timetable; times count in minutes from its midnight, UTC. */
const FIRST = Date.parse('2026-03-02T00:00:00Z')
const DAY_MS = 86_400_000

/** YYYY-MM-DD of each day of the timetable. */
export const DATES: readonly string[] = Array.from({ length: DAYS }, (_, day) => dateAfter(day))
const NUMBERS = new Map(DATES.map((date, day) => [date, day]))

function dateAfter(days: number): string {
  return new Date(FIRST + days * DAY_MS).toISOString().slice(0, 10)
}

/** The number of a date, or nothing outside the timetable. */
export function dayOf(date: string): number | undefined {
  return NUMBERS.get(date)
}

/** Minutes from the start of the timetable. @param now ISO 8601 in UTC */
export function minuteOf(now: string): number {
  return (Date.parse(now) - FIRST) / 60_000
}

/** ISO 8601 in UTC of a minute. */
export function instantOf(minute: number): string {
  return new Date(FIRST + minute * 60_000).toISOString().replace('.000Z', 'Z')
}

const two = (value: number): string => String(value).padStart(2, '0')

/** `HH:MM` of a minute, with `+1` where it falls on the day after `day`. */
export function clock(minute: number, day: number): string {
  const within = minute - day * 1440
  const late = Math.floor(within / 1440)
  return `${two(Math.floor((within % 1440) / 60))}:${two(within % 60)}${late > 0 ? `+${late}` : ''}`
}
