import { z } from 'zod'
import { type DbView, type ObstacleOf, type RowOf, type ToolContext, toolMaker } from '../kernel/define-environment.js'

export const STATUSES = ['scheduled', 'live', 'ended'] as const
export const ROLES = ['host', 'cohost', 'attendee'] as const
export const PLACES = ['invited', 'waiting', 'present', 'removed', 'left'] as const
export const ACTIONS = ['admit', 'hold', 'remove', 'promote', 'demote'] as const
export const PLANS = ['free', 'team', 'business'] as const

export type Status = (typeof STATUSES)[number]
export type Action = (typeof ACTIONS)[number]
export type Plan = (typeof PLANS)[number]

export interface PlanTerms {
  /** People who can take part in a meeting, the host among them. */
  readonly capacity: number
  /** Longest meeting that can be scheduled. Minutes. */
  readonly minutes: number
  /** Storage for recordings. Megabytes. */
  readonly storage: number
}

export const TERMS: Readonly<Record<Plan, PlanTerms>> = {
  free: { capacity: 6, minutes: 40, storage: 240 },
  team: { capacity: 9, minutes: 120, storage: 1500 },
  business: { capacity: 14, minutes: 240, storage: 4000 },
}

/** The numbers of this environment's rules. */
export const LIMITS = {
  /** How long before its time a meeting can be started. Minutes. */
  earlyMinutes: 15,
  /** How far ahead meetings can be scheduled. Days. */
  horizonDays: 90,
  cohosts: 2,
  /** Storage that must be left for a recording to start, and what a minute of it takes. Megabytes. */
  storageToStart: 50,
  storagePerMinute: 12,
} as const

/** The one row of `account`. */
export const ME = 'me'

export const clock = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'not a time of the form HH:MM')

export const tables = {
  account: {
    key: 'account',
    row: z.object({
      account: z.literal(ME),
      /** The user, a person of the directory. */
      person: z.string(),
      plan: z.enum(PLANS),
      /** What the recordings take. Megabytes. */
      storage_used: z.int().min(0),
    }),
  },
  people: {
    key: 'person',
    row: z.object({
      person: z.string(),
      name: z.string(),
      /** Whether the person agrees to being recorded. */
      consents: z.boolean(),
    }),
  },
  meetings: {
    key: 'meeting',
    missing: 'unknown_meeting',
    row: z.object({
      meeting: z.string(),
      title: z.string(),
      date: z.iso.date(),
      start: clock,
      /** Planned length. */
      minutes: z.int().positive(),
      status: z.enum(STATUSES),
      /** The user's role. */
      role: z.enum(ROLES),
      /** When it went live and since when it is recorded, ISO 8601 UTC; empty while that is not so. */
      live_since: z.string(),
      recorded_since: z.string(),
    }),
  },
  participants: {
    key: 'participant',
    missing: 'unknown_participant',
    row: z.object({
      /** One person in one meeting. */
      participant: z.string(),
      name: z.string(),
      person: z.string(),
      meeting: z.string(),
      role: z.enum(ROLES),
      place: z.enum(PLACES),
    }),
  },
  recordings: {
    key: 'recording',
    missing: 'unknown_recording',
    row: z.object({
      recording: z.string(),
      title: z.string(),
      meeting: z.string(),
      minutes: z.int().positive(),
      megabytes: z.int().positive(),
      /** Under a legal hold: it may not be deleted. */
      held: z.boolean(),
    }),
  },
} as const

export const failures = {
  unknown_meeting: 'There is no such meeting.',
  unknown_participant: 'There is no such participant.',
  unknown_recording: 'There is no such recording.',
  unknown_person: 'Nobody of that name is in the directory.',
  ambiguous_name: 'Several people have that name.',
  host_only: 'Only the host of the meeting may do this.',
  moderator_only: 'Only the host and co-hosts of the meeting may do this.',
  in_the_past: 'That time has passed.',
  too_far_ahead: 'Meetings can be scheduled at most 90 days ahead.',
  too_long: 'The plan does not allow meetings of that length.',
  ends_after_midnight: 'A meeting must end on the day it starts.',
  time_conflict: 'You host another meeting at that time.',
  too_early: 'The meeting can be started only 15 minutes before its time.',
  missed: 'The time of the meeting has passed.',
  already_live: 'The meeting is live.',
  already_hosting: 'You are hosting another live meeting.',
  not_live: 'The meeting is not live.',
  meeting_ended: 'The meeting has ended.',
  already_invited: 'This person takes part in the meeting already.',
  was_removed: 'This person was removed from the meeting.',
  meeting_full: 'The plan allows no more participants.',
  not_waiting: 'The participant is not in the waiting room.',
  not_present: 'The participant is not in the meeting.',
  host_untouchable: 'The host cannot be moved or given another role.',
  already_cohost: 'The participant is a co-host.',
  not_cohost: 'The participant is not a co-host.',
  too_many_cohosts: 'The meeting has as many co-hosts as it may have.',
  consent_missing: 'Not everyone agrees to being recorded.',
  already_recording: 'A recording is running.',
  not_recording: 'The meeting is not being recorded.',
  storage_full: 'There is not enough storage left for a recording.',
  recording_held: 'The recording is under a legal hold.',
} as const

export type VideoTables = typeof tables
export type FailureCode = keyof typeof failures
export type Obstacle = ObstacleOf<typeof failures>
export type VideoView = DbView<VideoTables>
export type Context = ToolContext<VideoTables, FailureCode>
export type Person = RowOf<VideoTables['people']>
export type Meeting = RowOf<VideoTables['meetings']>
export type Participant = RowOf<VideoTables['participants']>
export type Recording = RowOf<VideoTables['recordings']>

/** Declares a tool of this environment. */
export const tool = toolMaker(tables, failures)
