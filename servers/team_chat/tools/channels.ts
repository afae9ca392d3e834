import { z } from 'zod'
import { choose } from '../../kernel/choose.js'
import { ref } from '../../kernel/fields.js'
import { invitingObstacle, joiningObstacle, LIMITS, me } from '../rules.js'
import { type Channel, type ChatView, type Context, type Person, tool } from '../schema.js'

/** Seats a person in a channel and returns how many members it has then. */
function admit({ db }: Context, { channel, members }: Channel, person: string): number {
  db.seats.insert({ seat: `${channel}:${person}`, channel, person })
  return db.channels.update(channel, { members: members + 1 }).members
}

const joinChannel = tool({
  name: 'join_channel',
  description:
    'Join a public or announcement channel that is not archived. Private channels need an invitation; guests of a workspace cannot join by themselves.',
  input: z.strictObject({ channel: ref('channel') }),
  output: z.object({ name: z.string(), channel: ref('channel'), members: z.int() }),
  annotations: { readOnly: false },
  sample({ db, random, bound }) {
    const fits = (row: Channel) => joiningObstacle(db, row) === undefined
    const channel = choose(db.channels, random, bound.channel, fits)
    return channel ? { channel: channel.channel } : null
  },
  run({ channel }, context) {
    const { rowOf, unless, db } = context
    const row = rowOf('channels', channel)
    unless(joiningObstacle(db, row))
    return { name: row.name, channel, members: admit(context, row, me(db)) }
  },
})

/** Pairs that an invitation fits; with a channel or a person fixed, only pairs with it. */
function invitable(db: ChatView, channels: readonly Channel[], people: readonly Person[]): [Channel, Person][] {
  return channels.flatMap((channel) =>
    people.filter((row) => !invitingObstacle(db, channel, row)).map((row): [Channel, Person] => [channel, row]),
  )
}

const inviteToChannel = tool({
  name: 'invite_to_channel',
  description: `Add a teammate of the same workspace to a channel that you are in. Guests can be in at most ${LIMITS.guestSeats} channels of a workspace and cannot invite.`,
  input: z.strictObject({ channel: ref('channel'), person: ref('person') }),
  output: z.object({ name: z.string(), channel: ref('channel'), person: ref('person'), members: z.int() }),
  annotations: { readOnly: false },
  sample({ db, random, bound }) {
    // A few of each are enough to find a pair, and trying all would be slow.
    const channels = bound.channel === undefined ? random.shuffle(db.channels.list()) : [db.channels.get(bound.channel)]
    const people = bound.person === undefined ? random.sample(db.people.list(), 12) : [db.people.get(bound.person)]
    const known = <R>(rows: readonly (R | undefined)[]): R[] => rows.filter((row) => row !== undefined)
    const pairs = invitable(db, known(channels), known(people))
    if (pairs.length === 0) return null
    const [channel, person] = random.pick(pairs)
    return { channel: channel.channel, person: person.person }
  },
  run({ channel, person }, context) {
    const { rowOf, unless, db } = context
    const row = rowOf('channels', channel)
    unless(invitingObstacle(db, row, rowOf('people', person)))
    return { name: row.name, channel, person, members: admit(context, row, person) }
  },
})

export const channelTools = [joinChannel, inviteToChannel]
