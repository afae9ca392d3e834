import { addDays, addMinutes, clockOf, isWorkday, minutesOf } from '../kernel/dates.js'
import {
  type CalendarEvent,
  type FailureCode,
  type Frequency,
  LIMITS,
  type Person,
  type Room,
  type Series,
  STEP_DAYS,
  type View,
} from './schema.js'
import { endOf, instantOf, overlap, type Slot } from './time.js'

/** The state and the time a rule is judged at; tools and samplers both have one, so that they apply the same rules. */
export interface Scene {
  readonly db: View
  now(): string
}

export type Problem = FailureCode | undefined

/** The user whose calendar this is. */
export function self({ db }: Scene): Person {
  const [person] = db.people.by('self', true)
  if (!person) throw new Error('the world has no user')
  return person
}

export const hasStarted = (scene: Scene, event: CalendarEvent): boolean => instantOf(event) <= scene.now()

export const isUpcoming = (scene: Scene, event: CalendarEvent): boolean =>
  event.status === 'confirmed' && !hasStarted(scene, event)

/** Whether the person has committed to the event: organises it or accepted it. Open and tentative invitations do not bind. */
export const isCommitted = (event: CalendarEvent, person: string): boolean =>
  event.organiser === person || event.attendees[person] === 'accepted'

/** Organiser and invitees, whatever they answered: a declined invitation may still be accepted later. */
export const headcount = (event: CalendarEvent): number => 1 + Object.keys(event.attendees).length

/** Whether the person has committed to another event that overlaps the slot. */
export const isBusy = ({ db }: Scene, person: string, slot: Slot, except?: string): boolean =>
  db.events
    .by('date', slot.date)
    .some(
      (other) =>
        other.event !== except && other.status === 'confirmed' && isCommitted(other, person) && overlap(other, slot),
    )

export const worksDuring = (person: Person, slot: Slot): boolean =>
  isWorkday(slot.date) && person.work_start <= slot.start && endOf(slot) <= minutesOf(person.work_end)

/** Why an event may not be changed at all, if so. */
export function changeProblem(scene: Scene, event: CalendarEvent): Problem {
  if (event.status === 'cancelled') return 'event_cancelled'
  if (hasStarted(scene, event)) return 'event_started'
  if (scene.db.calendars.get(event.calendar)?.access === 'viewer') return 'read_only_calendar'
  if (event.organiser !== self(scene).person) return 'not_organiser'
  return undefined
}

/** Why an event may not be cancelled, if so. Moving it has the same limits. */
export function cancelProblem(scene: Scene, event: CalendarEvent): Problem {
  const problem = changeProblem(scene, event)
  if (problem) return problem
  const lastMoment = addMinutes(scene.now(), LIMITS.noticeMinutes)
  return headcount(event) > 1 && instantOf(event) < lastMoment ? 'too_late_to_change' : undefined
}

/** Why nothing can be planned for this time, whoever takes part. */
export function slotProblem(scene: Scene, slot: Slot): Problem {
  if (instantOf(slot) <= scene.now()) return 'in_the_past'
  if (slot.date > addDays(scene.now().slice(0, 10), LIMITS.horizonDays)) return 'too_far_ahead'
  if (endOf(slot) > 24 * 60) return 'ends_after_midnight'
  return undefined
}

/** Why an event of the user's cannot begin at this time. */
export const ownSlotProblem = (scene: Scene, slot: Slot, except?: string): Problem =>
  slotProblem(scene, slot) ?? (isBusy(scene, self(scene).person, slot, except) ? 'time_conflict' : undefined)

/** Why the person cannot be asked to come at this time. */
export function personProblem(scene: Scene, person: Person, slot: Slot, except?: string): Problem {
  if (!worksDuring(person, slot)) return 'outside_working_hours'
  return isBusy(scene, person.person, slot, except) ? 'person_busy' : undefined
}

/** Why the room cannot hold `heads` people at this time. */
export function roomProblem({ db }: Scene, room: Room, slot: Slot, heads: number, except?: string): Problem {
  if (room.seats < heads) return 'room_too_small'
  const open = minutesOf(slot.start) >= LIMITS.roomsOpen && endOf(slot) <= LIMITS.roomsClose
  if (!open || !isWorkday(slot.date)) return 'room_closed'
  const taken = db.events
    .by('date', slot.date)
    .some(
      (other) =>
        other.event !== except && other.status === 'confirmed' && other.room === room.room && overlap(other, slot),
    )
  return taken ? 'room_taken' : undefined
}

/** Why the event, with its invitees and its room, cannot also take place at this time. */
export function placeProblem(scene: Scene, event: CalendarEvent, slot: Slot): Problem {
  const own = ownSlotProblem(scene, slot, event.event)
  if (own) return own
  for (const key of Object.keys(event.attendees)) {
    const problem = personProblem(scene, scene.db.people.get(key)!, slot, event.event)
    if (problem) return problem
  }
  if (event.room === null) return undefined
  return roomProblem(scene, scene.db.rooms.get(event.room)!, slot, headcount(event), event.event)
}

export function moveProblem(scene: Scene, event: CalendarEvent, slot: Slot): Problem {
  const problem = cancelProblem(scene, event)
  if (problem) return problem
  if (event.date === slot.date && event.start === slot.start) return 'same_time'
  return placeProblem(scene, event, slot)
}

export function inviteProblem(scene: Scene, event: CalendarEvent, person: Person): Problem {
  const problem = changeProblem(scene, event)
  if (problem) return problem
  if (event.organiser === person.person || event.attendees[person.person] !== undefined) return 'already_invited'
  const room = event.room === null ? undefined : scene.db.rooms.get(event.room)
  if (room && room.seats <= headcount(event)) return 'room_too_small'
  return personProblem(scene, person, event)
}

export const bookProblem = (scene: Scene, event: CalendarEvent, room: Room): Problem =>
  changeProblem(scene, event) ?? roomProblem(scene, room, event, headcount(event), event.event)

/** The time a series prescribes for one of its occurrences. */
export const prescribedSlot = (series: Pick<Series, 'frequency' | keyof Slot>, occurrence: number): Slot => ({
  date: addDays(series.date, occurrence * STEP_DAYS[series.frequency]),
  start: series.start,
  duration: series.duration,
})

export function repeatProblem(scene: Scene, event: CalendarEvent, frequency: Frequency, times: number): Problem {
  const problem = changeProblem(scene, event)
  if (problem) return problem
  if (event.series !== null) return 'already_repeating'
  for (let i = 1; i < times; i++) {
    const problem = placeProblem(scene, event, prescribedSlot({ ...event, frequency }, i))
    if (problem) return problem
  }
  return undefined
}

/** Occurrences of a series that can still be cancelled. */
export const cancellable = (scene: Scene, series: Series): CalendarEvent[] =>
  scene.db.events.by('series', series.series).filter((event) => cancelProblem(scene, event) === undefined)

/** Why the user cannot answer an invitation this way. */
export function answerProblem(scene: Scene, event: CalendarEvent, answer: string): Problem {
  const { person } = self(scene)
  if (event.attendees[person] === undefined) return 'not_invited'
  if (event.status === 'cancelled') return 'event_cancelled'
  if (hasStarted(scene, event)) return 'event_started'
  return answer === 'accepted' && isBusy(scene, person, event, event.event) ? 'time_conflict' : undefined
}

/** Whether the user expects to be there. */
export function attends(scene: Scene, event: CalendarEvent): boolean {
  const { person } = self(scene)
  return isCommitted(event, person) || event.attendees[person] === 'tentative'
}

export function reminderProblem(scene: Scene, event: CalendarEvent, minutes: number): Problem {
  if (event.status === 'cancelled') return 'event_cancelled'
  if (!attends(scene, event)) return 'not_attending'
  if (addMinutes(instantOf(event), -minutes) <= scene.now()) return 'in_the_past'
  if (scene.db.reminders.has(`${event.event}:${minutes}`)) return 'reminder_exists'
  const set = scene.db.reminders.by('event', event.event)
  return set.length >= LIMITS.remindersPerEvent ? 'too_many_reminders' : undefined
}

/** The first quarter hour of the day at which both the user and the person could begin something of this length. */
export function commonStart(scene: Scene, person: Person, date: string, duration: number): string | undefined {
  const user = self(scene)
  const from = Math.max(minutesOf(user.work_start), minutesOf(person.work_start))
  const to = Math.min(minutesOf(user.work_end), minutesOf(person.work_end)) - duration
  for (let at = Math.ceil(from / 15) * 15; at <= to; at += 15) {
    const slot = { date, start: clockOf(at), duration }
    if (!ownSlotProblem(scene, slot) && !personProblem(scene, person, slot)) return slot.start
  }
  return undefined
}
