import { wordList } from '../kernel/text.js'
import type { DEPARTMENTS } from './schema.js'

/** The vocabulary that retail chains are made of. */

/** Parts of a city that a store is named after. */
export const DISTRICTS = wordList('Harbour Station Market Park Castle Riverside Airport Central')

export const ADJECTIVES = wordList('Classic Compact Sturdy Rustic Folding Bright Little Grand Easy Prime')

/** Articles that each department sells, with their lowest and highest list prices. */
export const NOUNS: Readonly<Record<(typeof DEPARTMENTS)[number], readonly (readonly [string, number, number])[]>> = {
  garden: [
    ['rake', 12, 30],
    ['hose', 15, 60],
    ['planter', 8, 45],
    ['bench', 60, 180],
  ],
  kitchen: [
    ['kettle', 20, 70],
    ['skillet', 18, 80],
    ['mug', 4, 14],
    ['blender', 30, 120],
  ],
  tools: [
    ['hammer', 9, 35],
    ['drill', 40, 150],
    ['ladder', 35, 140],
    ['toolbox', 15, 60],
  ],
  toys: [
    ['puzzle', 8, 30],
    ['kite', 10, 35],
    ['scooter', 35, 110],
    ['doll', 9, 40],
  ],
  lighting: [
    ['lantern', 12, 50],
    ['lamp', 15, 90],
    ['candle', 3, 15],
    ['spotlight', 18, 75],
  ],
}

export const FIRST_NAMES = wordList(
  'Ana Ben Carla Daniel Elena Felix Grace Hugo Ines Jonas Kira Leon Maya Noah Olga Paul',
)
export const LAST_NAMES = wordList(
  'Lima Costa Weber Novak Rossi Silva Berg Klein Moreau Ortiz Patel Reyes Sato Vega Wolf',
)
