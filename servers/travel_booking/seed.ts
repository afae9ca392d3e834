import { addDays } from '../kernel/dates.js'
import type { SeedContext, SeedRows } from '../kernel/define-environment.js'
import { CITIES } from '../kernel/gazetteer.js'
import { twoDigitNumbers } from '../kernel/key-numbers.js'
import type { SeededRandom } from '../kernel/random.js'
import { slug } from '../kernel/text.js'
import type { Budget, Hotel, Itinerary, Traveller, TravelTables } from './schema.js'
import { seedBookings } from './seed-bookings.js'
import * as words from './words.js'

const TRAVELLERS = 26
/** How many of the travellers have a passport that is expired or soon will be. */
const BAD_PASSPORTS = 6
const HOTELS_PER_CITY = 3

/** An agency's season: hotels in every city, travellers with passports and status, trips that are booked, held and given up, budgets that pay. */
export function seedTravel({ random, start }: SeedContext): SeedRows<TravelTables> {
  const salt = random.int(0, 0x7fffffff)
  const travellers = seedTravellers(random, start.slice(0, 10))
  const hotels = seedHotels(random)
  const itineraries = seedItineraries(random, travellers)
  const budgets = seedBudgets(random)
  const booked = seedBookings(random, start, { salt, travellers, hotels, itineraries, budgets })
  return { timetable: [{ season: 'spring-2026', salt }], hotels, travellers, itineraries, ...booked }
}

function twoDigitKeys(random: SeededRandom, prefix: string, count: number): string[] {
  return twoDigitNumbers(random, count).map((number) => `${prefix}-${number}`)
}

function seedTravellers(random: SeededRandom, today: string): Traveller[] {
  // Fewer last names than travellers: some share one.
  const firsts = random.sample(words.FIRST_NAMES, TRAVELLERS)
  const lasts = random.sample(words.LAST_NAMES, TRAVELLERS - 6)
  return firsts.map((first, i): Traveller => {
    const name = `${first} ${lasts[i] ?? random.pick(lasts)}`
    const tier = random.pick(['none', 'none', 'silver', 'silver', 'gold'] as const)
    return {
      traveller: slug(name),
      name,
      tier,
      points: tier === 'none' ? random.int(0, 40) * 50 : random.int(40, 300) * 50,
      passport_expires: addDays(today, passportDays(random, i)),
    }
  })
}

/** Days until a passport expires: expired, soon to expire, too soon for another continent, and years for all others. */
function passportDays(random: SeededRandom, place: number): number {
  if (place < 2) return -random.int(5, 400)
  if (place < 4) return random.int(3, 40)
  if (place < BAD_PASSPORTS) return random.int(60, 170)
  return random.int(300, 3200)
}

function seedHotels(random: SeededRandom): Hotel[] {
  return CITIES.flatMap(({ city, airport }, i) => {
    const firsts = random.sample(words.HOTEL_FIRST, HOTELS_PER_CITY)
    const seconds = random.sample(words.HOTEL_SECOND, HOTELS_PER_CITY)
    return firsts.map((first, j): Hotel => {
      const name = `${first} ${seconds[j]} ${random.pick(words.HOTEL_KINDS)}`
      const stars = random.pick([2, 3, 3, 4, 4, 5])
      return {
        hotel: slug(`${first} ${seconds[j]} ${airport}`),
        name,
        city,
        stars,
        price: stars * 25 + random.int(0, 16) * 5,
        rooms: random.int(3, 12),
        number: i * HOTELS_PER_CITY + j,
      }
    })
  })
}

function seedItineraries(random: SeededRandom, travellers: readonly Traveller[]): Itinerary[] {
  const well = random.sample(travellers.slice(BAD_PASSPORTS), 14)
  // Trips of travellers with bad passports come first and stay empty; four travellers have two trips.
  const owners = [...travellers.slice(0, 4), ...well, ...well.slice(0, 4)]
  const keys = twoDigitKeys(random, 'trip', owners.length)
  const purposes = owners.map((_, i) => words.PURPOSES[i % words.PURPOSES.length]!)
  const cities = random.sample(CITIES, owners.length)
  return owners.map(({ traveller }, i) => ({
    itinerary: keys[i]!,
    title: `${cities[i]!.city} ${purposes[i]}`,
    traveller,
  }))
}

function seedBudgets(random: SeededRandom): Budget[] {
  const names = random.sample(words.BUDGETS, 5)
  return names.map((name, i): Budget => {
    // One is nearly empty, the first two pay for business class.
    const total = i === 4 ? random.int(12, 40) * 5 : random.int(60, 200) * 100
    return { budget: slug(name), name, total, left: total, business: i < 2 }
  })
}
