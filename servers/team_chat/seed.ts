import { addMinutes } from '../kernel/dates.js'
import type { SeedContext, SeedRows } from '../kernel/define-environment.js'
import type { SeededRandom } from '../kernel/random.js'
import { slug } from '../kernel/text.js'
import { LIMITS } from './rules.js'
import type { Channel, ChatTables, Membership, Person, Role, Seat } from './schema.js'
import { seedTalk } from './seed-messages.js'
import * as words from './words.js'

const PEOPLE = 36
/** My role in the first, second and third workspace. */
const MY_ROLES: readonly Role[] = ['admin', 'member', 'guest']
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
  const talk = seedTalk(random, start, own, channels, members, authors)
  return {
    account: [{ account: 'mine', person: own }],
    people: random.shuffle(people),
    memberships,
    channels: channels.map((row) => ({
      ...row,
      members: members.get(row.channel)!.length,
      pins: talk.messages.filter(({ channel, pinned }) => pinned && channel === row.channel).length,
    })),
    seats,
    ...talk,
  }
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
      quiet_until: quiet === undefined ? null : addMinutes(start, quiet),
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
