import { isDeepStrictEqual } from 'node:util'
import { isWorkday, minutesOf } from '../kernel/dates.js'
import type { Invariant } from '../kernel/define-environment.js'
import { SESSION_START } from '../kernel/session.js'
import { headcount, isCommitted, prescribedSlot, worksDuring } from './rules.js'
import { type CalendarEvent, type CalendarTables, LIMITS, type View } from './schema.js'
import { endOf, instantOf, overlap } from './time.js'

type CalendarInvariant = Invariant<CalendarTables>

const confirmed = (view: View): CalendarEvent[] => view.events.list((event) => event.status === 'confirmed')

/** The first event for which `problem` finds something wrong. */
function firstProblem(events: readonly CalendarEvent[], problem: (event: CalendarEvent) => string | false | undefined) {
  for (const event of events) {
    const found = problem(event)
    if (found) return `${event.event}: ${found}`
  }
  return undefined
}

const rooms: CalendarInvariant = {
  name: 'a room holds one event at a time, has a seat for everyone and is open',
  check: (now) => {
    const events = confirmed(now).filter((event) => event.room !== null)
    return firstProblem(events, (event) => {
      const room = now.rooms.get(event.room!)
      if (!room) return `unknown room ${event.room}`
      if (room.seats < headcount(event)) return `${headcount(event)} people in ${room.seats} seats`
      const open = minutesOf(event.start) >= LIMITS.roomsOpen && endOf(event) <= LIMITS.roomsClose
      if (!open || !isWorkday(event.date)) return `${room.room} is closed`
      const rival = events.find((other) => other !== event && other.room === event.room && overlap(other, event))
      return rival && `shares ${room.room} with ${rival.event}`
    })
  },
}

const commitments: CalendarInvariant = {
  name: 'nobody has committed to two events at the same time',
  check: (now) => {
    const events = confirmed(now)
    return firstProblem(events, (event) => {
      const people = [event.organiser, ...Object.keys(event.attendees)].filter((person) => isCommitted(event, person))
      const rival = events.find(
        (other) => other !== event && overlap(other, event) && people.some((person) => isCommitted(other, person)),
      )
      return rival && `overlaps ${rival.event}`
    })
  },
}

const invitees: CalendarInvariant = {
  name: 'invitees are colleagues other than the organiser, asked within their working hours',
  check: (now) =>
    firstProblem(confirmed(now), (event) => {
      if (!now.people.has(event.organiser)) return `unknown organiser ${event.organiser}`
      if (event.attendees[event.organiser]) return 'the organiser is invited'
      for (const key of Object.keys(event.attendees)) {
        const person = now.people.get(key)
        if (!person) return `unknown invitee ${key}`
        if (!worksDuring(person, event)) return `outside the working hours of ${key}`
      }
      return undefined
    }),
}

const series: CalendarInvariant = {
  name: 'every series has all its occurrences, and those that were not moved follow its rule',
  check: (now) => {
    for (const rule of now.series.list()) {
      const events = now.events.list((event) => event.series === rule.series)
      const places = new Set(events.map((event) => event.occurrence))
      if (events.length !== rule.times || places.size !== rule.times) return `${rule.series}: ${events.length} events`
      const wrong = firstProblem(events, (event) => {
        const slot = prescribedSlot(rule, event.occurrence)
        const follows = event.date === slot.date && event.start === slot.start
        if (event.occurrence >= rule.times || event.duration !== slot.duration) return 'does not fit its series'
        if (event.title !== rule.title || event.organiser !== rule.organiser) return 'differs from its series'
        return follows === event.moved && `moved is ${event.moved}`
      })
      if (wrong) return wrong
    }
    return firstProblem(
      now.events.list((event) => event.series !== null),
      (event) => !now.series.has(event.series!) && `unknown series ${event.series}`,
    )
  },
}

const history: CalendarInvariant = {
  name: 'no event is lost, and those that had begun before the session never change',
  check: (now, seed) =>
    firstProblem(seed.events.list(), (event) => {
      const current = now.events.get(event.event)
      if (!current) return 'lost'
      return instantOf(event) <= SESSION_START && !isDeepStrictEqual(current, event) && 'changed after its start'
    }),
}

const foreign: CalendarInvariant = {
  name: "of other people's events only the user's own response changes",
  check: (now, seed) => {
    const user = now.people.find((person) => person.self)!.person
    const others = now.events.list((event) => event.organiser !== user)
    return firstProblem(others, (event) => {
      const before = seed.events.get(event.event)
      if (!before) return 'made for someone else'
      const answer = event.attendees[user]
      const expected = answer === undefined ? before : { ...before, attendees: { ...before.attendees, [user]: answer } }
      return !isDeepStrictEqual(event, expected) && 'changed by someone who is not its organiser'
    })
  },
}

const calendars: CalendarInvariant = {
  name: 'user events lie in editable calendars; only calendars the user owns are shared, within the limit',
  check: (now) => {
    const user = now.people.find((person) => person.self)!.person
    for (const { calendar, owner, access } of now.calendars.list()) {
      if ((owner === user) !== (access === 'owner')) return `${calendar}: owned by ${owner}, access ${access}`
      const shares = now.shares.list((share) => share.calendar === calendar)
      if (shares.length > (access === 'owner' ? LIMITS.sharesPerCalendar : 0)) return `${calendar} is shared too often`
      if (shares.some(({ person }) => person === owner || !now.people.has(person))) return `${calendar}: odd share`
    }
    return firstProblem(now.events.list(), (event) => {
      const access = now.calendars.get(event.calendar)?.access
      if (access === undefined) return `unknown calendar ${event.calendar}`
      return access === 'viewer' && event.organiser === user && 'made in a read-only calendar'
    })
  },
}

const reminders: CalendarInvariant = {
  name: 'reminders belong to events that take place and that the user attends, at most three each',
  check: (now) => {
    const user = now.people.find((person) => person.self)!.person
    for (const { reminder, event: key, minutes } of now.reminders.list()) {
      const event = now.events.get(key)
      if (!event || event.status === 'cancelled') return `${reminder}: no such event takes place`
      if (!isCommitted(event, user) && event.attendees[user] !== 'tentative') return `${reminder}: not attending`
      if (reminder !== `${key}:${minutes}`) return `${reminder}: wrong key`
      if (now.reminders.count((other) => other.event === key) > LIMITS.remindersPerEvent) return `${key}: too many`
    }
    return firstProblem(
      now.events.list((event) => event.status === 'cancelled'),
      (event) => event.room !== null && 'cancelled but holds a room',
    )
  },
}

/** Conditions that every reachable state of this environment satisfies. */
export const invariants = [rooms, commitments, invitees, series, history, foreign, calendars, reminders] as const
