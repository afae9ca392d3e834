import { CITIES } from '../kernel/gazetteer.js'

const radians = (degrees: number): number => (degrees * Math.PI) / 180
const half = (angle: number): number => Math.sin(angle / 2) ** 2

/** Kilometres of the great circle between two cities, by their places in the gazetteer; rounded up, which keeps the triangle inequality. */
const KM: readonly (readonly number[])[] = CITIES.map((a) =>
  CITIES.map((b) => {
    const [south, north] = [radians(a.latitude), radians(b.latitude)]
    const east = radians(b.longitude - a.longitude)
    return Math.ceil(
      12_742 * Math.asin(Math.sqrt(half(north - south) + Math.cos(south) * Math.cos(north) * half(east))),
    )
  }),
)

export function kilometres(from: number, to: number): number {
  return KM[from]![to]!
}

/** Minutes in the air and on the runway, a multiple of five. */
export function flightMinutes(from: number, to: number): number {
  return 5 * Math.ceil((40 + kilometres(from, to) / 13) / 5)
}
