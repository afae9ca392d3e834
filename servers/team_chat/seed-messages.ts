import { addMinutes } from '../kernel/dates.js'
import { twoDigitNumbers } from '../kernel/key-numbers.js'
import { ascending } from '../kernel/lists.js'
import type { SeededRandom } from '../kernel/random.js'
import { LIMITS } from './rules.js'
import type { Channel, Mention, Message, Reaction } from './schema.js'
import * as words from './words.js'

const MESSAGES = 76
const REPLIES = 44
/** Minutes before the session at which I wrote my latest messages: all but the last two can still be edited. */
const MY_MESSAGES = [2, 8, 19, 27, 41, 52, 300, 2000] as const

const byTime = ascending('at')

/** How often each value of `field` occurs. */
function tally<F extends string>(rows: readonly Readonly<Record<F, string | null>>[], field: F): Map<string, number> {
  const counts = new Map<string, number>()
  for (const row of rows) {
    const value = row[field]
    if (value !== null) counts.set(value, (counts.get(value) ?? 0) + 1)
  }
  return counts
}

/** A message before its replies and reactions are counted. */
type Draft = Omit<Message, 'replies' | 'reactions'>

interface Talk {
  readonly messages: Message[]
  readonly reactions: Reaction[]
  readonly mentions: Mention[]
}

/**
 * Creates the messages in the channels, with the replies, reactions and mentions that followed.
 * @param members  members by channel
 * @param authors  possible authors by channel
 */
export function seedTalk(
  random: SeededRandom,
  start: string,
  own: string,
  channels: readonly Channel[],
  members: ReadonlyMap<string, readonly string[]>,
  authors: ReadonlyMap<string, readonly string[]>,
): Talk {
  const roots = seedMessages(random, start, own, channels, authors)
  const replies = seedReplies(random, start, roots, members)
  const reactions = seedReactions(random, [...roots, ...replies], members)
  const [answered, reactedTo] = [tally(replies, 'thread'), tally(reactions, 'message')]
  const messages = [...roots, ...replies].sort(byTime).map(
    (row): Message => ({
      ...row,
      replies: answered.get(row.message) ?? 0,
      reactions: reactedTo.get(row.message) ?? 0,
    }),
  )
  return { messages, reactions, mentions: seedMentions(random, roots, members) }
}

/** Ascending keys with gaps, such as `message-42`: two digits, so that they never meet the three of keys made in a session. */
function shortKeys(random: SeededRandom, prefix: string, count: number): string[] {
  const numbers = twoDigitNumbers(random, count)
  return numbers.sort((a, b) => a - b).map((number) => `${prefix}-${number}`)
}

/** Messages outside threads: my latest ones, the very last of them in the first channel with slow mode, and those of others. */
function seedMessages(
  random: SeededRandom,
  start: string,
  own: string,
  channels: readonly Channel[],
  authors: ReadonlyMap<string, readonly string[]>,
): Draft[] {
  const slow = channels.find(({ slow_minutes }) => slow_minutes > 0)!
  const free = channels.filter(
    ({ channel, archived, slow_minutes }) => !archived && slow_minutes === 0 && authors.get(channel)!.includes(own),
  )
  const mine = MY_MESSAGES.map((age, i) => ({ ...(i === 0 ? slow : free[i % free.length]!), person: own, age }))
  const others = Array.from({ length: MESSAGES - mine.length }, (_, i) => {
    const channel = channels[i % channels.length]!
    const person = random.pick(authors.get(channel.channel)!.filter((author) => author !== own))
    return { ...channel, person, age: random.int(3, 6000) }
  })
  const pinsLeft = new Map(channels.map(({ channel }, i) => [channel, i === 0 ? LIMITS.pins : random.int(0, 2)]))
  const keys = shortKeys(random, 'message', MESSAGES)
  const taken = new Set<string>()
  return [...mine, ...others]
    .map(({ channel, name, person, age }) => {
      // No two messages say the same, so that each can be found by its words.
      const text = random.pick(words.textsFor(name).filter((it) => !taken.has(it)))
      taken.add(text)
      return { channel, person, text, at: addMinutes(start, -age) }
    })
    .sort(byTime)
    .map((row, i): Draft => {
      const left = row.person === own ? 0 : pinsLeft.get(row.channel)!
      if (left > 0) pinsLeft.set(row.channel, left - 1)
      return {
        message: keys[i]!,
        ...row,
        lower: row.text.toLowerCase(),
        thread: null,
        pinned: left > 0,
        edited: random.chance(0.06),
      }
    })
}

function seedReplies(
  random: SeededRandom,
  start: string,
  roots: readonly Draft[],
  members: ReadonlyMap<string, readonly string[]>,
): Draft[] {
  const keys = shortKeys(random, 'reply', REPLIES)
  return Array.from({ length: REPLIES }, () => {
    const { message: thread, channel, at, text: begun } = random.pick(roots)
    const gap = Math.round((Date.parse(start) - Date.parse(at)) / 60_000)
    const text = random.pick(words.toneOf(begun).replies)
    const person = random.pick(members.get(channel)!)
    return { channel, person, text, thread, at: addMinutes(at, random.int(1, Math.min(gap, 900))) }
  })
    .sort(byTime)
    .map((row, i) => ({
      message: keys[i]!,
      ...row,
      lower: row.text.toLowerCase(),
      pinned: false,
      edited: random.chance(0.06),
    }))
}

function seedReactions(
  random: SeededRandom,
  messages: readonly Draft[],
  members: ReadonlyMap<string, readonly string[]>,
): Reaction[] {
  return messages.flatMap(({ message, channel, text }) =>
    random.sample(members.get(channel)!, random.pick([0, 0, 1, 1, 2, 3])).map((person): Reaction => {
      const emoji = random.pick(words.toneOf(text).emoji)
      const by = `${message}:${person}`
      return { reaction: `${by}:${emoji}`, by, message, emoji }
    }),
  )
}

function seedMentions(
  random: SeededRandom,
  roots: readonly Draft[],
  members: ReadonlyMap<string, readonly string[]>,
): Mention[] {
  return random.sample(roots, 14).map(({ message, channel, person: author, at }) => {
    const person = random.pick(members.get(channel)!.filter((member) => member !== author))
    return { mention: `${message}:${person}`, message, person, due: at }
  })
}
