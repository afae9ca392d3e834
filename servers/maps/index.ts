import { defineEnvironment } from '../kernel/define-environment.js'
import { domainRules } from './domain-rules.js'
import { mapsInvariants } from './invariants.js'
import { failures, tables } from './schema.js'
import { seedMaps } from './seed.js'
import { addressTools } from './tools/addresses.js'
import { placeTools } from './tools/places.js'
import { roadTools } from './tools/roads.js'
import { savedPlaceTools } from './tools/saved-places.js'
import { travelTools } from './tools/travel.js'

/** One geography for all environments: every address of the gazetteer has its place on it, and distances, times and routes agree. */
export const maps = defineEnvironment({
  name: 'maps',
  title: 'Maps',
  description: 'Addresses, places, distances, travel times, routes, saved places and closed roads.',
  tables,
  entities: {
    // Rows exist only for the addresses that the user has saved; every other address exists by rule.
    address: { noun: 'location', table: 'saved_places', label: 'name', sayable: true },
    place: { noun: 'place', table: 'places', label: 'name', compared: { metres: 'lowest' } },
    closed_road: { noun: 'road', table: 'closed_roads', label: 'street' },
  },
  failures,
  tools: [...addressTools, ...placeTools, ...travelTools, ...savedPlaceTools, ...roadTools],
  invariants: mapsInvariants,
  domainRules,
  seed: seedMaps,
})
