import { type CityFacts, localClock } from './cities.js'
import { type Place, WEEKDAYS } from './schema.js'

/** Name of a date's weekday. @param date YYYY-MM-DD */
export function weekday(date: string): (typeof WEEKDAYS)[number] {
  // 1 January 1970 was a Thursday.
  return WEEKDAYS[(Math.floor(Date.parse(`${date}T00:00:00Z`) / 86_400_000) + 4) % 7]!
}

/** Whether a place is open by the clock of its city. @param now ISO 8601 in UTC */
export function isOpen({ opens, closes, closed_on }: Place, city: CityFacts, now: string): boolean {
  const { date, time } = localClock(now, city)
  return time >= opens && time < closes && weekday(date) !== closed_on
}
