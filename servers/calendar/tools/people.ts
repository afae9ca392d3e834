import { z } from 'zod'
import { ref } from '../../kernel/fields.js'
import { answerObstacle, inviteObstacle, self } from '../rules.js'
import { candidates, colleagues, isForWork, ownMeetings, upcomingEvents } from '../sampling.js'
import { ANSWERS, LIMITS, tool } from '../schema.js'
import { dropReminders } from './reminders.js'

export const inviteAttendee = tool({
  name: 'invite_attendee',
  description:
    'Invite a colleague to an event that you organise, within their working hours and when they have accepted nothing else.',
  input: z.strictObject({ event: ref('event'), person: ref('person') }),
  output: z.object({
    title: z.string(),
    event: ref('event'),
    person: ref('person'),
    response: z.string(),
    invited: z.int().describe('Invitees in all'),
  }),
  annotations: { readOnly: false },
  sample: (draw) => {
    for (const event of ownMeetings(draw, draw.bound.event)) {
      const [person] = colleagues(draw, draw.bound.person, (row) => inviteObstacle(draw, event, row) === undefined)
      if (person) return { event: event.event, person: person.person }
    }
    return null
  },
  run: ({ event: eventKey, person: personKey }, context) => {
    const { rowOf, unless, db } = context
    const event = rowOf('events', eventKey)
    const person = rowOf('people', personKey)
    unless(inviteObstacle(context, event, person))
    const attendees = { ...event.attendees, [personKey]: 'pending' as const }
    db.events.update(eventKey, { attendees })
    return { ...event, person: personKey, response: 'pending', invited: Object.keys(attendees).length }
  },
})

export const respondToInvitation = tool({
  name: 'respond_to_invitation',
  description: 'Answer an invitation to an upcoming event. Declining removes your reminders of it.',
  input: z.strictObject({ event: ref('event'), response: z.enum(ANSWERS).describe('Your answer.') }),
  output: z.object({ title: z.string(), event: ref('event'), organiser: ref('person'), response: z.string() }),
  annotations: { readOnly: false, idempotent: true },
  establishes: ['attending'],
  sample: (draw) => {
    const { random, bound } = draw
    const { person } = self(draw)
    for (const event of upcomingEvents(draw, bound.event)) {
      const answers = ANSWERS.filter(
        (answer) =>
          answer === (bound.response ?? answer) &&
          event.attendees[person] !== answer &&
          answerObstacle(draw, event, answer) === undefined,
      )
      if (answers.length > 0) return { event: event.event, response: random.pick(answers) }
    }
    return null
  },
  run: ({ event: key, response }, context) => {
    const { rowOf, unless, db } = context
    const event = rowOf('events', key)
    unless(answerObstacle(context, event, response))
    if (response === 'declined') dropReminders(db, key)
    db.events.update(key, { attendees: { ...event.attendees, [self(context).person]: response } })
    return { ...event, response }
  },
})

export const shareCalendar = tool({
  name: 'share_calendar',
  description:
    'Give a colleague access to a calendar that you own, as viewer or editor, or change the access they have.',
  input: z.strictObject({
    calendar: ref('calendar'),
    person: ref('person'),
    access: z.enum(['viewer', 'editor']).describe('viewer may look, editor may also change.'),
  }),
  output: z.object({ name: z.string(), calendar: ref('calendar'), person: ref('person'), access: z.string() }),
  annotations: { readOnly: false },
  sample: (draw) => {
    const { db, random, bound } = draw
    const [calendar] = candidates(
      random,
      db.calendars,
      bound.calendar,
      (row) => row.access === 'owner' && sharesOf(db, row.calendar) < LIMITS.sharesPerCalendar,
    )
    if (!calendar) return null
    // Who sees when somebody does sports does not plan it for them.
    const access = bound.access ?? (isForWork(draw, calendar) ? random.pick(['viewer', 'editor'] as const) : 'viewer')
    const [person] = colleagues(
      draw,
      bound.person,
      (row) => db.shares.get(`${calendar.calendar}:${row.person}`)?.access !== access,
    )
    return person ? { calendar: calendar.calendar, person: person.person, access } : null
  },
  run: ({ calendar: calendarKey, person: personKey, access }, { rowOf, db, fail }) => {
    const calendar = rowOf('calendars', calendarKey)
    const person = rowOf('people', personKey)
    if (calendar.access !== 'owner') fail('not_calendar_owner')
    const share = `${calendarKey}:${personKey}`
    const held = db.shares.get(share)
    if (person.self || held?.access === access) fail('already_shared')
    if (held) db.shares.update(share, { access })
    else {
      if (sharesOf(db, calendarKey) >= LIMITS.sharesPerCalendar) fail('share_limit')
      db.shares.insert({ share, calendar: calendarKey, person: personKey, access })
    }
    return { ...calendar, person: personKey, access }
  },
})

const sharesOf = (db: Parameters<typeof self>[0]['db'], calendar: string): number =>
  db.shares.count((share) => share.calendar === calendar)
