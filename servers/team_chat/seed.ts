import type { SeedContext, SeedRows } from '../kernel/define-server.js'
import type { SeededRandom } from '../kernel/random.js'
import { LIMITS, shiftMinutes } from './rules.js'
import {
  type Channel,
  type ChatTables,
  EMOJI,
  type Membership,
  type Mention,
  type Message,
  type Person,
  type Reaction,
  type Role,
  type Seat,
} from './schema.js'
import * as words from './words.js'

const PEOPLE = 36
const MESSAGES = 88
const REPLIES = 44
/** My role in the first, second and third workspace. */
const MY_ROLES: readonly Role[] = ['admin', 'member', 'guest']
/** Minutes before the session at which I wrote my latest messages: all but the last two can still be edited. */
const MY_MESSAGES = [2, 8, 19, 27, 41, 52, 300, 2000] as const
/** Minutes after the session's start until when some teammates do not want to be disturbed. */
const QUIET = [6, 25, 60, 180, 240, 480, 1380] as const

interface ChannelPlan extends Pick<Channel, 'kind'> {
  /** Whether I am in it. */
  readonly mine: boolean
  readonly archived?: boolean
  readonly slow?: number
}
const CHANNEL_PLAN: readonly (readonly ChannelPlan[])[] = [
  [
    { kind: 'public', mine: true },
    { kind: 'public', mine: true, slow: 20 },
    { kind: 'public', mine: true },
    { kind: 'public', mine: false },
    { kind: 'private', mine: true },
    { kind: 'announcement', mine: true },
    { kind: 'public', mine: true, archived: true },
  ],
  [
    { kind: 'public', mine: true },
    { kind: 'public', mine: true, slow: 10 },
    { kind: 'public', mine: false },
    { kind: 'public', mine: false },
    { kind: 'private', mine: true },
    { kind: 'private', mine: false },
    { kind: 'announcement', mine: true },
    { kind: 'public', mine: false, archived: true },
  ],
  [
    { kind: 'public', mine: true },
    { kind: 'private', mine: true },
    { kind: 'public', mine: false },
    { kind: 'announcement', mine: false },
  ],
]

/** Three workspaces with 19 channels and 36 people, some 130 messages of the last days, threads, pins and reactions. */
export function seedTeamChat({ random, start }: SeedContext): SeedRows<ChatTables> {
  const people = seedPeople(random, start)
  const own = people[0]!.person
  const workspaces = random.sample(words.WORKSPACES, MY_ROLES.length)
  const memberships = seedMemberships(random, people, workspaces)
  const channels = seedChannels(random, workspaces)
  const seats = seedSeats(random, own, channels, memberships)
  const members = new Map(channels.map(({ channel }) => [channel, [] as string[]]))
  for (const { channel, person } of seats) members.get(channel)!.push(person)
  const roles = new Map(memberships.map(({ membership, role }) => [membership, role]))
  const authors = new Map(
    channels.map(({ channel, workspace, kind }) => [
      channel,
      members
        .get(channel)!
        .filter((person) => kind !== 'announcement' || roles.get(`${workspace}:${person}`) === 'admin'),
    ]),
  )
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
  const pinned = tally(
    messages.filter((row) => row.pinned),
    'channel',
  )
  return {
    account: [{ account: 'mine', person: own }],
    people: random.shuffle(people),
    memberships,
    channels: channels.map((row) => ({
      ...row,
      members: members.get(row.channel)!.length,
      pins: pinned.get(row.channel) ?? 0,
    })),
    seats,
    messages,
    reactions,
    mentions: seedMentions(random, roots, members),
  }
}

const slug = (name: string): string => name.toLowerCase().replaceAll(' ', '-')
const byTime = (a: { at: string }, b: { at: string }): number => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0)

/** How often each value of `field` occurs. */
function tally<F extends string>(rows: readonly Readonly<Record<F, string | null>>[], field: F): Map<string, number> {
  const counts = new Map<string, number>()
  for (const row of rows) {
    const value = row[field]
    if (value !== null) counts.set(value, (counts.get(value) ?? 0) + 1)
  }
  return counts
}

/** The first one is me. Fewer first and last names than people, so that there are namesakes of both kinds. */
function seedPeople(random: SeededRandom, start: string): Person[] {
  const firsts = random.sample(words.FIRST_NAMES, 25)
  const lasts = random.sample(words.LAST_NAMES, 22)
  const names = new Set<string>()
  for (let i = 0; names.size < PEOPLE; i++)
    names.add(`${firsts[i % firsts.length]} ${i < lasts.length ? lasts[i] : random.pick(lasts)}`)
  return random.shuffle([...names]).map((name, i) => {
    const quiet = i === 0 ? undefined : QUIET[i - 1]
    return {
      person: slug(name),
      name,
      lower: name.toLowerCase(),
      quiet_until: quiet === undefined ? null : shiftMinutes(start, quiet),
      active: i < PEOPLE - 3,
    }
  })
}

/** Everyone else belongs to one workspace, every third to two. Each workspace has an admin besides me. */
function seedMemberships(random: SeededRandom, people: readonly Person[], workspaces: readonly string[]): Membership[] {
  return people.flatMap(({ person }, i) => {
    const homes =
      i === 0
        ? [0, 1, 2]
        : i % 3 === 0
          ? [i % workspaces.length, (i + 1 + ((i / 3) % 2)) % workspaces.length]
          : [i % workspaces.length]
    return homes.map((home, place): Membership => {
      const workspace = slug(workspaces[home]!)
      const others = i <= workspaces.length && place === 0 ? 'admin' : random.pick(OTHER_ROLES)
      return {
        membership: `${workspace}:${person}`,
        workspace,
        person,
        role: i === 0 ? MY_ROLES[home]! : others,
      }
    })
  })
}
const OTHER_ROLES: readonly Role[] = ['admin', 'member', 'member', 'member', 'member', 'guest', 'guest']

function seedChannels(random: SeededRandom, workspaces: readonly string[]): Channel[] {
  // Twice as many channels as first words: most have a near-miss, often in another workspace.
  const names = random.shuffle(
    random
      .sample(words.CHANNEL_FIRST, 10)
      .flatMap((first) => random.sample(words.CHANNEL_SECOND, 2).map((second) => `${first} ${second}`)),
  )
  const channels = CHANNEL_PLAN.flatMap((plans, i) =>
    plans.map(({ kind, archived = false, slow = 0 }): Channel => {
      const name = kind === 'announcement' ? `${workspaces[i]} News` : names.pop()!
      const topic = random.pick(words.TOPICS)
      const workspace = slug(workspaces[i]!)
      return {
        channel: slug(name),
        name,
        lower: `${name} ${topic} ${workspace}`.toLowerCase(),
        topic,
        workspace,
        kind,
        archived,
        slow_minutes: slow,
        members: 0,
        pins: 0,
      }
    }),
  )
  return channels
}

/** Between five and nine people per channel, an admin among them; guests are in no more channels than they may be. */
function seedSeats(
  random: SeededRandom,
  own: string,
  channels: readonly Channel[],
  memberships: readonly Membership[],
): Seat[] {
  const plans = CHANNEL_PLAN.flat()
  const taken = new Map<string, number>()
  return channels.flatMap(({ channel, workspace }, i) => {
    const staff = random.shuffle(memberships.filter((row) => row.workspace === workspace && row.person !== own))
    const admin = staff.find(({ role }) => role === 'admin')!
    const free = staff.filter(
      (row) => row !== admin && (row.role !== 'guest' || (taken.get(row.membership) ?? 0) < LIMITS.guestSeats),
    )
    const chosen = [admin, ...free.slice(0, random.int(4, 8))]
    for (const { membership } of chosen) taken.set(membership, (taken.get(membership) ?? 0) + 1)
    const present = [...chosen.map(({ person }) => person), ...(plans[i]!.mine ? [own] : [])]
    return present.map((person) => ({ seat: `${channel}:${person}`, channel, person }))
  })
}

type Draft = Omit<Message, 'replies' | 'reactions'>

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
  const texts = random.shuffle(words.TEMPLATES.flatMap((form) => words.SUBJECTS.map((it) => form.replace('{}', it))))
  return [...mine, ...others]
    .map(({ channel, person, age }, i) => ({ channel, person, text: texts[i]!, at: shiftMinutes(start, -age) }))
    .sort(byTime)
    .map((row, i): Draft => {
      const left = row.person === own ? 0 : pinsLeft.get(row.channel)!
      if (left > 0) pinsLeft.set(row.channel, left - 1)
      const message = `message-${10 + i}`
      return {
        message,
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
  return Array.from({ length: REPLIES }, () => {
    const { message: thread, channel, at } = random.pick(roots)
    const gap = Math.round((Date.parse(start) - Date.parse(at)) / 60_000)
    const text = random.pick(words.REPLIES)
    const person = random.pick(members.get(channel)!)
    return { channel, person, text, thread, at: shiftMinutes(at, random.int(1, Math.min(gap, 900))) }
  })
    .sort(byTime)
    .map((row, i) => ({
      message: `reply-${10 + i}`,
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
  return messages.flatMap(({ message, channel }) =>
    random.sample(members.get(channel)!, random.pick([0, 0, 1, 1, 2, 3])).map((person): Reaction => {
      const emoji = random.pick(EMOJI)
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
