import { addressIn, CITIES } from '../kernel/gazetteer.js'
import type { SeededRandom } from '../kernel/random.js'
import { metresBetween } from './network.js'
import { journeyObstacle, roadMetres } from './routing.js'
import { type Category, type MapsView, MODES, type Mode } from './schema.js'
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

/** Returns the category of the place at the address, if the map has a place there. */
export const kindAt = (db: MapsView, { address, city }: Spot): Category | undefined =>
  db.places.by('city', city.city).find((row) => row.address === address)?.category

/** Whether the address is that of a place and saved, too. */
export const isGoal = (db: MapsView, spot: Spot): boolean =>
  db.saved_places.has(spot.address) && kindAt(db, spot) !== undefined

/** What people look for where they are out already. */
const ON_THE_WAY: readonly Category[] = ['cafe', 'restaurant', 'bakery', 'pharmacy', 'park']

/**
 * Samples a kind of place that a user might look for from there. A user at a gym asks neither for a gym nor for a
 * library.
 */
export function someKind({ db, random }: Sampling, from: Spot): Category | undefined {
  const here = kindAt(db, from)
  const kinds = db.places
    .by('city', from.city.city)
    .map(({ category }) => category)
    .filter((kind) => here === undefined || (kind !== here && ON_THE_WAY.includes(kind)))
  return kinds.length > 0 ? random.pick(kinds) : undefined
}

/** The farthest that people go by their own strength without a second thought, metres. */
const GLADLY: Readonly<Partial<Record<Mode, number>>> = { walking: 2500, cycling: 8000 }

/** Whether people would go from one to the other by that mode: chargers are for cars. */
export function isUsualBy(db: MapsView, mode: Mode, from: Spot, to: Spot): boolean {
  if (mode !== 'driving' && [from, to].some((spot) => kindAt(db, spot) === 'charger')) return false
  const most = GLADLY[mode]
  return most === undefined || (from.city === to.city && roadMetres(from, to) <= most)
}

/** Somewhere to go to from `from`: mostly in the same city, else in one that is not far by land. */
function somewhereElse(sampling: Sampling, from: Spot, leaves: boolean): string {
  const near = leaves ? CITIES.filter((city) => city !== from.city && metresBetween(from.city, city) < 400_000) : []
  return someAddress(sampling, near.length > 0 ? sampling.random.pick(near).city : from.city.city)
}

export interface Trip {
  readonly from: Spot
  readonly to: Spot
  readonly mode: Mode
}

/** A journey nothing stands against, through what is bound; nothing when a few attempts found none. */
export function someTrip(
  sampling: Sampling,
  bound: { readonly from?: string | undefined; readonly to?: string | undefined; readonly mode?: Mode | undefined },
): Trip | undefined {
  const { db, random, now } = sampling
  if (bound.from !== undefined && isPassedThrough(db, bound.from)) return undefined
  for (let attempt = 0; attempt < 20; attempt++) {
    const given = bound.from ?? bound.to ?? someAddress(sampling, someCity(sampling))
    const anchor = locate(given)
    if (!anchor) return undefined
    // Who has just had to do with a closed road drives.
    const drives = db.closed_roads.by('since', sampling.today()).some(({ city }) => city === anchor.city.city)
    const mode = bound.mode ?? (drives ? 'driving' : random.pick(MODES))
    // Who has found a place goes there from nearby.
    const stays = drives || kindAt(db, anchor) !== undefined
    const leaves = !stays && (mode === 'driving' || mode === 'transit') && random.chance(0.15)
    const from = bound.from === undefined && bound.to !== undefined ? somewhereElse(sampling, anchor, leaves) : given
    const to = bound.to ?? somewhereElse(sampling, anchor, leaves)
    const [start, end] = [locate(from), locate(to)]
    if (!start || !end || areAlike(db, start, end) || !isUsualBy(db, mode, start, end)) continue
    if (!journeyObstacle(db, now(), start, end, mode)) return { from: start, to: end, mode }
  }
  return undefined
}

/** Whether the address is that of a place that somebody finds and goes to, rather than sets out from. */
function isPassedThrough(db: MapsView, address: string): boolean {
  const spot = locate(address)
  return spot !== undefined && kindAt(db, spot) !== undefined && !db.saved_places.has(spot.address)
}

/** Whether both are cinemas, say: nobody goes from one to the other. */
function areAlike(db: MapsView, from: Spot, to: Spot): boolean {
  const kind = kindAt(db, from)
  return kind !== undefined && kind === kindAt(db, to)
}
