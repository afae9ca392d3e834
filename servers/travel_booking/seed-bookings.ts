import { CITIES } from '../kernel/gazetteer.js'
import { twoDigitNumbers } from '../kernel/key-numbers.js'
import type { SeededRandom } from '../kernel/random.js'
import { roomsTaken } from './availability.js'
import { cabinOf, clash, flightTitle, LIMITS, passportObstacle, REFUND, stayTitle } from './rules.js'
import type { Booking, Budget, Hotel, Itinerary, Traveller } from './schema.js'
import { DATES, instantOf, minuteOf } from './time.js'
import { cityNumber, type Fare, type Flight, flightsOn, isFlown, seatsOffered } from './timetable.js'

interface SeedContext {
  readonly salt: number
  readonly travellers: readonly Traveller[]
  readonly hotels: readonly Hotel[]
  readonly itineraries: readonly Itinerary[]
  readonly budgets: readonly Budget[]
}

type Status = Booking['status']
interface FlightRow {
  readonly flight: string
  readonly name: string
  readonly status: 'scheduled' | 'cancelled'
}

/** Itineraries at the head of the list that stay without bookings. */
const EMPTY = 4
/** Booked flights that the airline has cancelled. */
const STRUCK = 3

/** Trips there and back, most of them paid for, with what they have cost the budgets. */
export function seedBookings(random: SeededRandom, start: string, seedContext: SeedContext) {
  const desk = new Desk(random, start, seedContext)
  for (const itinerary of seedContext.itineraries.slice(EMPTY)) desk.bookTrip(itinerary)
  return { bookings: desk.bookings, budgets: desk.budgets(), flights: desk.flights() }
}

/** Books as the tools would, so that an environment starts with every invariant kept. */
class Desk {
  readonly bookings: Booking[] = []
  readonly #random: SeededRandom
  readonly #now: number
  readonly seedContext: SeedContext
  readonly #keys: string[]
  readonly #left: Map<string, number>
  /** Live flights by traveller. */
  readonly #flown = new Map<string, Flight[]>()
  /** Seats booked by flight and cabin, rooms booked by hotel and day. */
  readonly #used = new Map<string, number>()
  readonly #booked = new Map<string, Flight>()

  constructor(random: SeededRandom, start: string, seedContext: SeedContext) {
    this.#random = random
    this.#now = minuteOf(start)
    this.seedContext = seedContext
    this.#keys = twoDigitNumbers(random, 90).map((number) => `booking-${number}`)
    this.#left = new Map(seedContext.budgets.map(({ budget, total }) => [budget, total]))
  }

  /** The flight out, mostly a flight back, often a hotel between. */
  bookTrip(itinerary: Itinerary): void {
    const random = this.#random
    const goal = CITIES.findIndex(({ city }) => itinerary.title.startsWith(city))
    const homes = CITIES.flatMap((_, i) => (isFlown(this.seedContext.salt, i, goal) ? [i] : []))
    if (homes.length === 0) return
    const home = random.pick(homes)
    const day = random.int(1, 32)
    const out = this.#bookFlight(itinerary, home, goal, day)
    const nights = random.int(1, 5)
    const first = out ? Math.floor(out.arrives / 1440) : day
    if (random.chance(0.6)) this.#bookHotel(itinerary, goal, first, nights)
    if (random.chance(0.75)) this.#bookFlight(itinerary, goal, home, first + nights)
  }

  #bookFlight(itinerary: Itinerary, from: number, to: number, day: number): Flight | undefined {
    const random = this.#random
    const fare = random.pick([
      'basic',
      'basic',
      'standard',
      'standard',
      'standard',
      'flex',
      'flex',
      'business',
    ] as const)
    const traveller = this.seedContext.travellers.find((row) => row.traveller === itinerary.traveller)!
    const mine = this.#flown.get(traveller.traveller) ?? []
    const flight = [day, day + 1, day + 2]
      .flatMap((on) => flightsOn(this.seedContext.salt, from, to, on))
      .find(
        (option) =>
          this.#seats(option, fare) > 0 &&
          !passportObstacle(traveller, option) &&
          mine.every((other) => !clash(other, option)),
      )
    if (!flight) return undefined
    const extra_bags = random.pick([0, 0, 0, 1, 2])
    const price = flight.prices[fare] + extra_bags * LIMITS.bagFee
    const payment = this.#pay(price, fare === 'business', price - Math.floor((price * REFUND[fare]) / 100))
    if (!payment) return undefined
    const { status } = payment
    if (status === 'held' || status === 'confirmed') {
      const cabin = `${flight.flight} ${cabinOf(fare)}`
      this.#used.set(cabin, (this.#used.get(cabin) ?? 0) + 1)
      this.#flown.set(traveller.traveller, [...mine, flight])
      this.#booked.set(flight.flight, flight)
    }
    this.#add(itinerary, {
      title: flightTitle(flight),
      price,
      ...payment,
      flight: flight.flight,
      fare,
      cabin: cabinOf(fare),
      seat: status === 'confirmed' && fare !== 'basic' && random.chance(0.4) ? this.#seat(flight, fare) : null,
      extra_bags,
    })
    return status === 'held' || status === 'confirmed' ? flight : undefined
  }

  #seats(flight: Flight, fare: Fare): number {
    const cabin = cabinOf(fare)
    return flight.free[cabin] - (this.#used.get(`${flight.flight} ${cabin}`) ?? 0)
  }

  #seat(flight: Flight, fare: Fare): string | null {
    const taken = new Set(this.bookings.filter((row) => row.flight === flight.flight).map(({ seat }) => seat))
    return seatsOffered(flight, cabinOf(fare)).find((seat) => !taken.has(seat)) ?? null
  }

  #bookHotel(itinerary: Itinerary, goal: number, day: number, nights: number): void {
    const { salt, hotels } = this.seedContext
    if (day + nights >= DATES.length) return
    const days = Array.from({ length: nights }, (_, i) => day + i)
    const mine = this.bookings.filter((row) => row.traveller === itinerary.traveller && row.hotel !== null)
    if (mine.length > 0) return
    const hotel = this.#random
      .shuffle(hotels.filter(({ city }) => cityNumber(city) === goal))
      .find((row) =>
        days.every((on) => row.rooms - roomsTaken(salt, row, on) - (this.#used.get(`${row.hotel} ${on}`) ?? 0) > 0),
      )
    if (!hotel) return
    const price = hotel.price * nights
    const payment = this.#pay(price, false, 0)
    if (!payment) return
    for (const on of days) this.#used.set(`${hotel.hotel} ${on}`, (this.#used.get(`${hotel.hotel} ${on}`) ?? 0) + 1)
    const check_in = DATES[day]!
    this.#add(itinerary, {
      title: stayTitle(hotel.name, check_in),
      price,
      ...payment,
      hotel: hotel.hotel,
      check_in,
      nights,
    })
  }

  /**
   * What has become of a booking, paid for from a budget that still has as much.
   * @param kept  what a cancellation leaves of it: hotels were cancelled in time
   */
  #pay(
    price: number,
    business: boolean,
    kept: number,
  ): Pick<Booking, 'status' | 'held_until' | 'paid' | 'budget'> | undefined {
    const random = this.#random
    const status: Status = random.pick([
      ...Array<Status>(7).fill('confirmed'),
      'held',
      'held',
      random.pick(['cancelled', 'lapsed']),
    ])
    if (status === 'held')
      return { status, held_until: instantOf(this.#now + random.int(4, LIMITS.holdMinutes - 1)), paid: 0, budget: null }
    if (status === 'lapsed')
      return { status, held_until: instantOf(this.#now - random.int(20, 4000)), paid: 0, budget: null }
    const payers = this.seedContext.budgets.filter(
      (row) => this.#left.get(row.budget)! >= price && (row.business || !business),
    )
    if (payers.length === 0) return undefined
    const { budget } = random.pick(payers)
    const paid = status === 'cancelled' ? kept : price
    this.#left.set(budget, this.#left.get(budget)! - paid)
    return { status, held_until: null, paid, budget }
  }

  #add(
    { itinerary, traveller }: Itinerary,
    row: Pick<Booking, 'title' | 'price' | 'status' | 'held_until' | 'paid' | 'budget'> & Partial<Booking>,
  ): void {
    this.bookings.push({
      booking: this.#keys.pop()!,
      itinerary,
      traveller,
      flight: null,
      fare: null,
      cabin: null,
      seat: null,
      extra_bags: 0,
      points_spent: 0,
      hotel: null,
      check_in: null,
      nights: null,
      ...row,
    })
  }

  budgets(): Budget[] {
    return this.seedContext.budgets.map((row) => ({ ...row, left: this.#left.get(row.budget)! }))
  }

  /** The flights that are booked, a few of them cancelled, and as many cancelled ones that nobody has booked. */
  flights(): FlightRow[] {
    const random = this.#random
    const confirmed = this.bookings.flatMap(({ status, flight }) => (status === 'confirmed' && flight ? [flight] : []))
    const struck = new Set(random.sample([...new Set(confirmed)], STRUCK))
    const rows = [...this.#booked.values()].map(
      ({ flight, name }): FlightRow => ({ flight, name, status: struck.has(flight) ? 'cancelled' : 'scheduled' }),
    )
    while (rows.length < this.#booked.size + STRUCK) {
      const [from, to] = random.sample([...CITIES.keys()], 2) as [number, number]
      const flight = flightsOn(this.seedContext.salt, from, to, random.int(2, 40))[0]
      if (flight && !rows.some((row) => row.flight === flight.flight))
        rows.push({ flight: flight.flight, name: flight.name, status: 'cancelled' })
    }
    return rows
  }
}
