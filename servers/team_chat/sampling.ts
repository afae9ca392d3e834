import type { SeededRandom } from '../kernel/random.js'
import type { Channel, ChatView, Message } from './schema.js'
import { subjectIn, textsFor, toneOf } from './words.js'

/**
 * Samples the words that a user remembers of a message that they look for. The user never remembers every word of a text
 * that people of this environment write.
 */
export function searchFor(random: SeededRandom, text: string): string {
  const subject = subjectIn(text)
  if (subject === undefined) return text
  const [remembered] = new RegExp(String.raw`\S+ \S+ the ${subject}`).exec(text) ?? [text]
  return random.pick([subject, remembered, remembered])
}

/**
 * Samples a text that a user might want posted for them in the channel, outside a thread. The text is no joke and no news
 * of others, and the channel does not contain it yet.
 */
export function messageText(random: SeededRandom, db: ChatView, { channel, name }: Channel): string {
  const there = new Set(db.messages.by('channel', channel).map(({ text }) => text))
  const texts = textsFor(name).filter((text) => toneOf(text).own)
  return random.pick(texts.filter((text) => !there.has(text)))
}

/** Samples a reply to the message or, in a thread, to the message that began the thread. */
export const replyText = (random: SeededRandom, db: ChatView, message: Message): string =>
  random.pick(toneOf(rootOf(db, message).text).replies)

const rootOf = (db: ChatView, message: Message): Message =>
  message.thread === null ? message : db.messages.get(message.thread)!
