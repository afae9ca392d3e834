import { z } from 'zod'
import { ref } from '../../kernel/fields.js'
import { isUpcoming } from '../rules.js'
import { candidates, upcomingEvents } from '../sampling.js'
import { type CalendarEvent, date, tool } from '../schema.js'
import { byTime } from '../time.js'

const words = (text: string): string[] => text.toLowerCase().match(/[a-z0-9]+/g) ?? []

/** A test whether every word of the query begins a word of a text. A query without words matches nothing. */
function matching(query: string): (text: string) => boolean {
  const wanted = words(query)
  return (text) => {
    const lower = text.toLowerCase()
    // Most texts lack one of the words altogether: only the others are taken apart.
    if (wanted.length === 0 || !wanted.every((word) => lower.includes(word))) return false
    const there = words(lower)
    return wanted.every((word) => there.some((other) => other.startsWith(word)))
  }
}

export const listCalendars = tool({
  name: 'list_calendars',
  description: 'List the calendars you can see. Access says whether you own one, may edit it or may only view it.',
  input: z.strictObject({}),
  output: z.object({
    calendars: z.array(z.object({ name: z.string(), calendar: ref('calendar'), access: z.string() })),
  }),
  annotations: { readOnly: true },
  sample: () => ({}),
  run: (_args, { db }) => ({ calendars: db.calendars.list() }),
})

export const listEvents = tool({
  name: 'list_events',
  description: 'List the events of one day in order of time, of all calendars or of one.',
  input: z.strictObject({ date: date(), calendar: ref('calendar').optional() }),
  output: z.object({
    total: z.int(),
    events: z.array(z.object({ title: z.string(), event: ref('event'), start: z.string() })),
  }),
  pages: { events: 'short' },
  annotations: { readOnly: true },
  sample: ({ db, now, random, bound }) => {
    const fits = (event: CalendarEvent) =>
      isUpcoming({ db, now }, event) &&
      event.date === (bound.date ?? event.date) &&
      event.calendar === (bound.calendar ?? event.calendar)
    const [event] = random.shuffle(db.events.list(fits))
    const day = bound.date ?? event?.date
    if (day === undefined) return null
    const calendar = bound.calendar ?? (event && random.chance(0.3) ? event.calendar : undefined)
    return calendar === undefined ? { date: day } : { date: day, calendar }
  },
  run: ({ date, calendar }, { rowOf, db }) => {
    if (calendar !== undefined) rowOf('calendars', calendar)
    const events = db.events.list(
      (event) => event.date === date && event.status === 'confirmed' && event.calendar === (calendar ?? event.calendar),
    )
    return { total: events.length, events: events.sort(byTime) }
  },
})

export const findEvents = tool({
  name: 'find_events',
  description: 'Find upcoming events by words of their title, the soonest first.',
  input: z.strictObject({ title: z.string().min(1).max(60).describe('Title or words of it') }),
  output: z.object({
    events: z.array(z.object({ title: z.string(), event: ref('event'), date: z.string(), start: z.string() })),
  }),
  pages: { events: 'short' },
  annotations: { readOnly: true },
  sample: ({ db, now, random, bound }) => {
    if (bound.title !== undefined) return { title: bound.title }
    const [event] = random.shuffle(db.events.list((row) => isUpcoming({ db, now }, row)))
    return event ? { title: random.chance(0.8) ? event.title : event.title.split(' ')[0]! } : null
  },
  run: ({ title }, { db, now }) => {
    const matches = matching(title)
    const hits = db.events.list((event) => matches(event.title) && isUpcoming({ db, now }, event))
    return { events: hits.sort(byTime) }
  },
})

export const getEvent = tool({
  name: 'get_event',
  description: 'Show one event: time, calendar, organiser, room, series, and the invitees with their responses.',
  input: z.strictObject({ event: ref('event') }),
  output: z.object({
    title: z.string(),
    event: ref('event'),
    date: z.string(),
    start: z.string(),
    duration: z.int(),
    calendar: ref('calendar'),
    organiser: ref('person'),
    room: ref('room').optional(),
    series: ref('series').optional(),
    status: z.string(),
    invited: z.int(),
    attendees: z.array(z.object({ person: ref('person'), response: z.string() })),
  }),
  pages: { attendees: 'short' },
  annotations: { readOnly: true },
  sample: (draw) => {
    const { db, random, bound } = draw
    const rows = random.chance(0.8)
      ? upcomingEvents(draw, bound.event)
      : candidates(random, db.events, bound.event, () => true)
    return rows[0] ? { event: rows[0].event } : null
  },
  run: ({ event: key }, { rowOf }) => {
    const event = rowOf('events', key)
    const attendees = Object.entries(event.attendees).map(([person, response]) => ({ person, response }))
    return {
      ...event,
      room: event.room ?? undefined,
      series: event.series ?? undefined,
      invited: attendees.length,
      attendees,
    }
  },
})

export const findPerson = tool({
  name: 'find_person',
  description: 'Find colleagues in the directory by name.',
  input: z.strictObject({ name: z.string().min(1).max(60).describe('First name, last name or both') }),
  output: z.object({
    people: z.array(z.object({ name: z.string(), person: ref('person'), team: z.string() })),
  }),
  pages: { people: 'short' },
  annotations: { readOnly: true },
  sample: ({ db, random, bound }) => {
    if (bound.name !== undefined) return { name: bound.name }
    const { name } = random.pick(db.people.list((person) => !person.self))
    return { name: random.chance(0.6) ? name : random.pick(name.split(' ')) }
  },
  run: ({ name }, { db }) => {
    const matches = matching(name)
    return { people: db.people.list((person) => matches(person.name)) }
  },
})
