import { wordList } from '../kernel/text.js'
import type { Category } from './schema.js'

/** The vocabulary that maps are made of. */

export const NAME_FIRST = wordList(`
  Blue Golden Silver Green Old Little Royal Happy Quiet Sunny Crimson White Copper Wild Northern Central Grand Hidden
  Lucky Bright Velvet Amber Ivory Misty Humble Jolly`)
export const NAME_SECOND = wordList(`
  Lantern Anchor Garden Fox Bridge Swan Oak River Compass Harbour Crown Tower Clock Bell Rose Lion Star Meadow Mill
  Heron Olive Maple Owl Sail Pearl Orchard`)

/** How a place of each kind ends its name. */
export const KIND_NAMES: Readonly<Record<Category, string>> = {
  cafe: 'Cafe',
  restaurant: 'Restaurant',
  bakery: 'Bakery',
  museum: 'Museum',
  library: 'Library',
  pharmacy: 'Pharmacy',
  cinema: 'Cinema',
  gym: 'Gym',
  park: 'Park',
  charger: 'Charger',
}

/** Names that the same kind of place bears in many cities. */
export const CHAINS: Readonly<Partial<Record<Category, string>>> = {
  cafe: 'Bean Brothers Cafe',
  restaurant: 'Noodle Post Restaurant',
  bakery: 'Daily Crust Bakery',
  pharmacy: 'Well and Good Pharmacy',
  cinema: 'Lumen Cinema',
  gym: 'Iron Hour Gym',
  charger: 'Volt Stop Charger',
}

/** Names that users give to the addresses they save. */
export const SAVED_NAMES: readonly string[] = [
  'Home',
  'Work',
  'Parents',
  'Gym',
  'School',
  'Dentist',
  'Garage',
  'Grandma',
  'Studio',
  'Allotment',
  'Choir',
  'Piano Lessons',
  'Best Friend',
  'Office',
  'Summer House',
  'Car Park',
  'Football',
  'Daycare',
]

/** Names that people give to a place of each kind when they save it. */
export const SAVED_AS: Readonly<Record<Category, readonly string[]>> = {
  cafe: ['Favourite Cafe', 'Coffee', 'Breakfast Spot', 'Meeting Point'],
  restaurant: ['Favourite Restaurant', 'Date Night', 'Team Lunch', 'Sunday Lunch'],
  bakery: ['Bakery', 'Best Bread', 'Birthday Cakes'],
  museum: ['Museum', 'Rainy Day', 'For Visitors'],
  library: ['Library', 'Quiet Place', 'Study Spot'],
  pharmacy: ['Pharmacy', 'My Pharmacy'],
  cinema: ['Cinema', 'Movie Night'],
  gym: ['Gym', 'Training', 'Workout'],
  park: ['Park', 'Running Spot', 'Picnic', 'Dog Walk'],
  charger: ['Charger', 'Charging Stop'],
}
