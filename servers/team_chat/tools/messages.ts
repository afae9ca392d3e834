import { z } from 'zod'
import { choose } from '../../kernel/choose.js'
import { timeOf } from '../../kernel/dates.js'
import { ref } from '../../kernel/fields.js'
import { about, writtenText } from '../fields.js'
import { editObstacle, isIn, LIMITS, me, notificationDue, postingObstacle, replyObstacle } from '../rules.js'
import { messageText, replyText } from '../sampling.js'
import { type Channel, type Context, type Message, tool } from '../schema.js'
import { correctionOf } from '../words.js'

function write({ db, now }: Context, message: string, text: string, channel: string, thread: string | null): Message {
  return db.messages.insert({
    message,
    text,
    lower: text.toLowerCase(),
    channel,
    person: me(db),
    thread,
    at: now(),
    replies: 0,
    reactions: 0,
    pinned: false,
    edited: false,
  })
}

const postChatMessage = tool({
  name: 'post_chat_message',
  description:
    'Post a message in a channel that you are in, if it is not archived. Announcement channels take posts of workspace admins only; slow mode sets a pause between your posts. A mentioned teammate must be in the channel and is notified once do-not-disturb ends.',
  input: z.strictObject({
    channel: ref('channel'),
    text: writtenText.describe('The message.'),
    mention: ref('person', 'Teammate to notify.').optional(),
  }),
  output: z.object({ ...about, notified_at: z.string().optional().describe('UTC.') }),
  annotations: { readOnly: false },
  sample({ db, random, bound, now }) {
    const fits = (row: Channel) => postingObstacle(db, now(), row) === undefined
    const row = choose(db.channels, random, bound.channel, fits)
    if (!row) return null
    const { channel } = row
    const others = db.seats.by('channel', channel).filter(({ person }) => person !== me(db))
    const mention = others.length > 0 && random.chance(0.3) ? { mention: random.pick(others).person } : {}
    return { text: messageText(random, db, row), ...mention, ...bound, channel }
  },
  run({ channel, text, mention }, context) {
    const { unless, rowOf, db, fail, nextId, now } = context
    const at = now()
    unless(postingObstacle(db, at, rowOf('channels', channel)))
    if (mention === undefined) {
      const { message } = write(context, nextId('message'), text, channel, null)
      return { text, message, channel }
    }
    const mentioned = rowOf('people', mention)
    if (!isIn(db, channel, mention)) fail('mention_not_in_channel', `${mention} is not in ${channel}.`)
    const { message } = write(context, nextId('message'), text, channel, null)
    const due = notificationDue(at, mentioned)
    db.mentions.insert({ mention: `${message}:${mention}`, message, person: mention, due })
    return { text, message, channel, notified_at: timeOf(due) }
  },
})

const replyToChatMessage = tool({
  name: 'reply_to_chat_message',
  description:
    'Reply in the thread of a message, in a channel that you are in and that is not archived. A reply to a reply joins the same thread. Threads know neither slow mode nor announcement rules.',
  input: z.strictObject({ message: ref('message'), text: writtenText.describe('The reply.') }),
  output: z.object({ ...about, thread: z.string(), replies: z.int().describe('Replies in the thread.') }),
  annotations: { readOnly: false },
  sample({ db, random, bound }) {
    // People answer others, not themselves.
    const fits = (row: Message) => row.person !== me(db) && replyObstacle(db, row) === undefined
    const row = choose(db.messages, random, bound.message, fits)
    return row ? { text: replyText(random, db, row), ...bound, message: row.message } : null
  },
  run(args, context) {
    const { rowOf, unless, db, nextId } = context
    const answered = rowOf('messages', args.message)
    unless(replyObstacle(db, answered))
    const root = answered.thread === null ? answered : db.messages.get(answered.thread)!
    const { channel, message: thread } = root
    const { text, message } = write(context, nextId('reply'), args.text, channel, thread)
    const { replies } = db.messages.update(thread, { replies: root.replies + 1 })
    return { text, message, channel, thread, replies }
  },
})

const editChatMessage = tool({
  name: 'edit_chat_message',
  description: `Replace the text of a message or reply of your own within ${LIMITS.editMinutes} minutes, unless it is pinned or its channel is archived.`,
  input: z.strictObject({ message: ref('message'), text: writtenText.describe('The whole new text.') }),
  output: z.object({ ...about, edited: z.boolean() }),
  annotations: { readOnly: false, destructive: true, idempotent: true },
  sample({ db, random, bound, now }) {
    const fits = (row: Message) => correctionOf(row.text) !== undefined && editObstacle(db, now(), row) === undefined
    const row = choose(db.messages, random, bound.message, fits)
    return row ? { text: correctionOf(row.text)!, ...bound, message: row.message } : null
  },
  run({ message, text }, { unless, rowOf, db, now }) {
    unless(editObstacle(db, now(), rowOf('messages', message)))
    return db.messages.update(message, { text, lower: text.toLowerCase(), edited: true })
  },
})

export const messageTools = [postChatMessage, replyToChatMessage, editChatMessage]
