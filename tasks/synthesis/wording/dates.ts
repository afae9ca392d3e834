/** Calendar arithmetic on dates as YYYY-MM-DD. Everything is in UTC, so that it is the same on every machine. */
const DAY_MS = 86_400_000

export const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
] as const

/** From Monday, as the week goes. */
export const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'] as const

const midnight = (date: string): number => Date.parse(`${date}T00:00:00Z`)

/** Days from `from` to `to`, negative when `to` is earlier. */
export const daysBetween = (from: string, to: string): number => Math.round((midnight(to) - midnight(from)) / DAY_MS)

/** Index into `WEEKDAYS`. */
export const weekdayOf = (date: string): number => (new Date(midnight(date)).getUTCDay() + 6) % 7

export const isDate = (value: unknown): value is string =>
  typeof value === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(value) && !Number.isNaN(midnight(value))
export const isMonth = (value: unknown): value is string =>
  typeof value === 'string' && /^\d{4}-(0[1-9]|1[0-2])$/.test(value)
export const isTime = (value: unknown): value is string =>
  typeof value === 'string' && /^([01]\d|2[0-3]):[0-5]\d$/.test(value)
