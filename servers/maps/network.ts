import { CITIES, type City } from '../kernel/gazetteer.js'

/**
 * Kilometres of the main roads between stations of neighbouring cities, by land only: there is no road under the
 * Channel or around the Baltic but the one through Lapland.
 */
const MAIN_ROADS: readonly (readonly [string, string, number])[] = [
  ['Lisbon', 'Porto', 313],
  ['Lisbon', 'Madrid', 625],
  ['Porto', 'Madrid', 560],
  ['Madrid', 'Barcelona', 620],
  ['Madrid', 'Paris', 1270],
  ['Barcelona', 'Lyon', 640],
  ['Barcelona', 'Milan', 980],
  ['Lyon', 'Paris', 465],
  ['Lyon', 'Zurich', 430],
  ['Lyon', 'Milan', 450],
  ['Paris', 'Brussels', 315],
  ['Paris', 'Zurich', 655],
  ['Brussels', 'Amsterdam', 210],
  ['Brussels', 'Munich', 780],
  ['Amsterdam', 'Hamburg', 465],
  ['Amsterdam', 'Berlin', 655],
  ['Hamburg', 'Berlin', 290],
  ['Hamburg', 'Munich', 790],
  ['Hamburg', 'Copenhagen', 490],
  ['Copenhagen', 'Stockholm', 655],
  ['Copenhagen', 'Oslo', 605],
  ['Oslo', 'Stockholm', 525],
  ['Stockholm', 'Helsinki', 1750],
  ['Berlin', 'Warsaw', 575],
  ['Berlin', 'Prague', 350],
  ['Berlin', 'Munich', 585],
  ['Prague', 'Munich', 385],
  ['Prague', 'Vienna', 335],
  ['Prague', 'Warsaw', 680],
  ['Munich', 'Zurich', 315],
  ['Munich', 'Vienna', 435],
  ['Munich', 'Milan', 495],
  ['Zurich', 'Milan', 280],
  ['Milan', 'Rome', 575],
  ['Milan', 'Vienna', 860],
  ['Vienna', 'Budapest', 245],
  ['Vienna', 'Warsaw', 680],
  ['Budapest', 'Athens', 1480],
  ['London', 'Edinburgh', 650],
  ['Boston', 'Montreal', 495],
  ['Boston', 'Toronto', 885],
  ['Boston', 'Chicago', 1590],
  ['Montreal', 'Toronto', 545],
  ['Toronto', 'Chicago', 845],
  ['Chicago', 'Denver', 1615],
  ['Chicago', 'Seattle', 3320],
  ['Denver', 'Seattle', 2110],
]

const NUMBERS = new Map(CITIES.map(({ city }, i) => [city, i]))

interface Shortest {
  /** Kilometres, infinite where no road leads. */
  readonly km: readonly (readonly number[])[]
  /** The city to go to first. */
  readonly next: readonly (readonly number[])[]
}

/** All shortest ways (Floyd and Warshall): symmetric, and never longer than by way of a third city. */
function shortestWays(): Shortest {
  const km = CITIES.map((_, i) => CITIES.map((_, j) => (i === j ? 0 : Number.POSITIVE_INFINITY)))
  const next = CITIES.map(() => CITIES.map((_, j) => j))
  for (const [a, b, length] of MAIN_ROADS) {
    const [i, j] = [NUMBERS.get(a)!, NUMBERS.get(b)!]
    km[i]![j] = length
    km[j]![i] = length
  }
  for (const via of CITIES.keys())
    for (const i of CITIES.keys())
      for (const j of CITIES.keys()) {
        const length = km[i]![via]! + km[via]![j]!
        if (length >= km[i]![j]!) continue
        km[i]![j] = length
        next[i]![j] = next[i]![via]!
      }
  return { km, next }
}

const { km: KM, next: NEXT } = shortestWays()

/** Metres by road from station to station; infinite across the sea. */
export function metresBetween(from: City, to: City): number {
  return KM[NUMBERS.get(from.city)!]![NUMBERS.get(to.city)!]! * 1000
}

/** The cities on the shortest way, both ends included, with the metres from the city before. */
export function citiesBetween(from: City, to: City): { city: City; metres: number }[] {
  const goal = NUMBERS.get(to.city)!
  let at = NUMBERS.get(from.city)!
  const way = [{ city: from, metres: 0 }]
  while (at !== goal) {
    const next = NEXT[at]![goal]!
    way.push({ city: CITIES[next]!, metres: KM[at]![next]! * 1000 })
    at = next
  }
  return way
}
