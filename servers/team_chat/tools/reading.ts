import { z } from 'zod'
import { choose } from '../../kernel/choose.js'
import { timeOf } from '../../kernel/dates.js'
import { ref } from '../../kernel/fields.js'
import { excerpt, mentioning } from '../../kernel/text.js'
import { EXCERPT } from '../fields.js'
import { isIn, me, readingObstacle } from '../rules.js'
import { searchFor } from '../sampling.js'
import { type Channel, type Message, tool } from '../schema.js'

/** A message in a list. Whoever reads it learns which are their own, since only those can be edited. */
const listed =
  (own: string) =>
  ({ text, message, channel, person, replies }: Message) => ({
    text: excerpt(text, EXCERPT),
    message,
    channel,
    person: person === own ? 'you' : person,
    replies,
  })

/** The name of a workspace, of which the tables hold the key. */
const titleOf = (workspace: string): string => workspace[0]!.toUpperCase() + workspace.slice(1)

const findChannel = tool({
  name: 'find_channel',
  description:
    'Find channels that you can read, by words of the name, the topic or the workspace, and whether you have joined them.',
  input: z.strictObject({ name: z.string().min(2).max(60).describe('Words of the name, the topic or the workspace.') }),
  output: z.object({
    found: z.int(),
    channels: z.array(
      z.object({
        name: z.string(),
        channel: ref('channel'),
        workspace: z.string(),
        kind: z.string(),
        joined: z.boolean(),
      }),
    ),
  }),
  pages: { channels: 'long' },
  annotations: { readOnly: true },
  sample({ db, random, bound }) {
    const { name, workspace } = random.pick(db.channels.list((row) => readingObstacle(db, row) === undefined))
    const word = name.slice(0, name.indexOf(' '))
    // By the name of a workspace all its channels are found, and perhaps none called so.
    return { name: word !== titleOf(workspace) && random.chance(0.25) ? word : name, ...bound }
  },
  run({ name }, { db }) {
    const own = me(db)
    const matches = mentioning(name)
    const found = db.channels.list((row) => matches(row.lower) && readingObstacle(db, row) === undefined)
    const channels = found.map((row) => ({
      name: row.name,
      channel: row.channel,
      workspace: titleOf(row.workspace),
      kind: row.archived ? 'archived' : row.kind,
      joined: isIn(db, row.channel, own),
    }))
    return { found: found.length, channels }
  },
})

const findTeammate = tool({
  name: 'find_teammate',
  description:
    'Find teammates by name or part of it: their role in each workspace and, while they do not want to be disturbed, until when (UTC).',
  input: z.strictObject({ name: z.string().min(2).max(40).describe('Name or part of it.') }),
  output: z.object({
    found: z.int(),
    teammates: z.array(
      z.object({
        name: z.string(),
        person: ref('person'),
        roles: z.array(z.string()),
        quiet_until: z.string().optional(),
      }),
    ),
  }),
  pages: { teammates: 'long' },
  annotations: { readOnly: true },
  sample({ db, random, bound }) {
    const { name } = random.pick(db.people.list())
    return { name: random.chance(0.2) ? random.pick(name.split(' ')) : name, ...bound }
  },
  run({ name }, { db, now }) {
    const instant = now()
    const matches = mentioning(name)
    const found = db.people.list(({ lower }) => matches(lower))
    const teammates = found.map((row) => ({
      name: row.name,
      person: row.person,
      roles: row.active
        ? db.memberships.by('person', row.person).map(({ workspace, role }) => `${titleOf(workspace)} ${role}`)
        : ['deactivated'],
      ...(row.quiet_until !== null && row.quiet_until > instant ? { quiet_until: timeOf(row.quiet_until) } : {}),
    }))
    return { found: found.length, teammates }
  },
})

const readChannel = tool({
  name: 'read_channel',
  description: `Show the messages outside threads, the latest first, in a channel that you are in, or in one that is not private if you are not a guest of its workspace.`,
  input: z.strictObject({ channel: ref('channel') }),
  output: z.object({
    name: z.string(),
    channel: ref('channel'),
    messages: z.array(z.object({ text: z.string(), message: ref('message'), person: z.string(), replies: z.int() })),
  }),
  pages: { messages: 'longest' },
  annotations: { readOnly: true },
  sample({ db, random, bound }) {
    const fits = (row: Channel) => readingObstacle(db, row) === undefined
    const channel = choose(db.channels, random, bound.channel, fits)
    return channel ? { channel: channel.channel } : null
  },
  run({ channel }, { rowOf, unless, db }) {
    const row = rowOf('channels', channel)
    unless(readingObstacle(db, row))
    const messages = db.messages.by('channel', channel).filter(({ thread }) => thread === null)
    return { name: row.name, channel, messages: messages.reverse().map(listed(me(db))) }
  },
})

const searchChatMessages = tool({
  name: 'search_chat_messages',
  description: 'Search messages and replies by their words in all channels that you can read, the newest first.',
  input: z.strictObject({ words: z.string().min(2).max(80).describe('Words that must all occur.') }),
  output: z.object({
    found: z.int(),
    messages: z.array(
      z.object({ text: z.string(), message: ref('message'), channel: ref('channel'), person: z.string() }),
    ),
  }),
  pages: { messages: 'longest' },
  annotations: { readOnly: true },
  sample({ db, random, bound }) {
    const { text } = random.pick(
      db.messages.list((row) => row.thread === null && !readingObstacle(db, db.channels.get(row.channel)!)),
    )
    return { words: searchFor(random, text), ...bound }
  },
  run({ words }, { db }) {
    const matches = mentioning(words)
    const found = db.messages
      .list((row) => matches(row.lower) && readingObstacle(db, db.channels.get(row.channel)!) === undefined)
      .reverse()
    return { found: found.length, messages: found.map(listed(me(db))) }
  },
})

export const readingTools = [findChannel, findTeammate, readChannel, searchChatMessages]
