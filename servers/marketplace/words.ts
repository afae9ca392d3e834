import { wordList } from '../kernel/text.js'

/** The vocabulary that listings and members are made of. */

export const FIRST_NAMES = wordList(`
  Ana Ben Carla Daniel Elena Felix Grace Hugo Ines Jonas Kira Leon Maya Noah Olga Paul Rosa Sam Tara Victor Wendy Yara
  Adam Bella Carlos Diana Erik Fiona Hanna Ivan Julia Karl Lena Marco Nina Oscar Petra Ravi Sofia Tom`)

export const LAST_NAMES = wordList(`
  Lima Costa Weber Novak Rossi Silva Berg Klein Moreau Ortiz Patel Reyes Sato Vega Wolf Young Adler Baker Dunn Evans
  Fischer Garcia Hansen Jensen Keller Larsen Meyer Olsen Parker Romero Stone Torres Walsh Zhang`)

/** Article that is sold: its noun, its kinds, and its lowest and highest price. */
export interface Article {
  readonly noun: string
  readonly kinds: readonly string[]
  readonly low: number
  readonly high: number
}

const article = (noun: string, low: number, high: number, kinds: string): Article => ({
  noun,
  kinds: wordList(kinds),
  low,
  high,
})

export const ARTICLES: readonly Article[] = [
  article('Desk', 50, 350, 'Oak Folding Compact Antique White'),
  article('Chair', 15, 200, 'Oak Leather Folding Wooden Rocking Vintage'),
  article('Lamp', 10, 130, 'Brass Retro Ceramic Glass Bedside'),
  article('Camera', 40, 350, 'Vintage Compact Digital Instant Classic'),
  article('Guitar', 60, 350, 'Acoustic Electric Vintage Classic Travel'),
  article('Jacket', 15, 180, 'Leather Wool Denim Rain Vintage'),
  article('Bicycle', 60, 420, 'Folding Electric Red Classic Racing'),
  article('Mirror', 15, 200, 'Oak Brass Antique Round Large'),
  article('Radio', 10, 130, 'Retro Portable Vintage Digital'),
  article('Clock', 15, 180, 'Antique Wooden Brass Kitchen Silver'),
  article('Teapot', 8, 90, 'Ceramic Silver Glass Retro Handmade'),
  article('Bookcase', 40, 320, 'Oak White Large Wooden Narrow'),
  article('Suitcase', 15, 180, 'Leather Vintage Large Red Compact'),
  article('Watch', 40, 420, 'Silver Classic Vintage Pocket Sports'),
  article('Vase', 8, 150, 'Glass Ceramic Blue Handmade Antique'),
  article('Rug', 30, 350, 'Wool Handmade Red Large Round'),
  article('Stool', 10, 100, 'Oak Folding Wooden Kitchen Leather'),
  article('Tent', 30, 300, 'Compact Family Green Large'),
  article('Scooter', 40, 350, 'Electric Folding Red Blue'),
  article('Printer', 30, 260, 'Compact Colour Laser Portable'),
  article('Mixer', 15, 180, 'Kitchen Retro Red Compact'),
  article('Globe', 15, 180, 'Antique Large Vintage Wooden'),
  article('Easel', 15, 110, 'Wooden Folding Large Portable'),
  article('Drum', 20, 250, 'Wooden Handmade Red Large'),
  article('Helmet', 15, 130, 'Black White Retro Racing Blue'),
  article('Toaster', 10, 80, 'Retro Silver Red Compact White'),
]

export const titleOf = (kind: string, { noun }: Article): string => `${kind} ${noun}`

/** Articles that are worth far more than the rest. */
export const TREASURES = ['Grand Piano', 'Racing Sailboat', 'Gold Necklace', 'Marble Statue', 'Sports Car'] as const
