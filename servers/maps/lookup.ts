import { type CityFacts, cityNamed } from './cities.js'
import type { Context } from './schema.js'
import { locate, type Spot } from './streets.js'

export function spotAt({ fail }: Context, address: string): Spot {
  return locate(address) ?? fail('unknown_address', `There is no address ${address}.`)
}

export function cityCalled({ fail }: Context, name: string): CityFacts {
  return cityNamed(name) ?? fail('unknown_city', `The map has no city called ${name}.`)
}
