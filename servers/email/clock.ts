const DAY_MS = 86_400_000

/** The date `days` after (or, if negative, before) a date; YYYY-MM-DD. */
export const addDays = (date: string, days: number): string =>
  new Date(Date.parse(`${date}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10)

export const addMinutes = (at: string, minutes: number): string =>
  new Date(Date.parse(at) + minutes * 60_000).toISOString().replace('.000Z', 'Z')

export const minutesBetween = (earlier: string, later: string): number =>
  (Date.parse(later) - Date.parse(earlier)) / 60_000
