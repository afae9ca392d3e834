import { addMinutes, timeOf } from '../kernel/dates.js'
import type { Channel, ChatView, Emoji, Message, Obstacle, Person, Role } from './schema.js'

/** The limits of the chat: name, value, unit. */
export const LIMITS = {
  /** Time in which a message can be edited. Minutes. */
  editMinutes: 60,
  /** Pinned messages per channel. */
  pins: 3,
  /** Different reactions of one person to one message. */
  reactions: 3,
  /** Channels of a workspace that a guest can be in. */
  guestSeats: 2,
} as const

export const me = (db: ChatView): string => db.account.get('mine')!.person

export const roleOf = (db: ChatView, workspace: string, person: string): Role | undefined =>
  db.memberships.get(`${workspace}:${person}`)?.role

export const isIn = (db: ChatView, channel: string, person: string): boolean => db.seats.has(`${channel}:${person}`)

/** Members read a channel; all but guests also read the channels of their workspace that are not private. */
export function readingObstacle(db: ChatView, { channel, workspace, kind }: Channel): Obstacle | undefined {
  const own = me(db)
  if (isIn(db, channel, own)) return undefined
  if (kind === 'private') return { code: 'channel_private' }
  return roleOf(db, workspace, own) === 'guest' ? { code: 'guest_restricted' } : undefined
}

/** Returns the obstacle to taking part in a channel in any way, if any. */
export function takingPartObstacle(db: ChatView, { channel, kind, archived }: Channel): Obstacle | undefined {
  if (!isIn(db, channel, me(db))) return { code: kind === 'private' ? 'channel_private' : 'not_a_member' }
  return archived ? { code: 'channel_archived' } : undefined
}

/** Announcement channels are for admins of the workspace; others may read them and reply in threads. */
function announcementObstacle(db: ChatView, { kind, workspace }: Channel): Obstacle | undefined {
  return kind === 'announcement' && roleOf(db, workspace, me(db)) !== 'admin' ? { code: 'admins_only' } : undefined
}

export function postingObstacle(db: ChatView, now: string, channel: Channel): Obstacle | undefined {
  const obstacle = takingPartObstacle(db, channel) ?? announcementObstacle(db, channel)
  if (obstacle || channel.slow_minutes === 0) return obstacle
  const own = me(db)
  const last = db.messages.by('channel', channel.channel).findLast((row) => row.person === own && row.thread === null)
  const free = last && addMinutes(last.at, channel.slow_minutes)
  return free !== undefined && free > now
    ? { code: 'slow_mode', detail: `You can post again at ${timeOf(free)} UTC.` }
    : undefined
}

export function joiningObstacle(db: ChatView, { channel, workspace, kind, archived }: Channel): Obstacle | undefined {
  const own = me(db)
  if (isIn(db, channel, own)) return { code: 'already_member' }
  if (kind === 'private') return { code: 'channel_private' }
  if (archived) return { code: 'channel_archived' }
  return roleOf(db, workspace, own) === 'guest' ? { code: 'guest_restricted' } : undefined
}

/** Returns the number of channels of a workspace that a person is in. */
export function seatsIn(db: ChatView, workspace: string, person: string): number {
  return db.seats.by('person', person).filter(({ channel }) => db.channels.get(channel)!.workspace === workspace).length
}

export function invitingObstacle(db: ChatView, channel: Channel, { person, active }: Person): Obstacle | undefined {
  const { workspace } = channel
  const obstacle = takingPartObstacle(db, channel)
  if (obstacle) return obstacle
  if (roleOf(db, workspace, me(db)) === 'guest') return { code: 'guest_restricted' }
  if (isIn(db, channel.channel, person)) return { code: 'already_in_channel' }
  const role = roleOf(db, workspace, person)
  if (role === undefined) return { code: 'not_in_workspace' }
  if (!active) return { code: 'person_deactivated' }
  return role === 'guest' && seatsIn(db, workspace, person) >= LIMITS.guestSeats
    ? { code: 'guest_seats_full' }
    : undefined
}

const channelOf = (db: ChatView, { channel }: Message): Channel => db.channels.get(channel)!

export const replyObstacle = (db: ChatView, message: Message): Obstacle | undefined =>
  takingPartObstacle(db, channelOf(db, message))

export function editObstacle(db: ChatView, now: string, message: Message): Obstacle | undefined {
  if (message.person !== me(db)) return { code: 'not_your_message' }
  if (channelOf(db, message).archived) return { code: 'channel_archived' }
  if (message.pinned) return { code: 'message_pinned' }
  return message.at < addMinutes(now, -LIMITS.editMinutes)
    ? { code: 'edit_window_closed', detail: `Messages can be edited for ${LIMITS.editMinutes} minutes.` }
    : undefined
}

export function reactionObstacle(db: ChatView, message: Message, emoji: Emoji): Obstacle | undefined {
  const obstacle = takingPartObstacle(db, channelOf(db, message))
  if (obstacle) return obstacle
  const by = `${message.message}:${me(db)}`
  if (db.reactions.has(`${by}:${emoji}`)) return { code: 'already_reacted' }
  return db.reactions.by('by', by).length >= LIMITS.reactions
    ? { code: 'too_many_reactions', detail: `No more than ${LIMITS.reactions} reactions to one message.` }
    : undefined
}

export function pinningObstacle(db: ChatView, message: Message): Obstacle | undefined {
  const channel = channelOf(db, message)
  const obstacle = takingPartObstacle(db, channel)
  if (obstacle) return obstacle
  if (roleOf(db, channel.workspace, me(db)) === 'guest') return { code: 'guest_restricted' }
  const announcement = announcementObstacle(db, channel)
  if (announcement) return announcement
  if (message.thread !== null) return { code: 'reply_not_pinnable' }
  if (message.pinned) return { code: 'already_pinned' }
  return channel.pins >= LIMITS.pins
    ? { code: 'pins_full', detail: `No more than ${LIMITS.pins} messages of a channel can be pinned.` }
    : undefined
}

/** Returns when a person who is mentioned `now` is notified: at once, or when they may be disturbed again. */
export function notificationDue(now: string, { quiet_until }: Person): string {
  return quiet_until !== null && quiet_until > now ? quiet_until : now
}
