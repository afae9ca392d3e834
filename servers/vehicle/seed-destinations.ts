import { addDays } from '../kernel/dates.js'
import { addressIn, type City, parseAddress } from '../kernel/gazetteer.js'
import type { SeededRandom } from '../kernel/random.js'
import { slug } from '../kernel/text.js'
import { HOMES, pointOf } from './map.js'
import { CONNECTORS, type Destination, SYSTEMS } from './schema.js'
import * as words from './words.js'

const CHARGERS = 22
const GARAGES = 13

type Site = Pick<Destination, 'kind'> & Partial<Destination>

/** Saved destinations, chargers and garages around one city; more than half of them in it. */
export function seedDestinations(
  random: SeededRandom,
  today: string,
  connector: Destination['connector'],
  home: City,
): Destination[] {
  // A few cars live elsewhere than the user does.
  const { city, around } = random.chance(0.95) ? HOMES.find((row) => row.city === home)! : random.pick(HOMES)
  const keys = new Set<string>()
  const place = (name: string, nearby: boolean, site: Site): Destination => {
    const address = addressIn(random, nearby ? city.city : random.pick(around).city)
    const known = parseAddress(address)!
    const key = keys.has(slug(name)) ? `${slug(name)}-${random.int(10, 99)}` : slug(name)
    keys.add(key)
    return {
      destination: key,
      name,
      address,
      city: known.city.city,
      search: `${name} ${known.city.city}`.toLowerCase(),
      ...pointOf(known),
      kilowatts: null,
      connector: null,
      tariff: 0,
      logitErrors: [],
      free_from: null,
      open_saturdays: false,
      ...site,
    }
  }
  return [
    place(
      'Home',
      true,
      random.chance(0.5) ? { kind: 'saved', kilowatts: 11, connector, tariff: 31 } : { kind: 'saved' },
    ),
    ...savedNames(random).map((name) => place(name, random.chance(0.7), { kind: 'saved' })),
    ...chargerNames(random).map((name, i) =>
      place(name, random.chance(0.55), {
        kind: 'charger',
        kilowatts: random.pick([11, 22, 50, 75, 100, 150, 300]),
        connector: i < 6 ? CONNECTORS[i % 2]! : random.pick(CONNECTORS),
        tariff: random.int(29, 79),
      }),
    ),
    ...random.sample(words.LAST_NAMES, GARAGES).map((name, i) =>
      place(`${name} ${random.pick(words.GARAGE_SECOND)}`, random.chance(0.7), {
        kind: 'garage',
        logitErrors: logitErrorsOf(random, i),
        free_from: addDays(today, random.int(1, 14)),
        open_saturdays: random.chance(0.3),
      }),
    ),
  ]
}

/** One or two systems; between them, the garages repair each. */
function logitErrorsOf(random: SeededRandom, place: number): Destination['logitErrors'] {
  const main = SYSTEMS[place % SYSTEMS.length]!
  const others = random.sample(SYSTEMS, random.int(0, 1))
  return SYSTEMS.filter((system) => system === main || others.includes(system))
}

function savedNames(random: SeededRandom): string[] {
  const count = random.int(22, 28)
  const heads = random.sample(words.PLACE_FIRST, Math.ceil(count / 2))
  const places = heads.flatMap((head) => random.sample(words.PLACE_SECOND, 2).map((tail) => `${head} ${tail}`))
  return random.sample([...places.slice(0, count - 3), ...random.sample(words.VISITS, 4)], count)
}

/** One name is that of two chargers: operators have several sites. */
function chargerNames(random: SeededRandom): string[] {
  const all = words.CHARGER_FIRST.flatMap((first) => words.CHARGER_SECOND.map((second) => `${first} ${second}`))
  const names = random.sample(all, CHARGERS - 1)
  return [...names, names[0]!]
}
