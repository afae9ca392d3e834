import { CITIES, type City } from '../kernel/gazetteer.js'
import { flightMinutes, kilometres } from './distances.js'
import { DATES, DAYS } from './time.js'

export const FARES = ['basic', 'standard', 'flex', 'business'] as const
export type Fare = (typeof FARES)[number]
export type Cabin = 'economy' | 'business'

/** A flight as the timetable has it. Times are minutes from the start of the timetable, UTC. */
export interface Flight {
  /** `lis-osl-mar05-1`: from, to, date, and which of the day's departures. */
  readonly flight: string
  /** `Nordair 214`. */
  readonly name: string
  /** Places in the gazetteer. */
  readonly from: number
  readonly to: number
  readonly day: number
  readonly departs: number
  readonly arrives: number
  readonly prices: Readonly<Record<Fare, number>>
  /** Seats that were free when the season began, by cabin. */
  readonly free: Readonly<Record<Cabin, number>>
  /** Decides which seats those are. */
  readonly hash: number
}

/** Cities that are worth changing planes in. */
const HUB_NAMES = ['Amsterdam', 'Boston', 'Chicago', 'London', 'Munich', 'Paris', 'Toronto']
const NUMBERS = new Map(CITIES.map(({ city }, i) => [city.toLowerCase(), i]))
const AIRPORTS = CITIES.map(({ airport }) => airport.toLowerCase())
const CITY_OF = new Map(AIRPORTS.map((airport, i) => [airport, i]))
/** `mar05`; the timetable has no other months than March and April. */
const DAY_CODES = DATES.map((date) => `${date.slice(5, 7) === '03' ? 'mar' : 'apr'}${date.slice(8)}`)
const DAY_OF = new Map(DAY_CODES.map((code, day) => [code, day]))
export const HUBS: readonly number[] = HUB_NAMES.map((name) => NUMBERS.get(name.toLowerCase())!)
const IS_HUB = CITIES.map((_, i) => HUBS.includes(i))
const IS_AMERICAN = CITIES.map(({ country }) => country === 'United States' || country === 'Canada')
const AIRLINES = ['Nordair', 'Blue Wing', 'Condorline', 'Meridian', 'Swift Air', 'Atlas', 'Sunjet', 'Polaris'] as const

/** The first and the last departure of each of a day's three slots, minutes after midnight. */
const SLOTS = [
  [360, 600],
  [660, 900],
  [960, 1230],
] as const
export const SLOT_NUMBERS = [1, 2, 3] as const
/** Chance that a slot has a flight on a day, per cent. */
const SLOT_CHANCE = [75, 55, 60] as const
const FARE_FACTORS: Readonly<Record<Fare, number>> = { basic: 100, standard: 135, flex: 190, business: 320 }

/** Returns a city's place in the gazetteer, ignoring case. */
export function cityNumber(name: string): number | undefined {
  return NUMBERS.get(name.trim().toLowerCase())
}

export function cityAt(number: number): City {
  return CITIES[number]!
}

/** Whether the cities lie on different continents. */
export function isIntercontinental(from: number, to: number): boolean {
  return IS_AMERICAN[from] !== IS_AMERICAN[to]
}

/** A 32-bit hash of some integers (the finalizer of MurmurHash3 over each). */
export function hashOf(...parts: readonly number[]): number {
  let hash = 0x9747b28c
  for (const part of parts) {
    hash = Math.imul(hash ^ part, 0xcc9e2d51)
    hash ^= hash >>> 15
    hash = Math.imul(hash, 0x85ebca6b)
    hash ^= hash >>> 13
    hash = Math.imul(hash, 0xc2b2ae35)
    hash ^= hash >>> 16
  }
  return hash >>> 0
}

/** Whether there are ever flights from one city to another; if there are, there are some back. @param salt the environment's own */
export function isFlown(salt: number, from: number, to: number): boolean {
  if (from === to) return false
  const hubs = Number(IS_HUB[from]) + Number(IS_HUB[to])
  const chance = isIntercontinental(from, to) ? [0, 45, 90][hubs]! : [45, 85, 100][hubs]!
  return hashOf(salt, 1, Math.min(from, to), Math.max(from, to)) % 100 < chance
}

/** When a slot's flight leaves (slots 1 to 3), if there is one on that day and the route is flown at all. */
export function departureIn(salt: number, from: number, to: number, day: number, slot: number): number | undefined {
  if (day < 0 || day >= DAYS || hashOf(salt, 2, from, to, day, slot) % 100 >= SLOT_CHANCE[slot - 1]!) return undefined
  const [first, last] = SLOTS[slot - 1]!
  return day * 1440 + first + 5 * (hashOf(salt, 3, from, to, slot) % ((last - first) / 5 + 1))
}

/** The flight of a slot (1 to 3) on a day, if there is one. */
export function flightIn(salt: number, from: number, to: number, day: number, slot: number): Flight | undefined {
  const departs = isFlown(salt, from, to) ? departureIn(salt, from, to, day, slot) : undefined
  if (departs === undefined) return undefined
  const hash = hashOf(salt, 4, from, to, day, slot)
  const route = hashOf(salt, 5, from, to)
  const basic = 25 + Math.round(kilometres(from, to) * 0.055) + (route % 30) + (hash % 50)
  const price = (fare: Fare): number => Math.round((basic * FARE_FACTORS[fare]) / 100)
  const left = (hash >>> 16) % 20
  return {
    flight: `${AIRPORTS[from]}-${AIRPORTS[to]}-${DAY_CODES[day]}-${slot}`,
    name: `${AIRLINES[route % AIRLINES.length]} ${100 + ((route >>> 4) % 290) * 3 + slot - 1}`,
    from,
    to,
    day,
    departs,
    arrives: departs + flightMinutes(from, to),
    prices: { basic, standard: price('standard'), flex: price('flex'), business: price('business') },
    // One flight in ten is sold out, and one in ten has a single seat left.
    free: { economy: left < 2 ? 0 : left < 4 ? 1 : left - 2, business: (hash >>> 22) % 6 },
    hash,
  }
}

const KEY = /^([a-z]{3})-([a-z]{3})-((?:mar|apr)\d\d)-([123])$/

/** The flight of that key, if the timetable has it. */
export function flightCalled(salt: number, key: string): Flight | undefined {
  const match = KEY.exec(key)
  if (!match) return undefined
  const [from, to, day] = [CITY_OF.get(match[1]!), CITY_OF.get(match[2]!), DAY_OF.get(match[3]!)]
  if (from === undefined || to === undefined || day === undefined) return undefined
  return flightIn(salt, from, to, day, Number(match[4]))
}

/** The flights of a day, the earliest first. */
export function flightsOn(salt: number, from: number, to: number, day: number): Flight[] {
  return SLOT_NUMBERS.flatMap((slot) => flightIn(salt, from, to, day, slot) ?? [])
}

/** Rows of each cabin, and seats A to D in a row. A and D are at a window. */
const ROWS: Readonly<Record<Cabin, readonly [first: number, last: number]>> = { business: [1, 2], economy: [3, 12] }
const LETTERS = 'ABCD'

/** The cabin that a seat such as `7C` is in, or nothing if planes have no such seat. */
export function cabinOfSeat(seat: string): Cabin | undefined {
  const match = /^(\d{1,2})[ABCD]$/.exec(seat)
  if (!match || match[1]!.startsWith('0')) return undefined
  const row = Number(match[1])
  return row >= 1 && row <= ROWS.business[1] ? 'business' : row <= ROWS.economy[1] && row > 2 ? 'economy' : undefined
}

/** The seats of a cabin that were free when the season began, spread over the cabin by the flight's hash. */
export function seatsOffered({ hash, free }: Flight, cabin: Cabin): string[] {
  const [first, last] = ROWS[cabin]
  const count = (last - first + 1) * LETTERS.length
  return Array.from({ length: free[cabin] }, (_, i) => {
    // Odd steps that are no multiples of five meet each of 8 or 40 seats once.
    const place = (hash + i * [7, 11, 13, 17][hash % 4]!) % count
    return `${first + Math.floor(place / LETTERS.length)}${LETTERS[place % LETTERS.length]}`
  })
}
