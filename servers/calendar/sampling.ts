import { choices } from '../kernel/choose.js'
import { addDays, clockOf, isWorkday } from '../kernel/dates.js'
import type { SampleContext } from '../kernel/define-environment.js'
import type { SeededRandom } from '../kernel/random.js'
import type { TableView } from '../kernel/table.js'
import { changeObstacle, isUpcoming, type Scene } from './rules.js'
import type { Calendar, CalendarEvent, CalendarTables, Person } from './schema.js'
import type { Slot } from './time.js'
import { DURATIONS } from './words.js'

/** Context from which samplers of this environment draw values. */
export type Draw = SampleContext<CalendarTables, object>

/** The bound row alone, or all rows that fit, in random order. */
export const candidates = <R>(
  random: SeededRandom,
  table: TableView<R>,
  bound: string | undefined,
  fits: (row: R) => boolean,
): R[] => random.shuffle(choices(table, bound, fits))

/** Events that the user may change, in random order. */
export const ownEvents = (draw: Draw, bound: string | undefined): CalendarEvent[] =>
  candidates(draw.random, draw.db.events, bound, (event) => changeObstacle(draw, event) === undefined)

/**
 * Returns the events for work that the user may change, in random order. The user does not ask colleagues to come to the
 * dentist or book a meeting room for a haircut.
 */
export const ownMeetings = (draw: Draw, bound: string | undefined): CalendarEvent[] =>
  ownEvents(draw, bound).filter(({ calendar }) => isForWork(draw, draw.db.calendars.get(calendar)!))

/** Whether the calendar is the user's main one or one of a team. */
export const isForWork = ({ db }: Scene, { calendar, access }: Calendar): boolean =>
  access !== 'owner' || db.calendars.find((other) => other.access === 'owner')!.calendar === calendar

export const upcomingEvents = (draw: Draw, bound: string | undefined): CalendarEvent[] =>
  candidates(draw.random, draw.db.events, bound, (event) => isUpcoming(draw, event))

export const colleagues = (
  draw: Draw,
  bound: string | undefined,
  fits: (person: Person) => boolean = () => true,
): Person[] => candidates(draw.random, draw.db.people, bound, (person) => !person.self && fits(person))

/** The first of up to twelve random times in the next two weeks that suits; bound parts stay. */
export function findSlot(draw: Draw, bound: Partial<Slot>, suits: (slot: Slot) => boolean): Slot | undefined {
  const { random } = draw
  for (let tries = 0; tries < 12; tries++) {
    const slot = {
      date: bound.date ?? workday(draw, random),
      start: bound.start ?? clockOf(random.int(18, 32) * 30 + random.pick([0, 0, 0, 15])),
      duration: bound.duration ?? random.pick(DURATIONS),
    }
    if (suits(slot)) return slot
  }
  return undefined
}

/** A workday within the next two weeks. */
export function workday(scene: Scene, random: SeededRandom): string {
  for (;;) {
    const date = addDays(scene.now().slice(0, 10), random.int(0, 14))
    if (isWorkday(date)) return date
  }
}
