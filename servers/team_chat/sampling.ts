import type { SeededRandom } from '../kernel/random.js'
import type { Channel, ChatView, Message } from './schema.js'
import { correctionOf, textsFor, toneOf } from './words.js'

/** What somebody might post in the channel outside a thread. */
export const messageText = (random: SeededRandom, { name }: Channel): string => random.pick(textsFor(name))

/** What somebody might reply to the message or, in a thread, to what began it. */
export const replyText = (random: SeededRandom, db: ChatView, message: Message): string =>
  random.pick(toneOf(rootOf(db, message).text).replies)

const rootOf = (db: ChatView, message: Message): Message =>
  message.thread === null ? message : db.messages.get(message.thread)!

/** What the message might be changed to, which is about the same thing. */
export function correctedText(random: SeededRandom, db: ChatView, message: Message): string | undefined {
  if (message.thread === null) return correctionOf(message.text)
  const others = toneOf(rootOf(db, message).text).replies.filter((text) => text !== message.text)
  return random.pick(others)
}
