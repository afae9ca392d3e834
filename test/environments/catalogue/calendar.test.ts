import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { calendar } from '../../../servers/calendar/index.js'
import { attends, changeObstacle, headcount, isBusy, isUpcoming, self } from '../../../servers/calendar/rules.js'
import type { CalendarEvent, View } from '../../../servers/calendar/schema.js'
import { endOf, isClock, isDate, overlap } from '../../../servers/calendar/time.js'
import { addDays, clockOf } from '../../../servers/kernel/dates.js'
import { generateSeedState, Session } from '../../../servers/kernel/session.js'
import { checkEnvironmentContract } from '../../support/environment-contract.js'
import { refusal, succeed } from '../../support/session-calls.js'

const TODAY = '2026-03-02'
const SATURDAY = '2026-03-14'
/** Free of seeded events in every world. */
const FAR_MONDAY = '2026-04-20'

const open = (seed: number) => Session.open(generateSeedState(calendar, seed))
const sceneOf = (session: Session) => ({ db: session.db as unknown as View, now: () => session.now() })
const userOf = (session: Session) => self(sceneOf(session)).person

function eventOf(session: Session, fits: (event: CalendarEvent) => boolean): CalendarEvent {
  const scene = sceneOf(session)
  const event = scene.db.events.find((row) => isUpcoming(scene, row) && fits(row))
  if (!event) throw new Error('this seed has no such upcoming event')
  return event
}

const isOwn = (session: Session) => (event: CalendarEvent) => changeObstacle(sceneOf(session), event) === undefined
const ownEvent = (session: Session, fits: (event: CalendarEvent) => boolean = () => true) =>
  eventOf(session, (event) => isOwn(session)(event) && fits(event))

/** An event of other people at a time when the user is free. */
const elsewhere = (session: Session, fits: (event: CalendarEvent) => boolean = () => true) =>
  eventOf(
    session,
    (event) => !isOwn(session)(event) && !isBusy(sceneOf(session), userOf(session), event) && fits(event),
  )

const creation = (date: string, start: string, duration = 30) =>
  ['create_event', { title: 'Picnic Planning', date, start, duration }] as const
const create = (session: Session, date: string, start: string, duration = 30): string =>
  String(succeed(session, ...creation(date, start, duration)).event)

/** Invites colleagues, whoever can come, until `count` have been. */
function inviteSome(session: Session, event: string, count: number): string[] {
  const invited: string[] = []
  for (const { person } of sceneOf(session).db.people.list()) {
    if (invited.length < count && session.call('invite_attendee', { event, person }).ok) invited.push(person)
  }
  assert.is(invited.length, count)
  return invited
}

const colleague = (session: Session) => sceneOf(session).db.people.find((person) => !person.self)!.person
const calendarWith = (session: Session, access: string) =>
  sceneOf(session).db.calendars.find((row) => row.access === access)!.calendar

checkEnvironmentContract(calendar, {
  sampleFloor: 1,
  maxResultChars: 480,
  provoke: {
    unknown_event: () => ['get_event', { event: 'review-7' }],
    unknown_person: () => ['find_free_time', { person: 'nobody-known', date: FAR_MONDAY, duration: 30 }],
    unknown_room: (s) => ['book_room', { event: ownEvent(s).event, room: 'broom-closet' }],
    unknown_calendar: () => ['list_events', { date: TODAY, calendar: 'moon-phases' }],
    unknown_series: () => ['cancel_series', { series: 'weekly-7' }],
    event_cancelled: (s) => {
      const event = create(s, FAR_MONDAY, '10:00')
      succeed(s, 'cancel_event', { event })
      return ['cancel_event', { event }]
    },
    event_started: (s) => {
      const { event } = sceneOf(s).db.events.find((row) => row.date === TODAY && row.start === '08:30')!
      return ['cancel_event', { event }]
    },
    too_late_to_change: (s) => {
      const { event } = ownEvent(s, (row) => row.date === TODAY && row.start === '09:20')
      if (headcount(ownEvent(s, (row) => row.event === event)) === 1) inviteSome(s, event, 1)
      return ['reschedule_event', { event, date: FAR_MONDAY, start: '10:00' }]
    },
    read_only_calendar: (s) => {
      const calendar = calendarWith(s, 'viewer')
      return ['cancel_event', { event: eventOf(s, (row) => row.calendar === calendar).event }]
    },
    not_organiser: (s) => {
      const calendar = calendarWith(s, 'editor')
      const event = eventOf(s, (row) => row.calendar === calendar && row.organiser !== userOf(s))
      return ['cancel_event', { event: event.event }]
    },
    not_calendar_owner: (s) => [
      'share_calendar',
      { calendar: calendarWith(s, 'editor'), person: colleague(s), access: 'viewer' },
    ],
    in_the_past: () => creation(TODAY, '09:00'),
    too_far_ahead: () => creation(addDays(TODAY, 181), '10:00'),
    ends_after_midnight: () => creation(FAR_MONDAY, '23:45', 30),
    time_conflict: (s) => {
      const { date, start } = ownEvent(s)
      return creation(date, start)
    },
    same_time: (s) => {
      const { event, date, start } = ownEvent(s, (row) => row.date > TODAY)
      return ['reschedule_event', { event, date, start }]
    },
    person_busy: (s) => {
      const { organiser, date, start, duration } = elsewhere(s)
      return ['invite_attendee', { event: create(s, date, start, duration), person: organiser }]
    },
    outside_working_hours: (s) => ['invite_attendee', { event: create(s, FAR_MONDAY, '06:30'), person: colleague(s) }],
    no_free_time: (s) => ['find_free_time', { person: colleague(s), date: SATURDAY, duration: 30 }],
    already_invited: (s) => ['invite_attendee', { event: ownEvent(s).event, person: userOf(s) }],
    not_invited: (s) => ['respond_to_invitation', { event: ownEvent(s).event, response: 'accepted' }],
    not_attending: (s) => {
      const { event } = eventOf(s, (row) => !attends(sceneOf(s), row))
      return ['set_reminder', { event, minutes: 15 }]
    },
    room_taken: (s) => {
      const { date, start, room } = elsewhere(s, (row) => row.room !== null)
      return ['book_room', { event: create(s, date, start), room }]
    },
    room_too_small: (s) => {
      const { room, seats } = sceneOf(s)
        .db.rooms.list()
        .sort((a, b) => a.seats - b.seats)[0]!
      const event = create(s, FAR_MONDAY, '11:00')
      inviteSome(s, event, seats)
      return ['book_room', { event, room }]
    },
    room_closed: (s) => [
      'book_room',
      { event: create(s, SATURDAY, '20:00'), room: sceneOf(s).db.rooms.list()[0]!.room },
    ],
    already_repeating: (s) => [
      'repeat_event',
      { event: ownEvent(s, (row) => row.series !== null).event, frequency: 'weekly', times: 2 },
    ],
    series_ended: (s) => {
      const { series } = ownEvent(s, (row) => row.series !== null)
      succeed(s, 'cancel_series', { series })
      return ['cancel_series', { series }]
    },
    reminder_exists: (s) => {
      const event = create(s, FAR_MONDAY, '10:00')
      succeed(s, 'set_reminder', { event, minutes: 15 })
      return ['set_reminder', { event, minutes: 15 }]
    },
    too_many_reminders: (s) => {
      const event = create(s, FAR_MONDAY, '10:00')
      for (const minutes of [5, 10, 15]) succeed(s, 'set_reminder', { event, minutes })
      return ['set_reminder', { event, minutes: 20 }]
    },
    already_shared: (s) => {
      const args = { calendar: calendarWith(s, 'owner'), person: colleague(s) }
      s.call('share_calendar', { ...args, access: 'viewer' })
      return ['share_calendar', { ...args, access: 'viewer' }]
    },
    share_limit: (s) => {
      const calendar = calendarWith(s, 'owner')
      const { db } = sceneOf(s)
      const strangers = db.people.list((row) => !row.self && !db.shares.has(`${calendar}:${row.person}`))
      for (const { person } of strangers) {
        if (db.shares.count((row) => row.calendar === calendar) === 6) break
        succeed(s, 'share_calendar', { calendar, person, access: 'viewer' })
      }
      return ['share_calendar', { calendar, person: strangers.at(-1)!.person, access: 'editor' }]
    },
  },
})

test('an event moves from possible to too late to started as writing calls let time pass', () => {
  const session = open(2)
  const { event } = ownEvent(session, (row) => row.date === TODAY && row.start === '09:20')
  const alone = headcount(ownEvent(session, (row) => row.event === event)) === 1
  const move = ['reschedule_event', { event, date: FAR_MONDAY, start: '10:00' }] as const
  assert.is(refusal(session.fork(), ...move), alone ? 'succeeded' : 'too_late_to_change')
  for (let minute = 0; minute < 20; minute++) create(session, addDays(FAR_MONDAY, minute), '10:00')
  assert.is(session.now(), `${TODAY}T09:20:00Z`)
  assert.is(refusal(session, ...move), 'event_started')
  const { title } = sceneOf(session).db.events.get(event)!
  const found = succeed(session, 'find_events', { title }).events as { event: string }[]
  assert.not.ok(found.some((hit) => hit.event === event))
})

test('the common free time that is found can be used to meet, and today it lies ahead', () => {
  for (let seed = 1; seed <= 10; seed++) {
    const session = open(seed)
    for (const { person } of sceneOf(session)
      .db.people.list((row) => !row.self)
      .slice(0, 6)) {
      const found = session.call('find_free_time', { person, date: TODAY, duration: 45 })
      if (!found.ok) continue
      const { start, end } = found.output as { start: string; end: string }
      assert.ok(`${TODAY}T${start}:00Z` > session.now())
      assert.is(end, clockOf(endOf({ date: TODAY, start, duration: 45 })))
      const apart = session.fork()
      const event = create(apart, TODAY, start, 45)
      assert.is(succeed(apart, 'invite_attendee', { event, person }).response, 'pending')
    }
  }
})

test('moving an event asks its invitees again and takes its room along only if that is free', () => {
  const session = open(3)
  const event = create(session, FAR_MONDAY, '10:00')
  inviteSome(session, event, 2)
  const [room] = succeed(session, 'find_free_rooms', { event }).rooms as { room: string }[]
  succeed(session, 'book_room', { event, room: room!.room })

  const other = create(session, FAR_MONDAY, '11:00')
  assert.is(refusal(session, 'reschedule_event', { event, date: FAR_MONDAY, start: '11:15' }), 'time_conflict')
  succeed(session, 'cancel_event', { event: other })
  succeed(session, 'reschedule_event', { event, date: FAR_MONDAY, start: '11:15' })
  const { attendees, status } = sceneOf(session).db.events.get(event)!
  assert.equal(new Set(Object.values(attendees)), new Set(['pending']))
  assert.is(status, 'confirmed')
  assert.is(sceneOf(session).db.events.get(event)!.room, room!.room)

  const taken = elsewhere(session, (row) => row.room !== null)
  const alone = create(session, FAR_MONDAY, '14:00', taken.duration)
  succeed(session, 'book_room', { event: alone, room: taken.room })
  const { date, start } = taken
  assert.is(refusal(session, 'reschedule_event', { event: alone, date, start }), 'room_taken')
})

test('a cancelled event gives back its room, its time and its reminders', () => {
  const session = open(4)
  const first = create(session, FAR_MONDAY, '10:00')
  const [room] = succeed(session, 'find_free_rooms', { event: first }).rooms as { room: string }[]
  succeed(session, 'book_room', { event: first, room: room!.room })
  succeed(session, 'set_reminder', { event: first, minutes: 30 })
  assert.is(refusal(session, ...creation(FAR_MONDAY, '10:15')), 'time_conflict')
  assert.is(succeed(session, 'cancel_event', { event: first }).status, 'cancelled')
  const second = create(session, FAR_MONDAY, '10:15')
  succeed(session, 'book_room', { event: second, room: room!.room })
  assert.is(
    sceneOf(session).db.reminders.count((row) => row.event === first),
    0,
  )
})

test('a moved occurrence leaves the rule of its series and can return to it; cancelling the series spares no later date', () => {
  const session = open(5)
  const event = create(session, FAR_MONDAY, '10:00')
  const made = succeed(session, 'repeat_event', { event, frequency: 'weekly', times: 4 })
  assert.is(made.last_date, addDays(FAR_MONDAY, 21))
  const second = eventOf(session, (row) => row.series === made.series && row.occurrence === 1)
  const moved = () => sceneOf(session).db.events.get(second.event)!.moved
  succeed(session, 'reschedule_event', { event: second.event, date: second.date, start: '15:00' })
  assert.is(moved(), true)
  succeed(session, 'reschedule_event', { event: second.event, date: second.date, start: '10:00' })
  assert.is(moved(), false)
  succeed(session, 'cancel_event', { event })
  assert.is(succeed(session, 'cancel_series', { series: made.series }).cancelled, 3)
  assert.equal(session.violations(), [])
})

test('a series is refused as a whole when one of its dates does not fit', () => {
  const session = open(6)
  const event = create(session, FAR_MONDAY, '10:00')
  create(session, addDays(FAR_MONDAY, 14), '10:15')
  const before = session.stateHash()
  assert.is(refusal(session, 'repeat_event', { event, frequency: 'weekly', times: 3 }), 'time_conflict')
  assert.is(session.stateHash(), before)
  succeed(session, 'repeat_event', { event, frequency: 'weekly', times: 2 })
})

test('declining an invitation frees the time and removes the reminders that accepting allowed', () => {
  const session = open(7)
  const user = userOf(session)
  const invitation = elsewhere(session, (row) => row.attendees[user] === 'pending')
  const { event, date, start } = invitation
  assert.is(refusal(session, 'set_reminder', { event, minutes: 15 }), 'not_attending')
  succeed(session, 'respond_to_invitation', { event, response: 'accepted' })
  assert.is(refusal(session, ...creation(date, start)), 'time_conflict')
  const held = () => sceneOf(session).db.reminders.count((row) => row.event === event)
  succeed(session, 'set_reminder', { event, minutes: 15 })
  assert.is(held(), 1)
  succeed(session, 'respond_to_invitation', { event, response: 'declined' })
  assert.is(held(), 0)
  create(session, date, start)
})

test('the invariants notice a double booking, a broken rule and a rewritten past', () => {
  const session = open(8)
  const { db } = sceneOf(session)
  const tampered = (change: (event: CalendarEvent) => CalendarEvent): string[] => {
    const events = db.events.list().map(change)
    const table = {
      get: (key: string) => events.find((row) => row.event === key),
      has: (key: string) => events.some((row) => row.event === key),
      list: (where: (row: CalendarEvent) => boolean = () => true) => events.filter(where),
      find: (where: (row: CalendarEvent) => boolean) => events.find(where),
      count: (where: (row: CalendarEvent) => boolean = () => true) => events.filter(where).length,
    }
    const now = { ...db, events: table }
    return calendar.invariants.filter(({ check }) => check(now as never, db as never) !== undefined).map((i) => i.name)
  }
  const has = (names: string[], word: string) =>
    assert.ok(
      names.some((name) => name.includes(word)),
      names.join(),
    )
  assert.equal(
    tampered((event) => event),
    [],
  )
  const { room } = eventOf(session, (row) => row.room !== null)
  has(
    tampered((event) => ({ ...event, room, date: FAR_MONDAY, start: '10:00' })),
    'a room holds one event',
  )
  const series = eventOf(session, (row) => row.series !== null).event
  has(
    tampered((event) => (event.event === series ? { ...event, start: '16:45' } : event)),
    'follow its rule',
  )
  const past = db.events.find((row) => row.date < TODAY)!.event
  has(
    tampered((event) => (event.event === past ? { ...event, title: 'Nothing Happened' } : event)),
    'never change',
  )
  const foreign = eventOf(session, (row) => !isOwn(session)(row)).event
  has(
    tampered((event) => (event.event === foreign ? { ...event, duration: 15 } : event)),
    "other people's events",
  )
})

test('dates and times that do not exist are refused as arguments', () => {
  const session = open(1)
  for (const date of ['2026-02-29', '2026-13-01', '2026-3-2', 'tomorrow', '2026-03-02T00:00'])
    assert.is(refusal(session, 'list_events', { date }), 'invalid_arguments', date)
  for (const start of ['24:00', '9:00', '10:60', 'noon'])
    assert.is(refusal(session, ...creation(FAR_MONDAY, start)), 'invalid_arguments', start)
  assert.ok(isDate('2028-02-29') && isClock('00:00') && isClock('23:59'))
})

test('events that touch do not overlap', () => {
  const morning = { date: TODAY, start: '10:00', duration: 30 }
  assert.not.ok(overlap(morning, { ...morning, start: '10:30' }))
  assert.ok(overlap(morning, { ...morning, start: '10:29' }))
  assert.not.ok(overlap(morning, { ...morning, date: SATURDAY }))
})

test.run()
