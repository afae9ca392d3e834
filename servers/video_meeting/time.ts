import type { Meeting } from './schema.js'

/** When a meeting is planned to begin, in the form of the session's clock, so that the two compare as strings. */
export const instantOf = ({ date, start }: Pick<Meeting, 'date' | 'start'>): string => `${date}T${start}:00Z`

/** `instant` moved by `minutes`, both in the form of the session's clock. */
export const later = (instant: string, minutes: number): string =>
  new Date(Date.parse(instant) + minutes * 60_000).toISOString().replace('.000Z', 'Z')

/** Minutes from one instant to another. */
export const minutesBetween = (from: string, to: string): number => (Date.parse(to) - Date.parse(from)) / 60_000

/** Minutes since midnight of an HH:MM time. */
export const minuteOf = (clock: string): number => Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3, 5))

/** The HH:MM time `minutes` after midnight, `minutes` below 1440. */
export const clockOf = (minutes: number): string =>
  `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`

/** Whether two meetings overlap in time. Meetings never cross midnight. */
export const overlap = (
  a: Pick<Meeting, 'date' | 'start' | 'minutes'>,
  b: Pick<Meeting, 'date' | 'start' | 'minutes'>,
): boolean =>
  a.date === b.date &&
  minuteOf(a.start) < minuteOf(b.start) + b.minutes &&
  minuteOf(b.start) < minuteOf(a.start) + a.minutes
