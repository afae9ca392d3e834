import { minutesOf } from '../kernel/dates.js'
import type { Meeting } from './schema.js'

/** When a meeting is planned to begin, in the form of the session's clock, so that the two compare as strings. */
export const instantOf = ({ date, start }: Pick<Meeting, 'date' | 'start'>): string => `${date}T${start}:00Z`

/** Whether two meetings overlap in time. Meetings never cross midnight. */
export const overlap = (
  a: Pick<Meeting, 'date' | 'start' | 'minutes'>,
  b: Pick<Meeting, 'date' | 'start' | 'minutes'>,
): boolean =>
  a.date === b.date &&
  minutesOf(a.start) < minutesOf(b.start) + b.minutes &&
  minutesOf(b.start) < minutesOf(a.start) + a.minutes
