import type { SeededRandom } from '../kernel/random.js'
import type { Channel, ChatView, Message } from './schema.js'
import { subjectIn, textsFor, toneOf } from './words.js'

/** What somebody remembers of a message who looks for it: never every word, if it is one that people here write. */
export function searchFor(random: SeededRandom, text: string): string {
  const subject = subjectIn(text)
  if (subject === undefined) return text
  const [remembered] = new RegExp(String.raw`\S+ \S+ the ${subject}`).exec(text) ?? [text]
  return random.pick([subject, remembered, remembered])
}

/** What somebody might have posted for them in the channel outside a thread: no jokes, no news of others, and nothing that stands there already. */
export function messageText(random: SeededRandom, db: ChatView, { channel, name }: Channel): string {
  const there = new Set(db.messages.by('channel', channel).map(({ text }) => text))
  const texts = textsFor(name).filter((text) => toneOf(text).own)
  return random.pick(texts.filter((text) => !there.has(text)))
}

/** What somebody might reply to the message or, in a thread, to what began it. */
export const replyText = (random: SeededRandom, db: ChatView, message: Message): string =>
  random.pick(toneOf(rootOf(db, message).text).replies)

const rootOf = (db: ChatView, message: Message): Message =>
  message.thread === null ? message : db.messages.get(message.thread)!
