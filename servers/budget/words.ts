import { wordList } from '../kernel/text.js'

/** The names that household budgets are made of. */

export const ADULTS = wordList(
  'Ana Ben Carla Daniel Elena Felix Grace Hugo Ines Jonas Kira Marco Nina Oscar Petra Ravi',
)
export const TEENS = wordList('Leo Mia Noah Olga Finn Tara Zoe Max Lily Sam Yara Toby')

/** Goals that households save for, with the categories in which they would spend the savings. An empty list means any category. */
export const GOALS: ReadonlyMap<string, readonly string[]> = new Map([
  ['Summer Holiday', ['Outings', 'Dining Out', 'Clothing', 'Transport']],
  ['New Kitchen', ['Furniture', 'Repairs', 'Household', 'Utilities']],
  ['Rainy Days', []],
  ['Family Car', ['Transport', 'Insurance', 'Repairs']],
  ['Winter Trip', ['Sports', 'Outings', 'Clothing', 'Transport']],
  ['Piano Fund', ['Music Lessons', 'Hobbies', 'School']],
  ['Bike Fund', ['Transport', 'Sports', 'Hobbies', 'Outings']],
  ['Wedding Party', ['Gifts', 'Clothing', 'Dining Out']],
  ['Student Exchange', ['School', 'Books', 'Transport', 'Clothing']],
  ['Garden House', ['Garden', 'Repairs', 'Furniture']],
])
