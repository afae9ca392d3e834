import { z } from 'zod'
import { type DbView, type ObstacleOf, type RowOf, type ToolContext, toolMaker } from '../kernel/define-environment.js'
import { common, ref } from '../kernel/fields.js'

export const CATEGORIES = [
  'cafe',
  'restaurant',
  'bakery',
  'museum',
  'library',
  'pharmacy',
  'cinema',
  'gym',
  'park',
  'charger',
] as const
export const MODES = ['walking', 'cycling', 'transit', 'driving'] as const
export const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'] as const

/** Limits of the map, by name. `savedPlaces` is the number of addresses that the map can keep for its user. */
export const LIMITS = {
  savedPlaces: 8,
  /** Closed roads per city. Fewer than there are streets in either direction, so that cars always find a way. */
  closedRoads: 3,
} as const

const time = z.string().regex(/^\d\d:\d\d$/)

const place = z.object({
  place: z.string(),
  name: z.string(),
  category: z.enum(CATEGORIES),
  city: z.string(),
  address: z.string(),
  /** Stars, 1.0 to 5.0. */
  rating: z.number().min(1).max(5),
  opens: time,
  /** `24:00` where it does not close before midnight. */
  closes: time,
  closed_on: z.enum(WEEKDAYS).nullable(),
  /** The name in lower case: what a search looks at. It ends in the kind of place. */
  words: z.string(),
})

const savedPlace = z.object({
  address: z.string(),
  /** What the user calls it: `Home`. */
  name: z.string(),
})

const closedRoad = z.object({
  closed_road: z.string(),
  street: z.string(),
  city: z.string(),
  since: z.iso.date(),
})

export const tables = {
  places: { row: place, key: 'place', missing: 'unknown_place' },
  saved_places: { row: savedPlace, key: 'address' },
  closed_roads: { row: closedRoad, key: 'closed_road', missing: 'unknown_closed_road' },
} as const

export const failures = {
  unknown_address: 'There is no such address.',
  unknown_city: 'The map has no such city.',
  unknown_street: 'The city has no such street.',
  unknown_place: 'There is no such place.',
  unknown_closed_road: 'There is no such closed road.',
  nothing_there: 'There is no address near that point.',
  category_not_in_city: 'The city has no place of that category.',
  same_address: 'Two of the addresses are the same.',
  too_far_for_mode: 'That is too far for this mode of travel.',
  no_land_route: 'The addresses are on different sides of the sea.',
  road_closed: 'An address that has to be reached by car is on a road that is closed.',
  transit_not_running: 'Transit does not run at this hour.',
  already_closed: 'The road is marked as closed already.',
  too_many_closed_roads: 'As many roads of the city are closed as can be.',
  too_many_saved_places: 'As many places are saved as can be.',
} as const

export type MapsTables = typeof tables
export type FailureCode = keyof typeof failures
export type Context = ToolContext<typeof tables, FailureCode>
export type Obstacle = ObstacleOf<typeof failures>
export type MapsView = DbView<MapsTables>
export type Place = RowOf<MapsTables['places']>
export type SavedPlace = RowOf<MapsTables['saved_places']>
export type ClosedRoad = RowOf<MapsTables['closed_roads']>
export type Mode = (typeof MODES)[number]
export type Category = (typeof CATEGORIES)[number]

export const tool = toolMaker(tables, failures)

/** A street address: the key of a location, and the same in every environment. */
export const address = (description?: string) => common('address', ref('address', description))
export const city = () => common('city', z.string().trim().min(2).max(40))
