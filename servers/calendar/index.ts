import { defineEnvironment } from '../kernel/define-environment.js'
import { domainRules } from './domain-rules.js'
import { invariants } from './invariants.js'
import { failures, tables } from './schema.js'
import { seedCalendar } from './seed.js'
import { bookRoom, findFreeRooms, findFreeTime } from './tools/availability.js'
import { cancelEvent, cancelSeries, createEvent, repeatEvent, rescheduleEvent } from './tools/events.js'
import { findEvents, findPerson, getEvent, listCalendars, listEvents } from './tools/finding.js'
import { inviteAttendee, respondToInvitation, shareCalendar } from './tools/people.js'
import { setReminder } from './tools/reminders.js'

/** One user's calendars in a company: events with invitees and meeting rooms, series, reminders, and calendars shared by colleagues. */
export const calendar = defineEnvironment({
  name: 'calendar',
  title: 'Calendar',
  description: 'Events with invitees, rooms, series and reminders on your own and on shared calendars.',
  tables,
  entities: {
    event: { noun: 'event', table: 'events', label: 'title', compared: { start: 'either', date: 'either' } },
    person: { noun: 'person', table: 'people', label: 'name' },
    room: { noun: 'room', table: 'rooms', label: 'name', compared: { seats: 'either' } },
    calendar: { noun: 'calendar', table: 'calendars', label: 'name' },
    series: { noun: 'series', table: 'series', label: 'title' },
  },
  failures,
  tools: [
    listCalendars,
    listEvents,
    findEvents,
    getEvent,
    findPerson,
    findFreeTime,
    findFreeRooms,
    createEvent,
    rescheduleEvent,
    cancelEvent,
    repeatEvent,
    cancelSeries,
    inviteAttendee,
    respondToInvitation,
    bookRoom,
    setReminder,
    shareCalendar,
  ],
  invariants,
  domainRules,
  seed: seedCalendar,
})
