import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { addMinutes } from '../../../servers/kernel/dates.js'
import { generateSeedState, Session } from '../../../servers/kernel/session.js'
import { teamChat } from '../../../servers/team_chat/index.js'
import {
  editObstacle,
  invitingObstacle,
  isIn,
  joiningObstacle,
  LIMITS,
  me,
  pinningObstacle,
  postingObstacle,
  readingObstacle,
  replyObstacle,
  roleOf,
} from '../../../servers/team_chat/rules.js'
import { type Channel, type ChatView, EMOJI, type Message, type Person } from '../../../servers/team_chat/schema.js'
import { checkEnvironmentContract } from '../../support/environment-contract.js'
import { refusal, succeed } from '../../support/session-calls.js'

const dbOf = (session: Session) => session.db as unknown as ChatView
const open = (seed: number) => Session.open(generateSeedState(teamChat, seed))
const own = (s: Session) => me(dbOf(s))
const myRole = (s: Session, row: Channel) => roleOf(dbOf(s), row.workspace, own(s))
const joined = (s: Session, row: Channel) => isIn(dbOf(s), row.channel, own(s))
const channel = (s: Session, fits: (row: Channel) => boolean) => dbOf(s).channels.find(fits)!
const message = (s: Session, fits: (row: Message) => boolean) => dbOf(s).messages.find(fits)!
const canPost = (s: Session) => (row: Channel) => postingObstacle(dbOf(s), s.now(), row) === undefined
const canReply = (s: Session) => (row: Message) => replyObstacle(dbOf(s), row) === undefined
const canEdit = (s: Session) => (row: Message) => editObstacle(dbOf(s), s.now(), row) === undefined
const refusedBecause = (s: Session, code: string) => (row: Message) => pinningObstacle(dbOf(s), row)?.code === code

const post = (to: Channel, more: Record<string, unknown> = {}) =>
  ['post_chat_message', { channel: to.channel, text: 'Good morning everyone', ...more }] as const
const react = (to: Message, emoji: string) => ['add_reaction', { message: to.message, emoji }] as const
const edit = (row: { message: unknown }) =>
  ['edit_chat_message', { message: row.message, text: 'Good evening everyone' }] as const

/** The invitation that fails with `code`, if there is one. */
function invitation(s: Session, code: string) {
  for (const row of dbOf(s).channels.list())
    for (const person of dbOf(s).people.list())
      if (invitingObstacle(dbOf(s), row, person)?.code === code)
        return ['invite_to_channel', { channel: row.channel, person: person.person }] as const
  throw new Error(`no invitation fails with ${code}`)
}

checkEnvironmentContract(teamChat, {
  sampleFloor: 1,
  provoke: {
    unknown_channel: () => ['read_channel', { channel: 'moon-talk' }],
    unknown_person: (s) => [
      'invite_to_channel',
      { channel: channel(s, (row) => joined(s, row)).channel, person: 'nobody-known' },
    ],
    unknown_message: () => ['pin_chat_message', { message: 'message-7' }],
    not_a_member: (s) => post(channel(s, (row) => row.kind === 'public' && !joined(s, row))),
    channel_private: (s) => [
      'read_channel',
      { channel: channel(s, (row) => row.kind === 'private' && !joined(s, row)).channel },
    ],
    channel_archived: (s) => post(channel(s, (row) => row.archived && joined(s, row))),
    admins_only: (s) =>
      post(channel(s, (row) => row.kind === 'announcement' && joined(s, row) && myRole(s, row) === 'member')),
    guest_restricted: (s) => [
      'join_channel',
      { channel: channel(s, (row) => row.kind === 'public' && !joined(s, row) && myRole(s, row) === 'guest').channel },
    ],
    guest_seats_full: (s) => invitation(s, 'guest_seats_full'),
    slow_mode: (s) => post(channel(s, (row) => postingObstacle(dbOf(s), s.now(), row)?.code === 'slow_mode')),
    mention_not_in_channel: (s) => {
      const to = channel(s, canPost(s))
      return post(to, { mention: dbOf(s).people.find(({ person }) => !isIn(dbOf(s), to.channel, person))!.person })
    },
    already_member: (s) => ['join_channel', { channel: channel(s, (row) => joined(s, row)).channel }],
    already_in_channel: (s) => invitation(s, 'already_in_channel'),
    not_in_workspace: (s) => invitation(s, 'not_in_workspace'),
    person_deactivated: (s) => invitation(s, 'person_deactivated'),
    not_your_message: (s) => edit(message(s, (row) => canReply(s)(row) && row.person !== own(s))),
    edit_window_closed: (s) => edit(message(s, (row) => row.person === own(s) && row.at < '2026-03-02T07:00')),
    message_pinned: (s) => {
      const made = succeed(s, ...post(channel(s, (row) => canPost(s)(row) && row.pins < LIMITS.pins)))
      succeed(s, 'pin_chat_message', { message: made.message })
      return edit(made as { message: unknown })
    },
    already_reacted: (s) => {
      const made = succeed(s, ...post(channel(s, canPost(s)))) as unknown as Message
      succeed(s, ...react(made, 'eyes'))
      return react(made, 'eyes')
    },
    too_many_reactions: (s) => {
      const made = succeed(s, ...post(channel(s, canPost(s)))) as unknown as Message
      for (const emoji of EMOJI.slice(0, LIMITS.reactions)) succeed(s, ...react(made, emoji))
      return react(made, EMOJI[LIMITS.reactions]!)
    },
    already_pinned: (s) => ['pin_chat_message', { message: message(s, refusedBecause(s, 'already_pinned')).message }],
    pins_full: (s) => ['pin_chat_message', { message: message(s, refusedBecause(s, 'pins_full')).message }],
    reply_not_pinnable: (s) => [
      'pin_chat_message',
      { message: message(s, refusedBecause(s, 'reply_not_pinnable')).message },
    ],
  },
})

test('a public channel can be read without joining, and written in only after', () => {
  const session = open(1)
  const room = channel(session, (row) => joiningObstacle(dbOf(session), row) === undefined && row.kind === 'public')
  succeed(session, 'read_channel', { channel: room.channel })
  assert.is(refusal(session, ...post(room)), 'not_a_member')
  assert.is(succeed(session, 'join_channel', { channel: room.channel }).members, room.members + 1)
  const made = succeed(session, ...post(room))
  const { messages } = succeed(session, 'read_channel', { channel: room.channel }) as { messages: Message[] }
  assert.is(messages[0]!.message, made.message)
})

test('a private channel that I am not in is neither found nor searched', () => {
  const session = open(2)
  const hidden = channel(session, (row) => row.kind === 'private' && !joined(session, row))
  const { channels } = succeed(session, 'find_channel', { name: hidden.name }) as { channels: Channel[] }
  assert.not.ok(channels.some((row) => row.channel === hidden.channel))
  for (const { text } of dbOf(session).messages.by('channel', hidden.channel)) {
    const { messages } = succeed(session, 'search_chat_messages', { words: text }) as { messages: Message[] }
    assert.not.ok(messages.some((row) => row.channel === hidden.channel))
  }
})

test('slow mode lets me post again when its pause is over, and never holds up a thread', () => {
  const session = open(3)
  const slow = channel(session, ({ slow_minutes }) => slow_minutes === 20)
  const mine = dbOf(session)
    .messages.by('channel', slow.channel)
    .findLast((row) => row.person === own(session) && row.thread === null)!
  const free = addMinutes(mine.at, 20)
  const elsewhere = channel(session, (row) => canPost(session)(row) && row.slow_minutes === 0)
  while (session.now() < free) {
    assert.is(refusal(session, ...post(slow)), 'slow_mode')
    succeed(session, 'reply_to_chat_message', { message: mine.message, text: 'And another thing' })
  }
  assert.is(refusal(session, ...post(slow)), 'succeeded')
  assert.is(refusal(session, ...post(slow)), 'slow_mode')
  assert.is(refusal(session, ...post(elsewhere)), 'succeeded')
})

test('who is not an admin cannot announce, but can answer an announcement', () => {
  const session = open(4)
  const news = (role: string) =>
    channel(session, (row) => row.kind === 'announcement' && joined(session, row) && myRole(session, row) === role)
  assert.is(refusal(session, ...post(news('admin'))), 'succeeded')
  assert.is(refusal(session, ...post(news('member'))), 'admins_only')
  const [said] = dbOf(session).messages.by('channel', news('member').channel)
  assert.is(refusal(session, 'reply_to_chat_message', { message: said!.message, text: 'Thank you' }), 'succeeded')
  assert.is(refusal(session, 'pin_chat_message', { message: said!.message }), 'admins_only')
})

test('a reply to a reply joins the same thread', () => {
  const session = open(5)
  const made = succeed(session, ...post(channel(session, canPost(session))))
  const first = succeed(session, 'reply_to_chat_message', { message: made.message, text: 'One' })
  const second = succeed(session, 'reply_to_chat_message', { message: first.message, text: 'Two' })
  assert.equal([first.thread, second.thread, second.replies], [made.message, made.message, 2])
  assert.is(dbOf(session).messages.get(first.message as string)!.replies, 0)
})

test('a message can be edited for an hour and is found under its new text only', () => {
  const session = open(6)
  const made = succeed(session, ...post(channel(session, canPost(session)), { text: 'Zebras at the gaet' }))
  succeed(session, 'edit_chat_message', { message: made.message, text: 'Zebras at the gate' })
  assert.is(succeed(session, 'search_chat_messages', { words: 'gaet zebras' }).found, 0)
  assert.is(succeed(session, 'search_chat_messages', { words: 'gate zebras' }).found, 1)
  const talk = message(session, canReply(session)).message
  // Posting and editing took two minutes; every reply takes another.
  for (let minute = 2; minute < LIMITS.editMinutes; minute++)
    succeed(session, 'reply_to_chat_message', { message: talk, text: 'And another thing' })
  assert.is(refusal(session, ...edit(made as { message: unknown })), 'succeeded')
  assert.is(refusal(session, ...edit(made as { message: unknown })), 'edit_window_closed')
})

test('a channel takes as many pins as allowed and not one more', () => {
  const session = open(7)
  const room = channel(session, (row) => canPost(session)(row) && row.slow_minutes === 0 && row.pins === 1)
  for (let pins = room.pins + 1; pins <= LIMITS.pins; pins++) {
    const made = succeed(session, ...post(room))
    assert.is(succeed(session, 'pin_chat_message', { message: made.message }).pins, pins)
  }
  const made = succeed(session, ...post(room))
  assert.is(refusal(session, 'pin_chat_message', { message: made.message }), 'pins_full')
})

test('a mention waits until do-not-disturb ends, and comes at once when it has ended', () => {
  for (let seed = 1; seed <= 20; seed++) {
    const session = open(seed)
    const db = dbOf(session)
    const soon = db.people.find(({ quiet_until }) => quiet_until === '2026-03-02T09:06:00Z')!
    const shared = db.channels.find((row) => canPost(session)(row) && isIn(db, row.channel, soon.person))
    if (!shared || shared.slow_minutes > 0) continue
    const call = post(shared, { mention: soon.person })
    assert.is(succeed(session, 'find_teammate', { name: soon.name }).found, 1)
    const quiet = () => (succeed(session, 'find_teammate', { name: soon.name }).teammates as Partial<Person>[])[0]
    assert.is(quiet()!.quiet_until, '09:06')
    for (let minute = 0; minute < 6; minute++) assert.is(succeed(session, ...call).notified_at, '09:06')
    assert.is(succeed(session, ...call).notified_at, '09:06')
    assert.is(succeed(session, ...call).notified_at, '09:07')
    assert.is(quiet()!.quiet_until, undefined)
    return
  }
  assert.unreachable('no seed has a shared channel')
})

test('a guest reads and writes where invited and can do nothing more', () => {
  const session = open(8)
  const room = channel(session, (row) => joined(session, row) && myRole(session, row) === 'guest')
  const other = channel(session, (row) => !joined(session, row) && myRole(session, row) === 'guest' && !row.archived)
  const made = succeed(session, ...post(room))
  assert.is(refusal(session, 'pin_chat_message', { message: made.message }), 'guest_restricted')
  assert.is(refusal(session, 'read_channel', { channel: other.channel }), 'guest_restricted')
  const colleague = dbOf(session).people.find(
    ({ person }) =>
      roleOf(dbOf(session), room.workspace, person) !== undefined && !isIn(dbOf(session), room.channel, person),
  )!
  const args = { channel: room.channel, person: colleague.person }
  assert.is(refusal(session, 'invite_to_channel', args), 'guest_restricted')
})

test('whom I have invited can be mentioned there', () => {
  const session = open(9)
  const db = dbOf(session)
  const fits = (row: Channel) => canPost(session)(row) && row.slow_minutes === 0
  const newcomer = (row: Channel) => db.people.find((person) => !invitingObstacle(db, row, person))
  const room = channel(session, (row) => fits(row) && newcomer(row) !== undefined)
  const { person } = newcomer(room)!
  assert.is(refusal(session, ...post(room, { mention: person })), 'mention_not_in_channel')
  succeed(session, 'invite_to_channel', { channel: room.channel, person })
  assert.is(refusal(session, ...post(room, { mention: person })), 'succeeded')
})

test('an archived channel can be read and nothing else', () => {
  const session = open(10)
  const attic = channel(session, (row) => row.archived && joined(session, row))
  const [relic] = dbOf(session).messages.by('channel', attic.channel)
  succeed(session, 'read_channel', { channel: attic.channel })
  assert.is(refusal(session, ...post(attic)), 'channel_archived')
  assert.is(refusal(session, ...react(relic!, 'heart')), 'channel_archived')
  assert.is(refusal(session, 'reply_to_chat_message', { message: relic!.message, text: 'Hello' }), 'channel_archived')
})

test('the text of a message finds just that message, and a channel is found by its name', () => {
  for (let seed = 1; seed <= 5; seed++) {
    const session = open(seed)
    const db = dbOf(session)
    for (const row of db.messages.list(({ thread }) => thread === null)) {
      const readable = readingObstacle(db, db.channels.get(row.channel)!) === undefined
      assert.is(succeed(session, 'search_chat_messages', { words: row.text }).found, readable ? 1 : 0)
    }
    for (const row of db.channels.list((each) => readingObstacle(db, each) === undefined)) {
      const { channels } = succeed(session, 'find_channel', { name: row.name }) as { channels: Channel[] }
      assert.ok(channels.some((found) => found.channel === row.channel))
    }
    assert.ok(message(session, canEdit(session)))
  }
})

test.run()
