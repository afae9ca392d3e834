import { wordList } from '../kernel/text.js'
import type { Fault } from './schema.js'

/** The vocabulary that cars and their drivers are made of. */

export const FIRST_NAMES = wordList(`
  Ana Ben Carla Daniel Elena Felix Grace Hugo Ines Jonas Kira Leon Maya Noah Olga Paul Rosa Sam Tara Victor Wendy Yara
  Adam Bella Carlos Diana Erik Fiona Hanna Ivan Julia Karl Lena Marco Nina Oscar Petra Ravi Sofia Tom`)

export const LAST_NAMES = wordList(`
  Lima Costa Weber Novak Rossi Silva Berg Klein Moreau Ortiz Patel Reyes Sato Vega Wolf Young Adler Baker Dunn Evans
  Fischer Garcia Hansen Jensen Keller Larsen Meyer Olsen Parker Romero Stone Torres Walsh Zhang`)

export const MODELS = wordList('Aurora Breeze Comet Dune Ember Falcon Glacier Horizon Indigo Juniper Kestrel Lynx')

export const PLACE_FIRST = wordList(`
  Riverside Central Northgate Sunny Harbour Maple Castle Lakeside Garden Royal Silver Corner Hillside Crystal Meadow`)

export const PLACE_SECOND = wordList(`
  Gym School Office Library Bakery Clinic Stadium Market Cinema Museum Theatre Kindergarten Pharmacy Studio Warehouse`)

/** Names that people give to the addresses that they save themselves. */
export const OWN_PLACES = [
  'New Office',
  'Weekend House',
  'Swimming Lessons',
  'Dance Class',
  'Dentist',
  'Day Care',
  'Allotment',
  'Choir Practice',
  'Best Friend',
  'Parents',
  'Football Training',
  'Piano Teacher',
  'Farm Shop',
  'Boat House',
  'Language School',
  'Dog Sitter',
] as const

/** Destinations that are people. */
export const VISITS = [
  'Grandma Rosa',
  'Grandpa Henry',
  'Uncle Victor',
  'Aunt Clara',
  'Cousin Emil',
  'Cousin Dora',
  'Neighbour Finn',
  'Coach Marta',
] as const

export const CHARGER_FIRST = wordList('Volt Spark Green Rapid Swift Ampere Bolt Solar')
export const CHARGER_SECOND = wordList('Point Park Plaza Hub Depot')
export const GARAGE_SECOND = wordList('Motors Garage Autoworks')

export const PLAYLIST_FIRST = wordList('Autumn Sunday Midnight Highway Summer Rainy Morning Golden Quiet Neon')
export const PLAYLIST_SECOND = wordList('Drive Songs Jazz Beats Classics Rock Stories Dance')

type FaultKind = readonly [
  title: string,
  system: Fault['system'],
  severity: Fault['severity'],
  disables: Fault['disables'],
]

/** Faults that disable a part: every car has one or two. */
export const DISABLING_FAULTS: readonly FaultKind[] = [
  ['Radar sensor dirty', 'drive', 'warning', 'cruise'],
  ['High beam failed', 'body', 'warning', 'high'],
  ['Fog light failed', 'body', 'warning', 'fog'],
  ['Roof motor stuck', 'body', 'warning', 'roof'],
  ['Rear heater failed', 'climate', 'warning', 'rear'],
]

export const CRITICAL_FAULTS: readonly FaultKind[] = [
  ['Brake fluid low', 'drive', 'critical', null],
  ['Steering assist weak', 'drive', 'critical', null],
  ['Annual service overdue', 'drive', 'critical', null],
  ['Battery cell imbalance', 'battery', 'critical', null],
  ['Battery coolant low', 'battery', 'critical', null],
  ['Tyre tread thin', 'tyres', 'critical', null],
]

export const MINOR_FAULTS: readonly FaultKind[] = [
  ['Front brake pads worn', 'drive', 'warning', null],
  ['Rear brake pads worn', 'drive', 'warning', null],
  ['Charging port stiff', 'battery', 'notice', null],
  ['Battery fan noisy', 'battery', 'notice', null],
  ['Front left tyre soft', 'tyres', 'warning', null],
  ['Rear right tyre soft', 'tyres', 'warning', null],
  ['Wheel balance off', 'tyres', 'notice', null],
  ['Wiper blades worn', 'body', 'notice', null],
  ['Door seal loose', 'body', 'notice', null],
  ['Cabin filter full', 'climate', 'notice', null],
  ['Refrigerant low', 'climate', 'warning', null],
  ['Speaker crackles', 'media', 'notice', null],
  ['Antenna signal weak', 'media', 'notice', null],
  ['Touchscreen slow', 'media', 'notice', null],
]
