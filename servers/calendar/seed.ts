import { addDays, clockOf, isWorkday, minutesOf } from '../kernel/dates.js'
import type { SeedContext, SeedRows } from '../kernel/define-environment.js'
import type { SeededRandom } from '../kernel/random.js'
import {
  type Calendar,
  type CalendarEvent,
  type CalendarTables,
  EQUIPMENT,
  type Frequency,
  type Person,
  RESPONSES,
  type Room,
  type Series,
  STEP_DAYS,
} from './schema.js'
import { endOf, instantOf, overlap, type Slot } from './time.js'
import {
  DURATIONS,
  FIRST_NAMES,
  LAST_NAMES,
  meetingTitle,
  OWN_CALENDARS,
  privateTitle,
  ROOM_NAMES,
  seriesTitle,
  TEAMS,
} from './words.js'

const PEOPLE = 36
const ROOMS = 10
const FIRST_DAY = -6
const LAST_DAY = 25
const SERIES: readonly [Frequency, Kind][] = [
  ['weekly', 'own'],
  ['daily', 'own'],
  ['weekly', 'invited'],
  ['biweekly', 'invited'],
]

/** A company of a few dozen people and one user's four calendars, from a week before the session's start to almost four after. */
export function seedCalendar({ random, start }: SeedContext): SeedRows<CalendarTables> {
  const today = start.slice(0, 10)
  const people = seedPeople(random)
  const calendars = seedCalendars(random, people)
  const rooms = seedRooms(random)
  const planner = new Planner(random, people, calendars, rooms)

  planner.meeting({ date: today, start: '08:30', duration: 45 }, 'own')
  planner.meeting({ date: today, start: '09:20', duration: 30 }, 'own')
  for (const [frequency, kind] of SERIES) {
    const from = () => addDays(today, frequency === 'daily' ? random.pick([0, 1, 2, 7, 8, 9]) : random.int(-3, 8))
    for (let tries = 0; tries < 8 && !planner.repeating(frequency, from(), kind); tries++);
  }
  for (let day = FIRST_DAY; day <= LAST_DAY; day++) {
    const date = addDays(today, day)
    if (!isWorkday(date)) {
      if (random.chance(0.5)) planner.private(date)
      continue
    }
    const count = day < 0 ? random.int(0, 2) : random.int(1, 3)
    for (let i = 0; i < count; i++) {
      const kind = random.pick(['own', 'own', 'own', 'invited', 'invited', 'team'] as const)
      planner.meeting(planner.workSlot(date), kind)
    }
    if (random.chance(0.15)) planner.private(date)
  }

  return {
    people,
    calendars,
    rooms,
    shares: seedShares(random, people, calendars),
    series: planner.series,
    events: planner.events,
    reminders: planner.events
      .filter((event) => instantOf(event) > start && planner.userAttends(event) && random.chance(0.2))
      .map(({ event }) => {
        const minutes = random.pick([5, 10, 15])
        return { reminder: `${event}:${minutes}`, event, minutes }
      }),
  }
}

const slug = (name: string): string => name.toLowerCase().replaceAll(' ', '-')

/** The first person is the user. First names repeat on purpose: "Ana" alone may not be enough. */
function seedPeople(random: SeededRandom): Person[] {
  const firsts = random.sample(FIRST_NAMES, PEOPLE - 8)
  const names = new Set(firsts.map((first, i) => `${first} ${LAST_NAMES[(i * 7 + random.int(0, 6)) % 60]}`))
  while (names.size < PEOPLE) names.add(`${random.pick(firsts)} ${random.pick(LAST_NAMES)}`)
  return [...names].map((name, i) => {
    const begins = random.pick(i === 0 ? [8, 9] : [7, 8, 9, 9, 10])
    return {
      person: slug(name),
      name,
      team: random.pick(TEAMS),
      work_start: clockOf(begins * 60),
      work_end: clockOf((begins + random.pick([8, 9])) * 60),
      self: i === 0,
    }
  })
}

/** Two of the user's own, one that others let the user edit, one that the user may only read. */
function seedCalendars(random: SeededRandom, people: readonly Person[]): Calendar[] {
  const user = people[0]!
  const own = ['Work', random.pick(OWN_CALENDARS)]
  const owners = random.sample(people.slice(1), 2)
  return [
    ...own.map((name) => ({
      calendar: slug(`${name} calendar`),
      name: `${name} Calendar`,
      owner: user.person,
      access: 'owner' as const,
    })),
    ...random.sample(TEAMS, 2).map((team, i) => ({
      calendar: slug(`${team} team`),
      name: `${team} Team`,
      owner: owners[i]!.person,
      access: i === 0 ? ('editor' as const) : ('viewer' as const),
    })),
  ]
}

function seedRooms(random: SeededRandom): Room[] {
  const shift = random.int(0, EQUIPMENT.length - 1)
  const seats = [2, 3, 4, 4, 6, 6, 8, 10, 12, 20]
  return random.sample(ROOM_NAMES, ROOMS).map((name, i) => ({
    room: slug(`${name} room`),
    name: `${name} Room`,
    seats: seats[i]!,
    equipment: EQUIPMENT[(i + shift) % EQUIPMENT.length]!,
  }))
}

function seedShares(random: SeededRandom, people: readonly Person[], calendars: readonly Calendar[]) {
  return calendars
    .filter(({ access }) => access === 'owner')
    .flatMap(({ calendar }) =>
      random.sample(people.slice(1), random.int(1, 2)).map(({ person }) => ({
        share: `${calendar}:${person}`,
        calendar,
        person,
        access: random.pick(['editor', 'viewer'] as const),
      })),
    )
}

/** Whose event it is: the user's, someone else's with the user invited, or someone else's without the user. */
type Kind = 'own' | 'invited' | 'team'

/** Puts events into free time only: people do not accept two things at once, and a room holds one event. */
class Planner {
  readonly events: CalendarEvent[] = []
  readonly series: Series[] = []
  readonly #keys = new Set<string>()
  readonly #random: SeededRandom
  readonly #people: readonly Person[]
  readonly #calendars: readonly Calendar[]
  readonly #rooms: readonly Room[]
  readonly #user: Person

  constructor(random: SeededRandom, people: readonly Person[], calendars: readonly Calendar[], rooms: readonly Room[]) {
    this.#random = random
    this.#people = people
    this.#calendars = calendars
    this.#rooms = rooms
    this.#user = people[0]!
  }

  userAttends(event: CalendarEvent): boolean {
    const { person } = this.#user
    return event.organiser === person || ['accepted', 'tentative'].includes(event.attendees[person] ?? '')
  }

  workSlot(date: string): Slot {
    const start = this.#random.int(18, 32) * 30 + this.#random.pick([0, 0, 0, 15])
    return { date, start: clockOf(start), duration: this.#random.pick(DURATIONS) }
  }

  meeting(slot: Slot, kind: Kind): void {
    this.#plan([slot], meetingTitle(this.#random), kind)
  }

  /** Whether it found a place for three occurrences from that day on. */
  repeating(frequency: Frequency, from: string, kind: Kind): boolean {
    const slot = { ...this.workSlot(from), duration: 30 }
    const slots = [0, 1, 2].map((i) => ({ ...slot, date: addDays(from, i * STEP_DAYS[frequency]) }))
    return slots.every(({ date }) => isWorkday(date)) && this.#plan(slots, seriesTitle(this.#random), kind, frequency)
  }

  private(date: string): void {
    const start = isWorkday(date) ? this.#random.int(35, 40) : this.#random.int(18, 38)
    const slot = { date, start: clockOf(start * 30), duration: this.#random.pick([60, 90, 120]) }
    if (this.#isBusy(this.#user, slot)) return
    const { calendar, name } = this.#calendars[1]!
    const title = privateTitle(this.#random, name)
    this.#add(title, [slot], { calendar, organiser: this.#user.person, room: null, attendees: [{}] })
  }

  /** Adds the event, or the series, if its organiser is free each time; says whether it did. */
  #plan(slots: readonly Slot[], title: string, kind: Kind, frequency?: Frequency): boolean {
    const random = this.#random
    const organiser = kind === 'own' ? this.#user : random.pick(this.#people.slice(1))
    if (!slots.every((slot) => !this.#isBusy(organiser, slot))) return false
    if (kind !== 'own' && !slots.every((slot) => this.#worksDuring(organiser, slot))) return false
    const mayCome = (person: Person) =>
      person !== organiser && slots.every((slot) => this.#worksDuring(person, slot) && !this.#isBusy(person, slot))
    const others = random
      .sample(this.#people.slice(1), 8)
      .filter(mayCome)
      .slice(0, kind === 'own' ? random.int(0, 3) : random.int(1, 2))
    if (kind === 'invited' && !mayCome(this.#user)) return false
    const invited = kind === 'invited' ? [this.#user, ...others] : others
    const from = kind === 'own' ? (random.chance(0.7) ? [0] : [2]) : [2, 3, 3]
    const room = random.chance(0.55) ? this.#freeRoom(slots, invited.length + 1) : null
    const attendees = slots.map(() => Object.fromEntries(invited.map(({ person }) => [person, this.#response(kind)])))
    const calendar = this.#calendars[random.pick(from)]!.calendar
    this.#add(title, slots, { calendar, organiser: organiser.person, room, attendees }, frequency)
    return true
  }

  #response(kind: Kind): CalendarEvent['attendees'][string] {
    return kind === 'invited' ? this.#random.pick([...RESPONSES, 'pending', 'pending']) : this.#random.pick(RESPONSES)
  }

  #add(
    title: string,
    slots: readonly Slot[],
    fixed: Pick<CalendarEvent, 'calendar' | 'organiser' | 'room'> & {
      attendees: readonly CalendarEvent['attendees'][]
    },
    frequency?: Frequency,
  ): void {
    const series = frequency === undefined ? null : this.#key(frequency)
    if (frequency !== undefined && series !== null) {
      const { organiser } = fixed
      this.series.push({ series, title, organiser, frequency, times: slots.length, ...slots[0]! })
    }
    for (const [occurrence, slot] of slots.entries()) {
      const event = this.#key(slug(title.split(' ').at(-1)!))
      const attendees = fixed.attendees[occurrence]!
      this.events.push({
        ...{ event, title, ...fixed, ...slot, attendees },
        ...{ status: 'confirmed', series, occurrence, moved: false },
      })
    }
  }

  /** A new key such as `review-42`. */
  #key(word: string): string {
    for (;;) {
      const key = `${word}-${this.#random.int(10, 99)}`
      if (this.#keys.has(key)) continue
      this.#keys.add(key)
      return key
    }
  }

  #isBusy({ person }: Person, slot: Slot): boolean {
    return this.events.some(
      (event) => overlap(event, slot) && (event.organiser === person || event.attendees[person] === 'accepted'),
    )
  }

  #worksDuring(person: Person, slot: Slot): boolean {
    return isWorkday(slot.date) && person.work_start <= slot.start && endOf(slot) <= minutesOf(person.work_end)
  }

  #freeRoom(slots: readonly Slot[], heads: number): string | null {
    const free = this.#rooms.filter(
      ({ room, seats }) =>
        seats >= heads &&
        !this.events.some((event) => event.room === room && slots.some((slot) => overlap(event, slot))),
    )
    return free.length > 0 ? this.#random.pick(free).room : null
  }
}
