import { z } from 'zod'
import type { WorkLimit } from './work-limit.js'

/** Two times of day, `HH:MM-HH:MM`. The second may be on the next day, and `24:00` is the start of that day. */
const SPAN = /^([01]\d|2[0-3]):([0-5]\d)-(([01]\d|2[0-3]):([0-5]\d)|24:00)$/

/** Schema of the working hours. */
export const hoursSchema = z
  .array(
    z
      .string()
      .transform((text) => text.trim())
      .refine((text) => SPAN.test(text) && text.slice(0, 5) !== text.slice(6), 'give a span such as 22:00-07:00'),
  )
  .min(1)
  .max(24)

const MINUTES_OF_DAY = 24 * 60
const minutesOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3))

interface Span {
  readonly from: number
  readonly to: number
}

const spanOf = (text: string): Span => ({ from: minutesOf(text.slice(0, 5)), to: minutesOf(text.slice(6)) })

const contains = ({ from, to }: Span, minute: number): boolean =>
  from < to ? from <= minute && minute < to : from <= minute || minute < to

/**
 * Allows work within spans of the local time of day. A span that begins in the hour which daylight saving skips begins one hour later.
 * An hour that occurs twice counts both times.
 * @param hours  valid by `hoursSchema`
 */
export function hoursLimit(hours: readonly string[], now: () => number): WorkLimit {
  const spans = hours.map(spanOf)
  return {
    mayWork() {
      const date = new Date(now())
      const minute = date.getHours() * 60 + date.getMinutes()
      if (spans.some((span) => contains(span, minute))) return { ok: true }
      return { ok: false, why: `working hours are ${hours.join(', ')}`, untilMs: nextStart(spans, date) }
    },
  }
}

/** Returns the start of the next span (ms since 1970): today or tomorrow. */
function nextStart(spans: readonly Span[], date: Date): number {
  const starts = spans.flatMap(({ from }) =>
    [0, 1].map((days) =>
      new Date(date.getFullYear(), date.getMonth(), date.getDate() + days, 0, from % MINUTES_OF_DAY).getTime(),
    ),
  )
  return Math.min(...starts.filter((start) => start > date.getTime()))
}
