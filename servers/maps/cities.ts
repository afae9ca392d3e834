import { timeOf } from '../kernel/dates.js'
import { CITIES, type City } from '../kernel/gazetteer.js'

/** Facts that the map has about a city beyond the gazetteer. */
export interface CityFacts {
  readonly city: City
  /** Hours ahead of UTC in winter. Sessions begin on 2 March, before any of these cities changes its clocks. */
  readonly utcOffset: number
  /** Height of the centre above the sea, metres. */
  readonly elevation: number
}

const facts = (name: string, utcOffset: number, elevation: number): CityFacts => ({
  city: CITIES.find(({ city }) => city === name)!,
  utcOffset,
  elevation,
})

export const CITY_FACTS: readonly CityFacts[] = [
  facts('Amsterdam', 1, 2),
  facts('Athens', 2, 70),
  facts('Barcelona', 1, 12),
  facts('Berlin', 1, 34),
  facts('Boston', -5, 14),
  facts('Brussels', 1, 28),
  facts('Budapest', 1, 102),
  facts('Chicago', -6, 181),
  facts('Copenhagen', 1, 5),
  facts('Denver', -7, 1609),
  facts('Dublin', 0, 8),
  facts('Edinburgh', 0, 47),
  facts('Hamburg', 1, 6),
  facts('Helsinki', 2, 17),
  facts('Lisbon', 0, 45),
  facts('London', 0, 11),
  facts('Lyon', 1, 173),
  facts('Madrid', 1, 657),
  facts('Milan', 1, 120),
  facts('Montreal', -5, 36),
  facts('Munich', 1, 520),
  facts('Oslo', 1, 23),
  facts('Paris', 1, 35),
  facts('Porto', 0, 83),
  facts('Prague', 1, 200),
  facts('Rome', 1, 21),
  facts('Seattle', -8, 53),
  facts('Stockholm', 1, 28),
  facts('Toronto', -5, 76),
  facts('Vienna', 1, 171),
  facts('Warsaw', 1, 100),
  facts('Zurich', 1, 408),
]

const BY_NAME = new Map(CITY_FACTS.map((row) => [row.city.city.toLowerCase(), row]))

/** Returns the city of that name, ignoring case. */
export function cityNamed(name: string): CityFacts | undefined {
  return BY_NAME.get(name.trim().toLowerCase())
}

/** Date and time on a clock in the city. @param now ISO 8601 in UTC */
export function localClock(now: string, { utcOffset }: CityFacts): { date: string; time: string } {
  const iso = new Date(Date.parse(now) + utcOffset * 3_600_000).toISOString()
  return { date: iso.slice(0, 10), time: timeOf(iso) }
}
