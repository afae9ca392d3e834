import { addMinutes } from '../kernel/dates.js'
import type { Invariant } from '../kernel/define-environment.js'
import { isIn, LIMITS, me, roleOf, seatsIn } from './rules.js'
import type { Channel, ChatTables, ChatView, Message } from './schema.js'

type ChatInvariant = Invariant<ChatTables>

const channelsCount: ChatInvariant = {
  name: 'members and pins of a channel are as many as there are records of them, and no more are pinned than allowed',
  check(db) {
    const agrees = ({ channel, members, pins }: Channel) =>
      members === db.seats.by('channel', channel).length &&
      pins === db.messages.by('channel', channel).filter(({ pinned }) => pinned).length &&
      pins <= LIMITS.pins
    return db.channels.find((row) => !agrees(row))?.channel
  },
}

const messagesCount: ChatInvariant = {
  name: 'replies and reactions of a message are as many as there are records of them',
  check(db) {
    const agrees = ({ message, replies, reactions }: Message) =>
      replies === db.messages.by('thread', message).length && reactions === db.reactions.by('message', message).length
    return db.messages.find((row) => !agrees(row))?.message
  },
}

const membersWrite: ChatInvariant = {
  name: 'only members write in a channel, and in announcement channels only admins outside threads',
  check: (db) =>
    db.messages.find(({ channel, person, thread }) => {
      const { kind, workspace } = db.channels.get(channel)!
      if (!isIn(db, channel, person)) return true
      return kind === 'announcement' && thread === null && roleOf(db, workspace, person) !== 'admin'
    })?.message,
}

const archivesRest: ChatInvariant = {
  name: 'nothing changes in an archived channel',
  check(db, seed) {
    const trace = (view: ChatView, { channel }: Channel) =>
      JSON.stringify([view.messages.by('channel', channel), view.seats.by('channel', channel)])
    return db.channels.find((row) => row.archived && trace(db, row) !== trace(seed, row))?.channel
  },
}

const nothingDisappears: ChatInvariant = {
  name: 'messages are only added to; of old ones only my own change their text, and never while pinned',
  check(db, seed) {
    const own = me(db)
    return seed.messages.find((old) => {
      const now = db.messages.get(old.message)
      if (!now || now.at !== old.at || now.person !== old.person || now.channel !== old.channel) return true
      return now.text !== old.text && (old.person !== own || old.pinned)
    })?.message
  },
}

const threadsAreFlat: ChatInvariant = {
  name: 'a reply is in the channel of the message that began its thread, is not older and not pinned',
  check: (db) =>
    db.messages.find(({ thread, channel, at, pinned }) => {
      if (thread === null) return false
      const root = db.messages.get(thread)
      return !root || root.thread !== null || root.channel !== channel || root.at > at || pinned
    })?.message,
}

const slowModeHolds: ChatInvariant = {
  name: 'in slow mode enough time lies between my messages',
  check(db) {
    const own = me(db)
    for (const { channel, slow_minutes } of db.channels.list((row) => row.slow_minutes > 0)) {
      const mine = db.messages.by('channel', channel).filter((row) => row.person === own && row.thread === null)
      const early = mine.find(({ at }, i) => i > 0 && at < addMinutes(mine[i - 1]!.at, slow_minutes))
      if (early) return early.message
    }
    return undefined
  },
}

const guestsAreLimited: ChatInvariant = {
  name: 'everyone in a channel belongs to its workspace, and guests are in few of its channels',
  check(db) {
    const lost = db.seats.find(({ channel, person }) => !roleOf(db, db.channels.get(channel)!.workspace, person))
    if (lost) return lost.seat
    return db.memberships.find(
      ({ role, workspace, person }) => role === 'guest' && seatsIn(db, workspace, person) > LIMITS.guestSeats,
    )?.membership
  },
}

const reactionsAreFew: ChatInvariant = {
  name: 'nobody reacts to a message in more ways than allowed',
  check: (db) => db.reactions.find(({ by }) => db.reactions.by('by', by).length > LIMITS.reactions)?.reaction,
}

const quietIsKept: ChatInvariant = {
  name: 'who is mentioned is in the channel, and is notified only when they may be disturbed',
  check(db, seed) {
    const wrong = db.mentions.find(({ mention, message, person, due }) => {
      if (!isIn(db, db.messages.get(message)!.channel, person)) return true
      const { quiet_until } = db.people.get(person)!
      return !seed.mentions.has(mention) && quiet_until !== null && due < quiet_until
    })
    return wrong?.mention
  },
}

export const chatInvariants = [
  channelsCount,
  messagesCount,
  membersWrite,
  archivesRest,
  nothingDisappears,
  threadsAreFlat,
  slowModeHolds,
  guestsAreLimited,
  reactionsAreFew,
  quietIsKept,
]
