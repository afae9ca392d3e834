import { flightOf } from './availability.js'
import type { Context } from './schema.js'
import { clock } from './time.js'
import { cityNumber, type Flight } from './timetable.js'

/** The flight of this key, which most flights have without a row: they follow from the timetable. */
export function flightCalled({ db, fail }: Context, key: string): Flight {
  return flightOf(db, key) ?? fail('unknown_flight', `There is no flight ${key}.`)
}

/** The places of two different cities in the gazetteer. */
export function routeBetween({ fail }: Context, from: string, to: string): [from: number, to: number] {
  const start = cityNumber(from) ?? fail('unknown_city', `No city called ${from} is known.`)
  const end = cityNumber(to) ?? fail('unknown_city', `No city called ${to} is known.`)
  return start === end ? fail('same_city', `${from} and ${to} are the same city.`) : [start, end]
}

/** Departure and arrival in UTC as results show them. */
export function times({ departs, arrives, day }: Flight): { departs: string; arrives: string } {
  return { departs: clock(departs, day), arrives: clock(arrives, day) }
}
