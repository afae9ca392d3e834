import { addDays, addMinutes, clockOf, isWorkday, minutesOf } from '../kernel/dates.js'
import {
  type CalendarEvent,
  type Frequency,
  LIMITS,
  type Obstacle,
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

/** The user whose calendar this is. */
export function self({ db }: Scene): Person {
  const [person] = db.people.by('self', true)
  if (!person) throw new Error('the environment has no user')
  return person
}

export const hasStarted = (scene: Scene, event: CalendarEvent): boolean => instantOf(event) <= scene.now()

export const isUpcoming = (scene: Scene, event: CalendarEvent): boolean =>
  event.status === 'confirmed' && !hasStarted(scene, event)

/** Whether the person has committed to the event: organises it or accepted it. Open and tentative invitations do not bind. */
export const isCommitted = (event: CalendarEvent, person: string): boolean =>
  event.organiser === person || event.attendees[person] === 'accepted'

/** Counts the organiser and all invitees. Invitees who declined count too, because a declined invitation may still be accepted later. */
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
export function changeObstacle(scene: Scene, event: CalendarEvent): Obstacle | undefined {
  if (event.status === 'cancelled') return { code: 'event_cancelled' }
  if (hasStarted(scene, event)) return { code: 'event_started' }
  if (scene.db.calendars.get(event.calendar)?.access === 'viewer') return { code: 'read_only_calendar' }
  if (event.organiser !== self(scene).person) return { code: 'not_organiser' }
  return undefined
}

/** Why an event may not be cancelled, if so. Moving it has the same limits. */
export function cancelObstacle(scene: Scene, event: CalendarEvent): Obstacle | undefined {
  const obstacle = changeObstacle(scene, event)
  if (obstacle) return obstacle
  const lastMoment = addMinutes(scene.now(), LIMITS.noticeMinutes)
  return headcount(event) > 1 && instantOf(event) < lastMoment ? { code: 'too_late_to_change' } : undefined
}

/** Returns the obstacle to planning any event for this time, regardless of who takes part, or undefined if the time is allowed. */
export function slotObstacle(scene: Scene, slot: Slot): Obstacle | undefined {
  if (instantOf(slot) <= scene.now()) return { code: 'in_the_past' }
  if (slot.date > addDays(scene.now().slice(0, 10), LIMITS.horizonDays)) return { code: 'too_far_ahead' }
  if (endOf(slot) > 24 * 60) return { code: 'ends_after_midnight' }
  return undefined
}

/** Why an event of the user's cannot begin at this time. */
export const ownSlotObstacle = (scene: Scene, slot: Slot, except?: string): Obstacle | undefined =>
  slotObstacle(scene, slot) ?? (isBusy(scene, self(scene).person, slot, except) ? { code: 'time_conflict' } : undefined)

/** Why the person cannot be asked to come at this time. */
export function personObstacle(scene: Scene, person: Person, slot: Slot, except?: string): Obstacle | undefined {
  if (!worksDuring(person, slot)) return { code: 'outside_working_hours' }
  return isBusy(scene, person.person, slot, except) ? { code: 'person_busy' } : undefined
}

/** Returns the obstacle to a meeting of `heads` people in the meeting room at this time, or undefined if the booking is possible. */
export function roomObstacle(
  { db }: Scene,
  room: Room,
  slot: Slot,
  heads: number,
  except?: string,
): Obstacle | undefined {
  if (room.seats < heads) return { code: 'room_too_small' }
  const open = minutesOf(slot.start) >= LIMITS.roomsOpen && endOf(slot) <= LIMITS.roomsClose
  if (!open || !isWorkday(slot.date)) return { code: 'room_closed' }
  const taken = db.events
    .by('date', slot.date)
    .some(
      (other) =>
        other.event !== except && other.status === 'confirmed' && other.room === room.room && overlap(other, slot),
    )
  return taken ? { code: 'room_taken' } : undefined
}

/**
 * Returns the obstacle to holding the event at this time too, or undefined if the event can take place. The check includes
 * the invitees and the meeting room of the event.
 */
export function placeObstacle(scene: Scene, event: CalendarEvent, slot: Slot): Obstacle | undefined {
  const own = ownSlotObstacle(scene, slot, event.event)
  if (own) return own
  for (const key of Object.keys(event.attendees)) {
    const obstacle = personObstacle(scene, scene.db.people.get(key)!, slot, event.event)
    if (obstacle) return obstacle
  }
  if (event.room === null) return undefined
  return roomObstacle(scene, scene.db.rooms.get(event.room)!, slot, headcount(event), event.event)
}

export function moveObstacle(scene: Scene, event: CalendarEvent, slot: Slot): Obstacle | undefined {
  const obstacle = cancelObstacle(scene, event)
  if (obstacle) return obstacle
  if (event.date === slot.date && event.start === slot.start) return { code: 'same_time' }
  return placeObstacle(scene, event, slot)
}

export function inviteObstacle(scene: Scene, event: CalendarEvent, person: Person): Obstacle | undefined {
  const obstacle = changeObstacle(scene, event)
  if (obstacle) return obstacle
  if (event.organiser === person.person || event.attendees[person.person] !== undefined)
    return { code: 'already_invited' }
  const room = event.room === null ? undefined : scene.db.rooms.get(event.room)
  if (room && room.seats <= headcount(event)) return { code: 'room_too_small' }
  return personObstacle(scene, person, event)
}

export const bookObstacle = (scene: Scene, event: CalendarEvent, room: Room): Obstacle | undefined =>
  changeObstacle(scene, event) ?? roomObstacle(scene, room, event, headcount(event), event.event)

/** The time a series prescribes for one of its occurrences. */
export const prescribedSlot = (series: Pick<Series, 'frequency' | keyof Slot>, occurrence: number): Slot => ({
  date: addDays(series.date, occurrence * STEP_DAYS[series.frequency]),
  start: series.start,
  duration: series.duration,
})

export function repeatObstacle(
  scene: Scene,
  event: CalendarEvent,
  frequency: Frequency,
  times: number,
): Obstacle | undefined {
  const obstacle = changeObstacle(scene, event)
  if (obstacle) return obstacle
  if (event.series !== null) return { code: 'already_repeating' }
  for (let i = 1; i < times; i++) {
    const obstacle = placeObstacle(scene, event, prescribedSlot({ ...event, frequency }, i))
    if (obstacle) return obstacle
  }
  return undefined
}

/** Occurrences of a series that can still be cancelled. */
export const cancellable = (scene: Scene, series: Series): CalendarEvent[] =>
  scene.db.events.by('series', series.series).filter((event) => cancelObstacle(scene, event) === undefined)

/** Why the user cannot answer an invitation this way. */
export function answerObstacle(scene: Scene, event: CalendarEvent, answer: string): Obstacle | undefined {
  const { person } = self(scene)
  if (event.attendees[person] === undefined) return { code: 'not_invited' }
  if (event.status === 'cancelled') return { code: 'event_cancelled' }
  if (hasStarted(scene, event)) return { code: 'event_started' }
  return answer === 'accepted' && isBusy(scene, person, event, event.event) ? { code: 'time_conflict' } : undefined
}

/** Whether the user expects to be there. */
export function attends(scene: Scene, event: CalendarEvent): boolean {
  const { person } = self(scene)
  return isCommitted(event, person) || event.attendees[person] === 'tentative'
}

export function reminderObstacle(scene: Scene, event: CalendarEvent, minutes: number): Obstacle | undefined {
  if (event.status === 'cancelled') return { code: 'event_cancelled' }
  if (!attends(scene, event)) return { code: 'not_attending' }
  if (addMinutes(instantOf(event), -minutes) <= scene.now()) return { code: 'in_the_past' }
  if (scene.db.reminders.has(`${event.event}:${minutes}`)) return { code: 'reminder_exists' }
  const set = scene.db.reminders.by('event', event.event)
  return set.length >= LIMITS.remindersPerEvent ? { code: 'too_many_reminders' } : undefined
}

/** The first quarter hour of the day at which both the user and the person could begin something of this length. */
export function commonStart(scene: Scene, person: Person, date: string, duration: number): string | undefined {
  const user = self(scene)
  const from = Math.max(minutesOf(user.work_start), minutesOf(person.work_start))
  const to = Math.min(minutesOf(user.work_end), minutesOf(person.work_end)) - duration
  for (let at = Math.ceil(from / 15) * 15; at <= to; at += 15) {
    const slot = { date, start: clockOf(at), duration }
    if (!ownSlotObstacle(scene, slot) && !personObstacle(scene, person, slot)) return slot.start
  }
  return undefined
}
