import { type CityFacts, cityNamed } from '../cities.js'
import type { FailureCode, MapsView } from '../schema.js'
import { locate, type Spot } from '../streets.js'

interface Reader {
  readonly db: MapsView
  fail(code: FailureCode, detail?: string): never
}

export function spotAt({ fail }: Pick<Reader, 'fail'>, address: string): Spot {
  return locate(address) ?? fail('unknown_address', `There is no address ${address}.`)
}

export function cityCalled({ fail }: Pick<Reader, 'fail'>, name: string): CityFacts {
  return cityNamed(name) ?? fail('unknown_city', `The map has no city called ${name}.`)
}

/** Entries that a list or search shows at most. */
export const SHOWN = 4
