import { z } from 'zod'
import { type DbView, type ObstacleOf, type RowOf, type ToolContext, toolMaker } from '../kernel/define-environment.js'
import { isClock, isDate } from './time.js'

export const RESPONSES = ['accepted', 'declined', 'tentative', 'pending'] as const
export const ANSWERS = ['accepted', 'declined', 'tentative'] as const
export const FREQUENCIES = ['daily', 'weekly', 'biweekly'] as const
export const EQUIPMENT = ['screen', 'whiteboard', 'phone', 'camera', 'speaker'] as const
export type Frequency = (typeof FREQUENCIES)[number]

/** Days between two occurrences of a series. */
export const STEP_DAYS: Readonly<Record<Frequency, number>> = { daily: 1, weekly: 7, biweekly: 14 }

/** The limits of this environment. */
export const LIMITS = {
  /** Nothing can be planned further ahead than this. */
  horizonDays: 180,
  /** Events with invitees cannot be moved or cancelled in the last minutes before they start. */
  noticeMinutes: 30,
  remindersPerEvent: 3,
  sharesPerCalendar: 6,
  /** Rooms are open on workdays, minutes since midnight. */
  roomsOpen: 8 * 60,
  roomsClose: 19 * 60,
} as const

export const date = () => z.string().refine(isDate, 'not a date of the form YYYY-MM-DD').describe('YYYY-MM-DD')
export const clock = () => z.string().refine(isClock, 'not a time of the form HH:MM').describe('HH:MM, 24h')
export const minutes = () => z.int().min(15).max(480).describe('Minutes')
export const title = () => z.string().trim().min(1).max(60)

export const tables = {
  people: {
    key: 'person',
    missing: 'unknown_person',
    row: z.object({
      person: z.string(),
      name: z.string(),
      team: z.string(),
      /** Working hours on workdays. */
      work_start: clock(),
      work_end: clock(),
      /** The user whose calendar this is: exactly one row. */
      self: z.boolean(),
    }),
  },
  calendars: {
    key: 'calendar',
    missing: 'unknown_calendar',
    row: z.object({
      calendar: z.string(),
      name: z.string(),
      owner: z.string(),
      /** What the user may do: `owner` may also share, `editor` may add events, `viewer` may only look. */
      access: z.enum(['owner', 'editor', 'viewer']),
    }),
  },
  shares: {
    key: 'share',
    row: z.object({
      /** `<calendar>:<person>`. */
      share: z.string(),
      calendar: z.string(),
      person: z.string(),
      access: z.enum(['editor', 'viewer']),
    }),
  },
  rooms: {
    key: 'room',
    missing: 'unknown_room',
    row: z.object({ room: z.string(), name: z.string(), seats: z.int().positive(), equipment: z.enum(EQUIPMENT) }),
  },
  series: {
    key: 'series',
    missing: 'unknown_series',
    row: z.object({
      series: z.string(),
      title: z.string(),
      organiser: z.string(),
      frequency: z.enum(FREQUENCIES),
      /** Number of occurrences; occurrence i lies `i * STEP_DAYS[frequency]` days after `date`. */
      times: z.int().min(2),
      date: date(),
      start: clock(),
      duration: minutes(),
    }),
  },
  events: {
    key: 'event',
    missing: 'unknown_event',
    row: z.object({
      event: z.string(),
      title: z.string(),
      calendar: z.string(),
      organiser: z.string(),
      date: date(),
      start: clock(),
      duration: minutes(),
      room: z.string().nullable(),
      status: z.enum(['confirmed', 'cancelled']),
      series: z.string().nullable(),
      /** Place in the series, from 0; 0 without one. */
      occurrence: z.int().min(0),
      /** An occurrence that was moved away from the time its series prescribes. */
      moved: z.boolean(),
      /** Everyone who was invited, by person, with their response. The organiser always attends and is not listed. */
      attendees: z.record(z.string(), z.enum(RESPONSES)),
    }),
  },
  reminders: {
    key: 'reminder',
    row: z.object({
      /** `<event>:<minutes>`. */
      reminder: z.string(),
      event: z.string(),
      minutes: z.int().positive(),
    }),
  },
} as const

export const failures = {
  unknown_event: 'There is no such event.',
  unknown_person: 'There is no such person in the directory.',
  unknown_room: 'There is no such room.',
  unknown_calendar: 'There is no such calendar.',
  unknown_series: 'There is no such series.',
  event_cancelled: 'The event has been cancelled.',
  event_started: 'The event has already started.',
  too_late_to_change: 'Events with invitees cannot be moved or cancelled less than 30 minutes before they start.',
  read_only_calendar: 'You may only view this calendar.',
  not_organiser: 'Only the organiser may do this.',
  not_calendar_owner: 'Only the owner of the calendar may share it.',
  in_the_past: 'That time has passed.',
  too_far_ahead: 'Events can be planned at most 180 days ahead.',
  ends_after_midnight: 'An event must end on the day it starts.',
  time_conflict: 'You have another event at that time.',
  same_time: 'The event is already at that time.',
  person_busy: 'An invitee has accepted another event at that time.',
  outside_working_hours: 'That time is outside the working hours of an invitee.',
  no_free_time: 'There is no common free time on that day.',
  already_invited: 'This person already takes part in the event.',
  not_invited: 'You are not invited to this event.',
  not_attending: 'You have not accepted this event.',
  room_taken: 'The room is taken at that time.',
  room_too_small: 'The room has too few seats.',
  room_closed: 'Rooms are open on workdays from 08:00 to 19:00.',
  already_repeating: 'The event already belongs to a series.',
  series_ended: 'Nothing is left of this series to cancel.',
  reminder_exists: 'This reminder is already set.',
  too_many_reminders: 'An event can have at most 3 reminders.',
  already_shared: 'This person already has this access.',
  share_limit: 'A calendar can be shared with at most 6 people.',
} as const

export type CalendarTables = typeof tables
export type FailureCode = keyof typeof failures
export type Context = ToolContext<typeof tables, FailureCode>
export type Obstacle = ObstacleOf<typeof failures>
export type View = DbView<CalendarTables>
export type Person = RowOf<CalendarTables['people']>
export type Calendar = RowOf<CalendarTables['calendars']>
export type Room = RowOf<CalendarTables['rooms']>
export type Series = RowOf<CalendarTables['series']>
export type Reminder = RowOf<CalendarTables['reminders']>
export type CalendarEvent = RowOf<CalendarTables['events']>

/** Declares a tool of this environment. */
export const tool = toolMaker(tables, failures)
