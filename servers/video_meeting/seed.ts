import { addMinutes, clockOf } from '../kernel/dates.js'
import type { SeedContext, SeedRows } from '../kernel/define-environment.js'
import { twoDigitNumbers } from '../kernel/key-numbers.js'
import type { SeededRandom } from '../kernel/random.js'
import {
  LIMITS,
  ME,
  type Meeting,
  type Participant,
  type Person,
  type Plan,
  type Recording,
  type Status,
  TERMS,
  type VideoTables,
} from './schema.js'
import { overlap } from './time.js'
import * as words from './words.js'

const PEOPLE = 36
const SCHEDULED = 12
const ENDED = 14

/**
 * Creates one user's meetings of a few weeks. Some are live with people who wait to be admitted. Most are in the future or
 * over, and some are recorded.
 */
export function seedVideo({ random, start }: SeedContext): SeedRows<VideoTables> {
  const plan = random.pick<Plan>(['free', 'team', 'team', 'team', 'business', 'business'])
  const people = seedPeople(random)
  const meetings = seedMeetings(random, start, plan)
  const participants = new Cast(random, people, TERMS[plan].capacity)
  for (const meeting of meetings) participants.gather(meeting)
  const recordings = seedRecordings(random, meetings, TERMS[plan].storage)
  return {
    account: [
      {
        account: ME,
        person: people[0]!.person,
        plan,
        storage_used: recordings.reduce((sum, { megabytes }) => sum + megabytes, 0),
      },
    ],
    people,
    meetings: recordOne(random, start, meetings, participants.rows, people),
    participants: participants.rows,
    recordings,
  }
}

/** The first person is the user. First and last names repeat on purpose: one of them may not be enough. */
function seedPeople(random: SeededRandom): Person[] {
  const firsts = random.sample(words.FIRST_NAMES, PEOPLE - 12)
  const lasts = random.sample(words.LAST_NAMES, PEOPLE - 10)
  const names = new Set<string>()
  for (let i = 0; names.size < PEOPLE; i++)
    names.add(`${firsts[i % firsts.length]} ${i < lasts.length ? lasts[i] : random.pick(lasts)}`)
  return [...names].map((name, i) => ({
    person: name.toLowerCase().replace(' ', '-'),
    name,
    consents: i === 0 || random.chance(0.85),
  }))
}

function seedMeetings(random: SeededRandom, start: string, plan: Plan): Meeting[] {
  const today = start.slice(0, 10)
  const numbers = twoDigitNumbers(random, 90)
  const titles = seedTitles(random, SCHEDULED + ENDED + 3)
  const meetings: Meeting[] = []
  const add = (status: Status, role: Meeting['role'], when: Pick<Meeting, 'date' | 'start' | 'minutes'>) => {
    const title = titles.pop()!
    const key = `${title.split(' ').at(-1)!.toLowerCase()}-${numbers.pop()}`
    const live_since = status === 'live' ? `${when.date}T${when.start}:00Z` : ''
    meetings.push({ meeting: key, title, ...when, status, role, live_since, recorded_since: '' })
  }
  const lengths = [15, 30, 30, 45, 60, 90].filter((minutes) => minutes <= TERMS[plan].minutes)
  const slot = (date: string, earliest: number) => ({
    date,
    start: clockOf(random.int(earliest / 15, 68) * 15),
    minutes: random.pick(lengths),
  })
  const early = () => ({ date: today, start: clockOf(8 * 60 + random.pick([30, 40, 45])), minutes: 40 })

  if (random.chance(0.5)) add('live', 'host', early())
  add('live', 'cohost', early())
  add('live', 'attendee', early())
  // One of the user's own meetings can be started when the session begins, and another soon after.
  add('scheduled', 'host', { date: today, start: '09:00', minutes: 15 })
  add('scheduled', 'host', { date: today, start: '09:15', minutes: 30 })
  while (meetings.length < 2 + SCHEDULED) {
    const role = random.pick(['host', 'host', 'cohost', 'attendee'] as const)
    const when = slot(addMinutes(start, random.int(0, 18) * 24 * 60).slice(0, 10), 10 * 60)
    const taken = meetings.some((row) => row.status === 'scheduled' && row.role === 'host' && overlap(row, when))
    if (role !== 'host' || !taken) add('scheduled', role, when)
  }
  for (let i = 0; i < ENDED; i++) {
    const role = random.pick(['host', 'host', 'cohost', 'attendee'] as const)
    add('ended', i < 5 ? 'host' : role, slot(addMinutes(start, -random.int(1, 20) * 24 * 60).slice(0, 10), 8 * 60))
  }
  return meetings
}

/** Half as many topics as titles: most titles have a near-miss. */
function seedTitles(random: SeededRandom, count: number): string[] {
  const topics = random.sample(words.TOPICS, Math.ceil(count / 2))
  return random.shuffle(
    topics.flatMap((topic) => random.sample(words.FORMATS, 2).map((format) => `${topic} ${format}`)),
  )
}

/** Gathers the people of each meeting, with keys such as `ana-42` that no other participant has. */
class Cast {
  readonly rows: Participant[] = []
  readonly #numbers = new Map<string, number>()

  constructor(
    readonly random: SeededRandom,
    readonly people: readonly Person[],
    readonly capacity: number,
  ) {}

  gather(meeting: Meeting): void {
    const { random, people } = this
    const [self, ...others] = people
    const full = meeting.status !== 'ended' && random.chance(0.2)
    const most = this.capacity - 1
    const guests = random.sample(others, full ? most : random.int(2, Math.min(6, most - 1)))
    this.#add(meeting, self!, meeting.role)
    // A meeting that the user does not host is hosted by the first guest.
    for (const [i, guest] of guests.entries()) {
      const role = i === 0 && meeting.role !== 'host' ? 'host' : i === 1 && random.chance(0.3) ? 'cohost' : 'attendee'
      this.#add(meeting, guest, role)
    }
  }

  #add({ meeting, status, role: own }: Meeting, { person, name }: Person, role: Participant['role']): void {
    const { random, people } = this
    const inside = person === people[0]!.person || role !== 'attendee' || random.chance(0.5)
    const place =
      status === 'scheduled'
        ? 'invited'
        : status === 'ended'
          ? 'left'
          : inside
            ? 'present'
            : random.chance(own === 'attendee' ? 0.5 : 0.9)
              ? 'waiting'
              : 'removed'
    const first = name.split(' ')[0]!.toLowerCase()
    // Two digits, so that they never meet the three digits of keys made in a session.
    const number = (this.#numbers.get(first) ?? random.int(10, 20)) + random.int(0, 1)
    this.#numbers.set(first, number + 1)
    this.rows.push({ participant: `${first}-${number}`, name, person, meeting, role, place })
  }
}

/** Some of the ended meetings were recorded; in a third of the environments the storage is nearly used up. */
function seedRecordings(random: SeededRandom, meetings: readonly Meeting[], storage: number): Recording[] {
  const recorded = meetings.filter(({ status }) => status === 'ended').filter((_, i) => i < 3 || random.chance(0.4))
  const nearlyFull = random.chance(0.35)
  const left = nearlyFull ? random.int(0, LIMITS.storageToStart - 1) : random.int(storage / 4, storage / 2)
  const share = Math.floor((storage - left) / recorded.length)
  const first = random.int(11, 60)
  return recorded.map(({ meeting, title, minutes }, i) => ({
    recording: `recording-${first + i}`,
    title,
    meeting,
    minutes,
    // The last one takes what the even shares leave over, so that exactly `left` remains.
    megabytes: i < recorded.length - 1 ? share : storage - left - share * (recorded.length - 1),
    held: random.chance(0.25) || i === 1,
  }))
}

/** In half of the environments one live meeting in which everyone agrees is being recorded. */
function recordOne(
  random: SeededRandom,
  start: string,
  meetings: readonly Meeting[],
  participants: readonly Participant[],
  people: readonly Person[],
): Meeting[] {
  const unwilling = new Set(people.filter(({ consents }) => !consents).map(({ person }) => person))
  const willing = meetings.find(
    ({ meeting, status, role }) =>
      status === 'live' &&
      role !== 'attendee' &&
      !participants.some((row) => row.meeting === meeting && row.place === 'present' && unwilling.has(row.person)),
  )
  if (!willing || random.chance(0.5)) return [...meetings]
  return meetings.map((row) =>
    row === willing ? { ...row, recorded_since: addMinutes(start, -random.int(3, 12)) } : row,
  )
}
