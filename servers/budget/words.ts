import { wordList } from '../kernel/text.js'
import type { Category } from './schema.js'

/** The vocabulary that household budgets are made of. */

export interface CategoryKind extends Pick<Category, 'name' | 'kind' | 'teens'> {
  /** Where one spends: the second word of a description. */
  readonly places: readonly string[]
  /** Recurring expenses that fall into it, with the least and the most they cost a month. */
  readonly regular: readonly (readonly [name: string, least: number, most: number])[]
}

const kind = (
  name: string,
  limit: 'hard' | 'soft',
  teens: boolean,
  places: string,
  regular: CategoryKind['regular'] = [],
): CategoryKind => ({ name, kind: limit, teens, places: wordList(places), regular })

/** Every household has these. */
export const FIXED = [
  kind('Rent', 'hard', false, 'Locksmith Movers', [['Apartment Rent', 620, 1180]]),
  kind('Utilities', 'hard', false, 'Plumbing Heating Chimneys', [
    ['Power Bill', 45, 130],
    ['Water Bill', 20, 60],
  ]),
] as const

export const HOME = [
  kind('Insurance', 'hard', false, 'Brokers Insurance', [['Car Insurance', 35, 90]]),
  kind('Repairs', 'soft', false, 'Hardware Tools Paints Carpenter'),
  kind('Furniture', 'soft', false, 'Furniture Lamps Carpets Beds'),
  kind('Garden', 'soft', false, 'Nursery Seeds Gardens', [['Lawn Service', 20, 50]]),
] as const

export const DAILY = [
  kind('Groceries', 'soft', false, 'Market Bakery Butcher Deli Grocer'),
  kind('Transport', 'hard', true, 'Taxi Fuel Parking Bikes', [['Bus Pass', 30, 75]]),
  kind('Pharmacy', 'soft', false, 'Pharmacy Optics Drugstore'),
  kind('Household', 'hard', false, 'Laundry Cleaners Supplies', [['Cleaning Service', 40, 110]]),
  kind('Pets', 'soft', false, 'Vet Aquarium Kennel', [['Pet Insurance', 12, 40]]),
] as const

export const FAMILY = [
  kind('School', 'hard', false, 'Stationery Uniforms Copies', [['School Lunch', 25, 80]]),
  kind('Clothing', 'soft', true, 'Shoes Tailor Jeans Boutique'),
  kind('Gifts', 'soft', false, 'Toys Florist Jewels'),
  kind('Music Lessons', 'hard', false, 'Strings Records', [['Piano Teacher', 40, 95]]),
  kind('Childcare', 'hard', false, 'Playground Sitters', [['Daycare Fee', 90, 260]]),
] as const

export const LEISURE = [
  kind('Dining Out', 'soft', true, 'Pizza Noodles Cafe Tavern Grill'),
  kind('Books', 'hard', true, 'Books Comics Magazines'),
  kind('Cinema', 'hard', true, 'Cinema Theatre', [['Film Streaming', 8, 20]]),
  kind('Sports', 'hard', true, 'Rackets Swimming Climbing', [['Gym Membership', 25, 60]]),
  kind('Hobbies', 'soft', true, 'Crafts Models Games Photo'),
  kind('Outings', 'soft', true, 'Zoo Museum Funfair Boats'),
] as const

/** By the name of the category. */
export const PLACES_OF: ReadonlyMap<string, readonly string[]> = new Map(
  [...FIXED, ...HOME, ...DAILY, ...FAMILY, ...LEISURE].map(({ name, places }) => [name, places]),
)

/** First word of a description. */
export const PLACES = wordList(`
  Maple Harbor Copper Sunny Corner Golden Little Royal Central Happy Lucky Urban Rustic Bright Ocean Village Star Grand
  Cedar Willow Velvet Crystal Amber Coral`)

export const ADULTS = wordList(
  'Ana Ben Carla Daniel Elena Felix Grace Hugo Ines Jonas Kira Marco Nina Oscar Petra Ravi',
)
export const TEENS = wordList('Leo Mia Noah Olga Finn Tara Zoe Max Lily Sam Yara Toby')

export const GOALS = [
  'Summer Holiday',
  'New Kitchen',
  'Rainy Days',
  'Family Car',
  'Winter Trip',
  'Piano Fund',
  'Bike Fund',
  'Wedding Party',
  'Student Exchange',
  'Garden House',
] as const
