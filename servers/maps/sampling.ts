import { addressIn, CITIES } from '../kernel/gazetteer.js'
import type { SeededRandom } from '../kernel/random.js'
import { metresBetween } from './network.js'
import { journeyObstacle } from './routing.js'
import { type MapsView, MODES, type Mode } from './schema.js'
import { locate, type Spot } from './streets.js'

interface Sampling {
  readonly db: MapsView
  readonly random: SeededRandom
  now(): string
  today(): string
}

/** A city worth asking about: one whose roads have changed today, else mostly that of a saved address, which are about the user's home. */
export function someCity({ db, random, today }: Sampling): string {
  const changed = db.closed_roads.by('since', today())
  if (changed.length > 0) return random.pick(changed).city
  const saved = db.saved_places.list()
  if (saved.length > 0 && random.chance(0.7)) return locate(random.pick(saved).address)!.city.city
  return random.pick(CITIES).city
}

/** An address in the city: a saved one, that of a place, or any. */
export function someAddress({ db, random }: Sampling, city: string): string {
  const saved = db.saved_places.list(({ address }) => address.endsWith(`, ${city}`))
  if (saved.length > 0 && random.chance(0.4)) return random.pick(saved).address
  return random.chance(0.5) ? random.pick(db.places.by('city', city)).address : addressIn(random, city)
}

/** Somewhere to go to from `from`: mostly in the same city, else in one that is not far by land. */
function somewhereElse(sampling: Sampling, from: Spot, mode: Mode): string {
  const { random } = sampling
  const near = CITIES.filter((city) => city !== from.city && metresBetween(from.city, city) < 700_000)
  const leaves = (mode === 'driving' || mode === 'transit') && near.length > 0 && random.chance(0.3)
  return someAddress(sampling, leaves ? random.pick(near).city : from.city.city)
}

export interface Trip {
  readonly from: Spot
  readonly to: Spot
  readonly mode: Mode
}

/** A journey nothing stands against, through what is bound; nothing when ten attempts found none. */
export function someTrip(
  sampling: Sampling,
  bound: { readonly from?: string | undefined; readonly to?: string | undefined; readonly mode?: Mode | undefined },
): Trip | undefined {
  const { db, random, now } = sampling
  for (let attempt = 0; attempt < 10; attempt++) {
    const given = bound.from ?? bound.to ?? someAddress(sampling, someCity(sampling))
    const anchor = locate(given)
    if (!anchor) return undefined
    // Who has just had to do with a closed road drives.
    const drives = db.closed_roads.by('since', sampling.today()).some(({ city }) => city === anchor.city.city)
    const mode = bound.mode ?? (drives ? 'driving' : random.pick(MODES))
    const from = bound.from === undefined && bound.to !== undefined ? somewhereElse(sampling, anchor, mode) : given
    const to = bound.to ?? somewhereElse(sampling, anchor, mode)
    const [start, end] = [locate(from), locate(to)]
    if (start && end && !journeyObstacle(db, now(), start, end, mode)) return { from: start, to: end, mode }
  }
  return undefined
}
