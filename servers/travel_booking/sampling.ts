import { CITIES } from '../kernel/gazetteer.js'
import type { SeededRandom } from '../kernel/random.js'
import { saltOf } from './availability.js'
import type { TravelView } from './schema.js'
import { minuteOf } from './time.js'
import { type Flight, flightsOn, isFlown } from './timetable.js'

export interface Sampling {
  readonly db: TravelView
  readonly random: SeededRandom
  now(): string
}

/** The number of the day that a time falls on. */
export function dayAt(now: string): number {
  return Math.floor(minuteOf(now) / 1440)
}

/** A flight of the next weeks, from or to the given city if one is given; nothing when a few attempts found none. */
export function someFlight(
  { db, random, now }: Sampling,
  ends: { from?: number; to?: number } = {},
): Flight | undefined {
  const salt = saltOf(db)
  for (let attempt = 0; attempt < 12; attempt++) {
    const from = ends.from ?? random.int(0, CITIES.length - 1)
    const to = ends.to ?? random.int(0, CITIES.length - 1)
    if (!isFlown(salt, from, to)) continue
    const flights = flightsOn(salt, from, to, random.int(dayAt(now()) + 1, 43))
    if (flights.length > 0) return random.pick(flights)
  }
  return undefined
}
