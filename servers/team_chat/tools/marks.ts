import { z } from 'zod'
import { choose } from '../../kernel/choose.js'
import { addMinutes } from '../../kernel/dates.js'
import { ref } from '../../kernel/fields.js'
import { about } from '../fields.js'
import { LIMITS, me, pinningObstacle, reactionObstacle } from '../rules.js'
import { EMOJI, type Message, tool } from '../schema.js'
import { toneOf } from '../words.js'

const addReaction = tool({
  name: 'add_reaction',
  description: `React to a message in a channel that you are in and that is not archived, in at most ${LIMITS.reactions} different ways.`,
  input: z.strictObject({ message: ref('message'), emoji: z.enum(EMOJI).describe('How to react.') }),
  output: z.object({ ...about, reactions: z.int().describe('All reactions to the message, by anyone.') }),
  annotations: { readOnly: false },
  sample({ db, random, bound }) {
    const fitting = (row: Message) =>
      toneOf(row.text).emoji.filter(
        (emoji) => emoji === (bound.emoji ?? emoji) && reactionObstacle(db, row, emoji) === undefined,
      )
    const fits = (each: Message) => each.person !== me(db) && fitting(each).length > 0
    const row = choose(db.messages, random, bound.message, fits)
    return row ? { message: row.message, emoji: random.pick(fitting(row)) } : null
  },
  run({ message, emoji }, { rowOf, unless, db }) {
    const row = rowOf('messages', message)
    unless(reactionObstacle(db, row, emoji))
    const by = `${message}:${me(db)}`
    db.reactions.insert({ reaction: `${by}:${emoji}`, by, message, emoji })
    return db.messages.update(message, { reactions: row.reactions + 1 })
  },
})

const pinChatMessage = tool({
  name: 'pin_chat_message',
  description: `Pin a message outside threads for everyone in its channel, which may have ${LIMITS.pins} pins. Guests cannot pin, and in announcement channels only workspace admins can. A pinned message cannot be edited.`,
  input: z.strictObject({ message: ref('message') }),
  output: z.object({ ...about, pins: z.int().describe('Pinned messages of the channel.') }),
  annotations: { readOnly: false },
  sample({ db, random, bound, now }) {
    // Who has just posted something pins that.
    const justPosted = db.messages
      .by('person', me(db))
      .findLast(({ at, thread }) => thread === null && at >= addMinutes(now(), -1))
    const fits = (row: Message) =>
      row.message === (justPosted ?? row).message && toneOf(row.text).lasting && pinningObstacle(db, row) === undefined
    const row = choose(db.messages, random, bound.message, fits)
    return row ? { message: row.message } : null
  },
  run({ message }, { unless, rowOf, db }) {
    unless(pinningObstacle(db, rowOf('messages', message)))
    const { text, channel } = db.messages.update(message, { pinned: true })
    const { pins } = db.channels.update(channel, { pins: db.channels.get(channel)!.pins + 1 })
    return { text, message, channel, pins }
  },
})

export const markTools = [addReaction, pinChatMessage]
