import { addDays } from '../kernel/dates.js'
import type { SeedContext, SeedRows } from '../kernel/define-environment.js'
import { addressIn, CITIES } from '../kernel/gazetteer.js'
import { twoDigitNumbers } from '../kernel/key-numbers.js'
import type { SeededRandom } from '../kernel/random.js'
import { availableOf, LIMITS, reducedPrice, roomOf, stockKey } from './rules.js'
import {
  type Article,
  DEPARTMENTS,
  type Reservation,
  type RetailTables,
  type Shipment,
  type Stock,
  type Store,
  WEEKDAYS,
} from './schema.js'
import * as words from './words.js'

const CITY_COUNT = 4
const ARTICLES_PER_DEPARTMENT = 6

/**
 * Creates a chain of about ten stores in four cities. Each store has the articles it carries, shipments on their way to
 * the store, and pieces that the store keeps for customers.
 */
export function seedRetailChain({ random, start }: SeedContext): SeedRows<RetailTables> {
  const today = start.slice(0, 10)
  const cities = chooseCities(random)
  const stores = seedStores(random, cities)
  const articles = seedArticles(random)
  const stocks = new Map(seedStocks(random, today, stores, articles).map((row) => [row.stock, row]))
  const shipments = seedShipments(random, today, stores, articles, stocks)
  const reservations = seedReservations(random, today, stocks)
  return {
    stores,
    articles,
    stocks: [...stocks.values()],
    shipments,
    reservations,
    warehouses: [{ warehouse: 'warehouse', city: random.pick(cities) }],
  }
}

/** Two cities of one country, so that shipments take all three times, and others. */
function chooseCities(random: SeededRandom): string[] {
  const shared = CITIES.filter(({ country }) => CITIES.filter((other) => other.country === country).length > 1)
  const { country } = random.pick(shared)
  const pair = random.sample(
    CITIES.filter((row) => row.country === country),
    2,
  )
  const others = random.sample(
    CITIES.filter((row) => row.country !== country),
    CITY_COUNT - pair.length,
  )
  return [...pair, ...others].map(({ city }) => city)
}

/** Two or three stores in each city. One is closed today, one opens later; the others are open when a session begins. */
function seedStores(random: SeededRandom, cities: readonly string[]): Store[] {
  const places = cities.flatMap((city) =>
    random.sample(words.DISTRICTS, random.int(2, 3)).map((district) => ({ city, name: `${city} ${district}` })),
  )
  const [closed, late] = random.sample(places, 2)
  return places.map((place): Store => {
    const isLate = place === late
    return {
      store: place.name.toLowerCase().replace(' ', '-'),
      name: place.name,
      city: place.city,
      address: addressIn(random, place.city),
      opens: isLate ? random.pick(['10:00', '10:30', '11:00']) : random.pick(['08:00', '08:30', '09:00']),
      closes: random.pick(['18:00', '19:00', '20:00']),
      closed_on: place === closed ? 'monday' : random.pick(WEEKDAYS.filter((day) => day !== 'monday')),
      takings: 0,
    }
  })
}

function seedArticles(random: SeededRandom): Article[] {
  const numbers = twoDigitNumbers(random, DEPARTMENTS.length * ARTICLES_PER_DEPARTMENT)
  return DEPARTMENTS.flatMap((department) => {
    const all = words.NOUNS[department].flatMap((noun) => words.ADJECTIVES.map((adjective) => ({ noun, adjective })))
    return random.sample(all, ARTICLES_PER_DEPARTMENT).map(({ noun: [noun, low, high], adjective }): Article => {
      const price = random.int(low, high)
      const title = `${adjective} ${noun[0]!.toUpperCase()}${noun.slice(1)}`
      const pack = random.pick([2, 4, 5, 6])
      return {
        article: `${noun}-${numbers.pop()}`,
        title,
        department,
        price,
        cost: Math.ceil((price * random.int(50, 70)) / 100),
        pack,
        warehouse: random.chance(0.1) ? random.int(0, pack - 1) : random.int(pack, 120),
        words: title.toLowerCase(),
      }
    })
  })
}

/** Each store carries some two thirds of the articles; a fifth of them runs low, some are marked down. */
function seedStocks(
  random: SeededRandom,
  today: string,
  stores: readonly Store[],
  articles: readonly Article[],
): Stock[] {
  return stores.flatMap(({ store }) =>
    random.sample(articles, random.int(17, 22)).map(({ article, price, cost }): Stock => {
      const capacity = random.pick([10, 16, 20, 24, 30, 40])
      const reorder_point = Math.floor(capacity / 5)
      const reduced = reducedPrice(price, random.pick([10, 20]))
      const isReduced = random.chance(0.15) && reduced >= cost
      return {
        stock: stockKey(store, article),
        store,
        article,
        on_hand: random.chance(0.2) ? random.int(0, reorder_point) : random.int(reorder_point + 1, capacity - 2),
        reserved: 0,
        incoming: 0,
        capacity,
        reorder_point,
        price: isReduced ? reduced : price,
        marked_down: isReduced ? addDays(today, -random.int(0, 12)) : null,
        sold: 0,
        missing: 0,
        counted: random.chance(0.1) ? today : random.chance(0.5) ? addDays(today, -random.int(1, 60)) : null,
        doubted_count: null,
      }
    }),
  )
}

/** Shipments that have arrived, that are on their way and that were received; some of each from the warehouse. */
function seedShipments(
  random: SeededRandom,
  today: string,
  stores: readonly Store[],
  articles: readonly Article[],
  stocks: Map<string, Stock>,
): Shipment[] {
  const titles = new Map(articles.map(({ article, title, pack }) => [article, { title, pack }]))
  const roomy = [...stocks.values()].filter((row) => roomOf(row) >= 12)
  const targets = random.sample(roomy, 14)
  const numbers = twoDigitNumbers(random, targets.length)
  return targets.map(({ stock, store, article }, i): Shipment => {
    const { title, pack } = titles.get(article)!
    const senders = stores.filter((other) => other.store !== store && stocks.has(stockKey(other.store, article)))
    const from = i % 2 === 0 || senders.length === 0 ? null : random.pick(senders).store
    const quantity = from === null ? pack * random.int(1, 2) : random.int(1, 8)
    const isReceived = i < 3
    if (!isReceived) {
      const row = stocks.get(stock)!
      stocks.set(stock, { ...row, incoming: row.incoming + quantity })
    }
    return {
      shipment: `shipment-${numbers[i]}`,
      article,
      title,
      quantity,
      from_store: from,
      to_store: store,
      due: addDays(today, isReceived ? -random.int(1, 20) : i < 9 ? -random.int(0, 2) : random.int(1, 2)),
      status: isReceived ? 'received' : 'transit',
    }
  })
}

/** Reservations that wait, that nobody came for in time, and that were closed; one customer has as many as one may have. */
function seedReservations(random: SeededRandom, today: string, stocks: Map<string, Stock>): Reservation[] {
  const rows = random.sample(
    [...stocks.values()].filter((row) => availableOf(row) >= 4),
    16,
  )
  const numbers = twoDigitNumbers(random, rows.length)
  const [first, namesake, ...firsts] = random.shuffle(words.FIRST_NAMES)
  const [family, ...families] = random.shuffle(words.LAST_NAMES)
  // The customer with the most has a namesake, who has but one.
  const names = [
    ...Array<string>(LIMITS.reservations).fill(`${first} ${family}`),
    `${namesake} ${family}`,
    ...firsts.map((other, i) => `${other} ${families[i % families.length]}`),
  ]
  return rows.map(({ stock, store, article, price }, i): Reservation => {
    const quantity = random.pick([1, 1, 2, 3])
    const status = i < 12 ? 'open' : i < 14 ? 'collected' : 'cancelled'
    if (status === 'open') {
      const row = stocks.get(stock)!
      stocks.set(stock, { ...row, reserved: row.reserved + quantity })
    }
    const isCurrent = i < 10
    return {
      reservation: `reservation-${numbers[i]}`,
      article,
      store,
      customer_name: names[i]!,
      quantity,
      price,
      until: addDays(today, isCurrent ? random.int(0, LIMITS.reservationDays) : -random.int(1, 15)),
      status,
    }
  })
}
