import { deriveSeed, type SeededRandom, seededRandom } from './random.js'
import { streetsOf } from './streets.js'

/** A city as every environment knows it. */
export interface City {
  readonly city: string
  readonly country: string
  /** IATA code of its main airport. */
  readonly airport: string
  /** Degrees; north and east are positive. */
  readonly latitude: number
  readonly longitude: number
}

const city = (name: string, country: string, airport: string, latitude: number, longitude: number): City => ({
  city: name,
  country,
  airport,
  latitude,
  longitude,
})

/** Cities that all environments share, so that an address of one environment can be looked up in another. Names are unambiguous. */
export const CITIES: readonly City[] = [
  city('Amsterdam', 'Netherlands', 'AMS', 52.37, 4.9),
  city('Athens', 'Greece', 'ATH', 37.98, 23.73),
  city('Barcelona', 'Spain', 'BCN', 41.39, 2.17),
  city('Berlin', 'Germany', 'BER', 52.52, 13.41),
  city('Boston', 'United States', 'BOS', 42.36, -71.06),
  city('Brussels', 'Belgium', 'BRU', 50.85, 4.35),
  city('Budapest', 'Hungary', 'BUD', 47.5, 19.04),
  city('Chicago', 'United States', 'ORD', 41.88, -87.63),
  city('Copenhagen', 'Denmark', 'CPH', 55.68, 12.57),
  city('Denver', 'United States', 'DEN', 39.74, -104.99),
  city('Dublin', 'Ireland', 'DUB', 53.35, -6.26),
  city('Edinburgh', 'United Kingdom', 'EDI', 55.95, -3.19),
  city('Hamburg', 'Germany', 'HAM', 53.55, 9.99),
  city('Helsinki', 'Finland', 'HEL', 60.17, 24.94),
  city('Lisbon', 'Portugal', 'LIS', 38.72, -9.14),
  city('London', 'United Kingdom', 'LHR', 51.51, -0.13),
  city('Lyon', 'France', 'LYS', 45.76, 4.84),
  city('Madrid', 'Spain', 'MAD', 40.42, -3.7),
  city('Milan', 'Italy', 'MXP', 45.46, 9.19),
  city('Montreal', 'Canada', 'YUL', 45.5, -73.57),
  city('Munich', 'Germany', 'MUC', 48.14, 11.58),
  city('Oslo', 'Norway', 'OSL', 59.91, 10.75),
  city('Paris', 'France', 'CDG', 48.86, 2.35),
  city('Porto', 'Portugal', 'OPO', 41.15, -8.61),
  city('Prague', 'Czechia', 'PRG', 50.08, 14.44),
  city('Rome', 'Italy', 'FCO', 41.9, 12.5),
  city('Seattle', 'United States', 'SEA', 47.61, -122.33),
  city('Stockholm', 'Sweden', 'ARN', 59.33, 18.07),
  city('Toronto', 'Canada', 'YYZ', 43.65, -79.38),
  city('Vienna', 'Austria', 'VIE', 48.21, 16.37),
  city('Warsaw', 'Poland', 'WAW', 52.23, 21.01),
  city('Zurich', 'Switzerland', 'ZRH', 47.37, 8.54),
]

/** House numbers run from 1 to this on every street. */
export const HOUSES_PER_STREET = 120

/** Where the user of this seed lives: the same city in every environment, so that what belongs together is not on two continents. */
export const homeOf = (seed: number): City => seededRandom(deriveSeed('home', seed)).pick(CITIES)

/** An address of the form `12 Rua do Moinho, Lisbon`; every such address of a known street and city exists. */
export function addressIn(random: SeededRandom, cityName: string): string {
  return `${random.int(1, HOUSES_PER_STREET)} ${random.pick(streetsOf(cityName))}, ${cityName}`
}

export interface Address {
  readonly house: number
  readonly street: string
  readonly city: City
}

/** Reads an address, or returns nothing if it does not exist. Capitals do not matter. */
export function parseAddress(text: string): Address | undefined {
  const [, number, streetName, cityName] = text.trim().match(/^(\d{1,3}) ([^,]+), *([^,]+)$/) ?? []
  const same = (a: string, b: string | undefined): boolean => a.toLowerCase() === b?.toLowerCase()
  const city = CITIES.find((known) => same(known.city, cityName))
  const street = city && streetsOf(city.city).find((name) => same(name, streetName))
  const house = Number(number)
  return street && city && house >= 1 && house <= HOUSES_PER_STREET ? { house, street, city } : undefined
}
