import type { CallWords } from '../kernel/define-environment.js'

/** By tool: what people are after who call it, and what they are told when it is done. */
export const callWords: Readonly<Record<string, CallWords>> = {
  list_calendars: {
    goal: 'see which calendars I have',
    answer: 'You have {calendars#calendar}: {calendars*{name} ({access})}.',
  },
  list_events: {
    goal: 'see what is on my calendar',
    answer: 'There {total=is|are} {total:event} that day[: {events*{title} at {start}}].',
    wishes: ['find dates'],
  },
  find_events: {
    goal: 'find an event',
    answer: 'I found {events#event}[: {events*{title} on {date} at {start}}].',
    wishes: ['find dates'],
  },
  get_event: {
    goal: 'see the details of an event',
    answer:
      '{title} is {status} for {date} at {start} and lasts {duration} minutes. {organiser} organises it[, in the room {room}]{room?|, without a room}.[ Invited: {attendees*{person} ({response})}.]{attendees?| Nobody is invited.}',
  },
  find_person: {
    goal: 'look somebody up in the directory',
    answer: 'I found {people#person}[: {people*{name} from {team}}].',
    wishes: ['find a person'],
  },
  find_free_time: {
    goal: 'find a time to meet somebody',
    answer: 'You are both free on {date} from {start} to {end}.',
  },
  find_free_rooms: {
    goal: 'find a room for an event',
    answer: '{rooms#room} {rooms=is|are} free[: {rooms*{name} with {seats} seats}].',
  },
  create_event: {
    goal: 'put something in the calendar',
    answer: '{title} is in your calendar for {date} at {start}.',
    next: ['repeat_event', 'invite_attendee', 'book_room', 'set_reminder'],
    checks: ['find_free_rooms', 'list_events'],
    wishes: ['plan a date'],
  },
  reschedule_event: {
    goal: 'move an event to another time',
    answer: '{title} is on {date} at {start} now.',
    next: ['set_reminder'],
    checks: ['list_events'],
  },
  cancel_event: {
    goal: 'cancel an event',
    answer: '{title} on {date} at {start} is {status}.',
    checks: ['list_events'],
    wishes: ['call off a date'],
  },
  repeat_event: {
    goal: 'make an event repeat',
    answer: '{title} now repeats {frequency}, {times} times in all, the last time on {last_date}.',
    checks: [],
  },
  cancel_series: {
    goal: 'cancel a whole series of events',
    answer: 'I called off {cancelled:coming event} of the series {title}.',
    checks: [],
  },
  invite_attendee: {
    goal: 'invite somebody to an event',
    answer: '{person} is invited to {title}; {invited:person} {invited=is|are} invited now.',
    next: ['book_room', 'set_reminder'],
    checks: ['get_event', 'find_free_rooms'],
    wishes: ['invite somebody'],
  },
  respond_to_invitation: {
    goal: 'answer an invitation',
    answer: '{organiser} sees you as {response} for {title} now.',
    next: ['set_reminder'],
    checks: ['list_events'],
  },
  book_room: {
    goal: 'book a room for an event',
    answer: '{room} is booked for {title} on {date} at {start}.',
    said: ['room'],
    next: ['invite_attendee', 'set_reminder'],
    checks: [],
  },
  set_reminder: {
    goal: 'set a reminder for an event',
    answer: 'I will remind you of {title} {minutes} minutes before, on {remind_at}.',
    checks: [],
    wishes: ['plan a date'],
  },
  share_calendar: {
    goal: 'share a calendar with somebody',
    answer: '{person} now has access to {name} as {access}.',
    checks: [],
  },
}
