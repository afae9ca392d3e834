import { z } from 'zod'
import { type DbView, type ObstacleOf, type RowOf, type ToolContext, toolMaker } from '../kernel/define-environment.js'

export const KINDS = ['public', 'private', 'announcement'] as const
export const ROLES = ['admin', 'member', 'guest'] as const
export const EMOJI = ['like', 'heart', 'laugh', 'party', 'eyes', 'check'] as const

const count = z.int().min(0)
const instant = z.iso.datetime()

const person = z.object({
  person: z.string(),
  name: z.string(),
  /** The name in lower case, for searches. */
  lower: z.string(),
  /** Until when notifications wait; null for who may be disturbed. */
  quiet_until: instant.nullable(),
  active: z.boolean(),
})

const membership = z.object({
  /** `workspace:person`. */
  membership: z.string(),
  workspace: z.string(),
  person: z.string(),
  role: z.enum(ROLES),
})

const channel = z.object({
  channel: z.string(),
  name: z.string(),
  /** Name, topic and workspace in lower case, for searches. */
  lower: z.string(),
  topic: z.string(),
  workspace: z.string(),
  kind: z.enum(KINDS),
  archived: z.boolean(),
  /** Minutes that must lie between two messages of one person outside threads; 0 where there is no slow mode. */
  slow_minutes: count,
  members: count,
  pins: count,
})

/** A person's seat in a channel. */
const seat = z.object({ /** `channel:person`. */ seat: z.string(), channel: z.string(), person: z.string() })

const message = z.object({
  message: z.string(),
  text: z.string(),
  /** The text in lower case, for searches. */
  lower: z.string(),
  channel: z.string(),
  person: z.string(),
  /** The message that began the thread; null for messages outside threads. */
  thread: z.string().nullable(),
  at: instant,
  replies: count,
  reactions: count,
  pinned: z.boolean(),
  edited: z.boolean(),
})

const reaction = z.object({
  /** `message:person:emoji`. */
  reaction: z.string(),
  /** `message:person`. */
  by: z.string(),
  message: z.string(),
  emoji: z.enum(EMOJI),
})

const mention = z.object({
  /** `message:person`. */
  mention: z.string(),
  message: z.string(),
  person: z.string(),
  /** When the person is notified. */
  due: instant,
})

export const tables = {
  account: { row: z.object({ account: z.literal('mine'), person: z.string() }), key: 'account' },
  people: { row: person, key: 'person', missing: 'unknown_person' },
  memberships: { row: membership, key: 'membership' },
  channels: { row: channel, key: 'channel', missing: 'unknown_channel' },
  seats: { row: seat, key: 'seat' },
  messages: { row: message, key: 'message', missing: 'unknown_message' },
  reactions: { row: reaction, key: 'reaction' },
  mentions: { row: mention, key: 'mention' },
} as const

export const failures = {
  unknown_channel: 'There is no such channel.',
  unknown_person: 'There is no such teammate.',
  unknown_message: 'There is no such message.',
  not_a_member: 'You are not a member of this channel: join it first.',
  channel_private: 'The channel is private: only its members can see it and let others in.',
  channel_archived: 'The channel is archived: nothing in it changes any more.',
  admins_only: 'Only admins of the workspace may do that in an announcement channel.',
  guest_restricted: 'Guests of a workspace cannot join channels, invite or pin.',
  guest_seats_full: 'This teammate is a guest and in as many channels of the workspace as guests may be.',
  slow_mode: 'The channel is in slow mode: wait before you post again.',
  mention_not_in_channel: 'Only members of the channel can be mentioned.',
  already_member: 'You are a member of this channel already.',
  already_in_channel: 'This teammate is in the channel already.',
  not_in_workspace: 'This teammate does not belong to the workspace of the channel.',
  person_deactivated: 'The account of this teammate is deactivated.',
  not_your_message: 'Only your own messages can be edited.',
  edit_window_closed: 'The message is too old to be edited.',
  message_pinned: 'A pinned message cannot be edited.',
  already_reacted: 'You have reacted to the message in this way already.',
  too_many_reactions: 'You have reacted to the message in as many ways as is allowed.',
  already_pinned: 'The message is pinned already.',
  pins_full: 'The channel has as many pins as it may have.',
  reply_not_pinnable: 'Replies in threads cannot be pinned.',
} as const

export type ChatTables = typeof tables
export type FailureCode = keyof typeof failures
export type Obstacle = ObstacleOf<typeof failures>
export type ChatView = DbView<ChatTables>
export type Context = ToolContext<ChatTables, FailureCode>
export type Person = RowOf<ChatTables['people']>
export type Membership = RowOf<ChatTables['memberships']>
export type Role = Membership['role']
export type Channel = RowOf<ChatTables['channels']>
export type Seat = RowOf<ChatTables['seats']>
export type Message = RowOf<ChatTables['messages']>
export type Reaction = RowOf<ChatTables['reactions']>
export type Mention = RowOf<ChatTables['mentions']>
export type Emoji = Reaction['emoji']

export const tool = toolMaker(tables, failures)
