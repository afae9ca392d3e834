import { z } from 'zod'
import { clockOf } from '../../kernel/dates.js'
import { ref } from '../../kernel/fields.js'
import { ascending } from '../../kernel/lists.js'
import { bookObstacle, commonStart, headcount, roomObstacle, type Scene } from '../rules.js'
import { candidates, colleagues, type Draw, ownMeetings, workday } from '../sampling.js'
import { type CalendarEvent, date, EQUIPMENT, minutes, type Room, tool } from '../schema.js'
import { endOf } from '../time.js'

export const findFreeTime = tool({
  name: 'find_free_time',
  description:
    'Find the first time on a day at which you and a colleague are both free for so many minutes within your working hours.',
  input: z.strictObject({ person: ref('person'), date: date(), duration: minutes() }),
  output: z.object({ person: ref('person'), date: z.string(), start: z.string(), end: z.string() }),
  annotations: { readOnly: true },
  sample: (draw) => {
    const { random, bound } = draw
    for (const { person, ...row } of colleagues(draw, bound.person).slice(0, 3)) {
      const day = bound.date ?? workday(draw, random)
      const duration = bound.duration ?? random.pick([30, 45, 60, 90])
      if (commonStart(draw, { person, ...row }, day, duration) !== undefined) return { person, date: day, duration }
    }
    return null
  },
  run: ({ person: key, date, duration }, context) => {
    const { rowOf, today, fail } = context
    const person = rowOf('people', key)
    if (date < today()) fail('in_the_past')
    const start = commonStart(context, person, date, duration) ?? fail('no_free_time')
    return { person: person.person, date, start, end: clockOf(endOf({ date, start, duration })) }
  },
})

export const findFreeRooms = tool({
  name: 'find_free_rooms',
  description:
    'Find rooms that are free at the time of an event and have enough seats for everyone invited, the smallest first.',
  input: z.strictObject({
    event: ref('event'),
    equipment: z.enum(EQUIPMENT).describe('What the room must have.').optional(),
  }),
  output: z.object({
    rooms: z.array(z.object({ name: z.string(), room: ref('room'), seats: z.int() })),
  }),
  pages: { rooms: 'longest' },
  annotations: { readOnly: true },
  sample: (draw) => {
    const { random, bound } = draw
    for (const { event, ...row } of roomless(draw, bound.event)) {
      const free = freeRooms(draw, { event, ...row })
      if (bound.equipment === undefined && free.length > 0 && random.chance(0.4)) return { event }
      const [room] = random.shuffle(free.filter((room) => room.equipment === (bound.equipment ?? room.equipment)))
      if (room) return { event, equipment: room.equipment }
    }
    return null
  },
  run: ({ event: key, equipment }, context) => {
    const { rowOf, fail } = context
    const event = rowOf('events', key)
    if (event.status === 'cancelled') fail('event_cancelled')
    const rooms = freeRooms(context, event).filter((room) => room.equipment === (equipment ?? room.equipment))
    return {
      rooms: rooms.sort(ascending('seats')),
    }
  },
})

/** Meetings for which somebody would look for a room: they have none. */
const roomless = (draw: Draw, bound: string | undefined): CalendarEvent[] =>
  ownMeetings(draw, bound).filter(({ room }) => room === null)

/** Rooms, other than its own, that the event could be held in. */
const freeRooms = (scene: Scene, event: CalendarEvent): Room[] =>
  scene.db.rooms.list(
    (room) => room.room !== event.room && roomObstacle(scene, room, event, headcount(event), event.event) === undefined,
  )

export const bookRoom = tool({
  name: 'book_room',
  description: 'Book a room for an event that you organise. A room booked for it before is given back.',
  input: z.strictObject({ event: ref('event'), room: ref('room') }),
  output: z.object({ title: z.string(), event: ref('event'), room: ref('room'), date: z.string(), start: z.string() }),
  annotations: { readOnly: false, idempotent: true },
  sample: (draw) => {
    const { db, random, bound } = draw
    for (const event of roomless(draw, bound.event)) {
      const [room] = candidates(
        random,
        db.rooms,
        bound.room,
        (row) => row.room !== event.room && bookObstacle(draw, event, row) === undefined,
      )
      if (room) return { event: event.event, room: room.room }
    }
    return null
  },
  run: ({ event: eventKey, room: roomKey }, context) => {
    const { rowOf, unless, db } = context
    const event = rowOf('events', eventKey)
    const room = rowOf('rooms', roomKey)
    unless(bookObstacle(context, event, room))
    return { ...db.events.update(eventKey, { room: roomKey }), room: roomKey }
  },
})
