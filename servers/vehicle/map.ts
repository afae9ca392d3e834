import { type Address, CITIES, type City } from '../kernel/gazetteer.js'
import { ascending } from '../kernel/lists.js'
import { streetsOf } from '../kernel/streets.js'

/** A point on a flat map, whole km. */
export interface Point {
  readonly x: number
  readonly y: number
}

/** How far people look for a place, or take a car to have it repaired. Km. */
export const NEAR_KM = 150
/** How far people drive in a day. Km. */
export const FAR_KM = 900

const KM_PER_LATITUDE = 111.3
/** At 50° north; good enough within a day's drive, and the same for both ends. */
const KM_PER_LONGITUDE = 71.5
/** Roads are longer than the straight line. */
const DETOUR = 1.25
const BLOCK_KM = 2
const BLOCKS_PER_ROW = 7

const centre = ({ latitude, longitude }: City): Point => ({
  x: Math.round(longitude * KM_PER_LONGITUDE),
  y: Math.round(latitude * KM_PER_LATITUDE),
})

/** Where an address lies: its city's centre, moved by a block per street. */
export function pointOf({ street, city }: Address): Point {
  const block = streetsOf(city.city).indexOf(street)
  const { x, y } = centre(city)
  return {
    x: x + BLOCK_KM * ((block % BLOCKS_PER_ROW) - 3),
    y: y + BLOCK_KM * (Math.floor(block / BLOCKS_PER_ROW) - 3),
  }
}

/** By road, at least 1 km. Square roots are exact everywhere, unlike `Math.hypot`. */
export function roadKm(a: Point, b: Point): number {
  return Math.max(1, Math.round(DETOUR * Math.sqrt((a.x - b.x) ** 2 + (a.y - b.y) ** 2)))
}

/** Cities that can be driven to from `city` on one charge of a good battery, the nearest first. */
const neighbours = (city: City): City[] =>
  CITIES.map((other) => ({ other, km: roadKm(centre(city), centre(other)) }))
    .filter(({ other, km }) => other !== city && km <= 430)
    .sort(ascending('km'))
    .slice(0, 4)
    .map(({ other }) => other)

export interface Surroundings {
  readonly city: City
  /** Where else its cars go: only about the city itself where no other is near. */
  readonly around: readonly City[]
}

/** Each city with those around it. */
export const HOMES: readonly Surroundings[] = CITIES.map((city) => {
  const around = neighbours(city)
  return { city, around: around.length > 0 ? around : [city] }
})
