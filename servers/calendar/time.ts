import { addDays, minutesOf } from '../kernel/dates.js'
import { ascending } from '../kernel/lists.js'

/** A stretch of one day. Events never cross midnight. */
export interface Slot {
  /** YYYY-MM-DD. */
  readonly date: string
  /** HH:MM, 24 h. */
  readonly start: string
  /** Minutes. */
  readonly duration: number
}

export const endOf = (slot: Slot): number => minutesOf(slot.start) + slot.duration

/** When a slot begins, in the form of the session's clock, so that the two compare as strings. */
export const instantOf = (slot: Pick<Slot, 'date' | 'start'>): string => `${slot.date}T${slot.start}:00Z`

/** Whether the text names a real day, as YYYY-MM-DD. */
export const isDate = (text: string): boolean =>
  /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(`${text}T00:00:00Z`)) && addDays(text, 0) === text

/** Whether the text is a time of day, as HH:MM. */
export const isClock = (text: string): boolean => /^([01]\d|2[0-3]):[0-5]\d$/.test(text)

export const overlap = (a: Slot, b: Slot): boolean =>
  a.date === b.date && minutesOf(a.start) < endOf(b) && minutesOf(b.start) < endOf(a)

/** Order of time, then of `event` keys: the order of every list of events. */
export const byTime = ascending('date', 'start', 'event')
