import type { SeededRandom } from '../kernel/random.js'
import type { Channel, ChatView, Message } from './schema.js'
import { correctionOf, textsFor, toneOf } from './words.js'

/** What somebody might have posted for them in the channel outside a thread: no jokes, and nothing that stands there already. */
export function messageText(random: SeededRandom, db: ChatView, { channel, name }: Channel): string {
  const there = new Set(db.messages.by('channel', channel).map(({ text }) => text))
  const texts = textsFor(name).filter((text) => !toneOf(text).emoji.includes('laugh'))
  return random.pick(texts.filter((text) => !there.has(text)))
}

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
