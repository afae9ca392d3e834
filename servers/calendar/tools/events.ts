import { z } from 'zod'
import { addDays, clockOf, isWorkday } from '../../kernel/dates.js'
import { ref } from '../../kernel/fields.js'
import type { Table } from '../../kernel/table.js'
import {
  cancellable,
  cancelObstacle,
  moveObstacle,
  ownSlotObstacle,
  prescribedSlot,
  repeatObstacle,
  type Scene,
  self,
} from '../rules.js'
import { candidates, findSlot, isForWork, ownEvents, ownMeetings } from '../sampling.js'
import { type Calendar, type CalendarEvent, clock, date, FREQUENCIES, minutes, title, tool } from '../schema.js'
import { isDaily, isRegular, meetingTitle, privateTitle } from '../words.js'
import { dropReminders } from './reminders.js'

type Db = { readonly events: Table<CalendarEvent> } & Parameters<typeof dropReminders>[0]

/** Nobody has a daily meeting over the weekend. */
const isWorkdays = (first: string, days: number): boolean =>
  Array.from({ length: days }, (_, i) => addDays(first, i)).every(isWorkday)

const eventAndTime = {
  title: z.string(),
  event: ref('event'),
  date: z.string(),
  start: z.string(),
}

export const createEvent = tool({
  name: 'create_event',
  description:
    'Create an event that you organise, at a time when you have no other. Without a calendar it goes into your main one.',
  input: z.strictObject({
    title: title().describe('What others see of the event.'),
    date: date(),
    start: clock(),
    duration: minutes(),
    calendar: ref('calendar').optional(),
  }),
  output: z.object({ ...eventAndTime, calendar: ref('calendar'), status: z.string() }),
  annotations: { readOnly: false },
  establishes: ['attending'],
  sample: (draw) => {
    const { db, random, bound } = draw
    const named = bound.calendar !== undefined || random.chance(0.3)
    // Where the calendar goes unsaid, the event is in the main one, and that is for work.
    const suits = (row: Calendar): boolean => bound.calendar !== undefined || isForWork(draw, row)
    const [calendar] = named
      ? candidates(random, db.calendars, bound.calendar, (row) => row.access !== 'viewer' && suits(row))
      : []
    if (bound.calendar !== undefined && !calendar) return null
    const atWork = isForWork(draw, calendar ?? mainCalendar(draw))
    // What is private is in the evening.
    const evening = { start: clockOf(random.int(35, 39) * 30) }
    const slot = findSlot(draw, { ...(!atWork && evening), ...bound }, (slot) => !ownSlotObstacle(draw, slot))
    if (!slot) return null
    const name = bound.title ?? (atWork ? meetingTitle(random) : privateTitle(random, calendar!.name))
    return { title: name, ...slot, ...(calendar && { calendar: calendar.calendar }) }
  },
  run: ({ calendar: named, ...given }, context) => {
    const { rowOf, unless, db, fail, nextId } = context
    const { person } = self(context)
    const calendar = named === undefined ? mainCalendar(context) : rowOf('calendars', named)
    if (calendar.access === 'viewer') fail('read_only_calendar')
    unless(ownSlotObstacle(context, given))
    return db.events.insert({
      event: nextId('event'),
      ...given,
      ...{ calendar: calendar.calendar, organiser: person, room: null, status: 'confirmed', attendees: {} },
      ...{ series: null, occurrence: 0, moved: false },
    })
  },
})

/** The calendar that events go into when none is named: the first of the user's own. */
const mainCalendar = ({ db }: Scene): Calendar => db.calendars.find(({ access }) => access === 'owner')!

export const rescheduleEvent = tool({
  name: 'reschedule_event',
  description:
    'Move an event that you organise to another time, keeping its length, room and invitees. All invitees are asked again.',
  input: z.strictObject({ event: ref('event'), date: date(), start: clock() }),
  output: z.object({ ...eventAndTime, status: z.string() }),
  annotations: { readOnly: false },
  sample: (draw) => {
    for (const event of ownEvents(draw, draw.bound.event).slice(0, 6)) {
      // What is private stays at its time of day: nobody has a birthday dinner in the morning.
      const usual = isForWork(draw, draw.db.calendars.get(event.calendar)!) ? {} : { start: event.start }
      const bound = { ...usual, ...draw.bound, duration: event.duration }
      const slot = findSlot(draw, bound, (slot) => moveObstacle(draw, event, slot) === undefined)
      if (slot) return { event: event.event, date: slot.date, start: slot.start }
    }
    return null
  },
  run: ({ event: key, date, start }, context) => {
    const { rowOf, unless, db } = context
    const event = rowOf('events', key)
    unless(moveObstacle(context, event, { date, start, duration: event.duration }))
    const attendees = Object.fromEntries(Object.keys(event.attendees).map((person) => [person, 'pending' as const]))
    return db.events.update(key, { date, start, attendees, moved: isMoved(context, { ...event, date, start }) })
  },
})

function isMoved({ db }: Scene, event: CalendarEvent): boolean {
  if (event.series === null) return false
  const slot = prescribedSlot(db.series.get(event.series)!, event.occurrence)
  return event.date !== slot.date || event.start !== slot.start
}

export const cancelEvent = tool({
  name: 'cancel_event',
  description:
    'Cancel an event that you organise; of a series only this occurrence. Its room is given back, its reminders vanish.',
  input: z.strictObject({ event: ref('event') }),
  // Not a reference: nothing can be done with a cancelled event, so this call must not lead to others.
  output: z.object({ ...eventAndTime, event: z.string(), status: z.string() }),
  annotations: { readOnly: false, destructive: true },
  sample: (draw) => {
    const event = ownEvents(draw, draw.bound.event).find((row) => cancelObstacle(draw, row) === undefined)
    return event ? { event: event.event } : null
  },
  run: ({ event: key }, context) => {
    const { rowOf, unless, db } = context
    const event = rowOf('events', key)
    unless(cancelObstacle(context, event))
    return cancel(db, event)
  },
})

function cancel(db: Db, { event }: CalendarEvent): CalendarEvent {
  dropReminders(db, event)
  return db.events.update(event, { status: 'cancelled', room: null })
}

export const repeatEvent = tool({
  name: 'repeat_event',
  description:
    'Turn a single event that you organise into a series: the same time, room and invitees, so many times in all.',
  input: z.strictObject({
    event: ref('event'),
    frequency: z.enum(FREQUENCIES).describe('How often it takes place; biweekly is every second week.'),
    times: z.int().min(2).max(6).describe('Occurrences in all'),
  }),
  output: z.object({
    title: z.string(),
    series: ref('series'),
    frequency: z.string(),
    times: z.int(),
    last_date: z.string(),
  }),
  annotations: { readOnly: false },
  sample: (draw) => {
    const { random, bound } = draw
    const single = ownMeetings(draw, bound.event).filter(({ series, title }) => series === null && isRegular(title))
    for (const { event, ...row } of single.slice(0, 4)) {
      for (let tries = 0; tries < 4; tries++) {
        const usual = isDaily(row.title) ? FREQUENCIES : FREQUENCIES.filter((often) => often !== 'daily')
        const frequency = bound.frequency ?? random.pick(usual)
        const times = bound.times ?? random.int(3, 5)
        if (frequency === 'daily' && !isWorkdays(row.date, times)) continue
        if (!repeatObstacle(draw, { event, ...row }, frequency, times)) return { event, frequency, times }
      }
    }
    return null
  },
  run: ({ event: key, frequency, times }, context) => {
    const { rowOf, unless, db, nextId } = context
    const first = rowOf('events', key)
    unless(repeatObstacle(context, first, frequency, times))
    const { title, organiser, date, start, duration } = first
    const series = nextId(frequency)
    const row = db.series.insert({ series, title, organiser, frequency, times, date, start, duration })
    db.events.update(key, { series })
    const attendees = Object.fromEntries(Object.keys(first.attendees).map((person) => [person, 'pending' as const]))
    for (let occurrence = 1; occurrence < times; occurrence++) {
      const slot = prescribedSlot(row, occurrence)
      db.events.insert({ ...first, ...slot, event: nextId('event'), series, occurrence, attendees })
    }
    return { ...row, last_date: prescribedSlot(row, times - 1).date }
  },
})

export const cancelSeries = tool({
  name: 'cancel_series',
  description: 'Cancel every occurrence of a series of yours that can still be cancelled.',
  input: z.strictObject({ series: ref('series') }),
  output: z.object({ title: z.string(), series: ref('series'), cancelled: z.int().describe('Events cancelled') }),
  annotations: { readOnly: false, destructive: true },
  sample: (draw) => {
    const [series] = candidates(
      draw.random,
      draw.db.series,
      draw.bound.series,
      (row) => cancellable(draw, row).length > 0,
    )
    return series ? { series: series.series } : null
  },
  run: ({ series: key }, context) => {
    const { rowOf, db, fail } = context
    const series = rowOf('series', key)
    if (series.organiser !== self(context).person) fail('not_organiser')
    const events = cancellable(context, series)
    if (events.length === 0) fail('series_ended')
    for (const event of events) cancel(db, event)
    return { ...series, cancelled: events.length }
  },
})
