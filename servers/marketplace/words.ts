import { wordList } from '../kernel/text.js'

/** The vocabulary that listings and members are made of. */

export const FIRST_NAMES = wordList(`
  Ana Ben Carla Daniel Elena Felix Grace Hugo Ines Jonas Kira Leon Maya Noah Olga Paul Rosa Sam Tara Victor Wendy Yara
  Adam Bella Carlos Diana Erik Fiona Hanna Ivan Julia Karl Lena Marco Nina Oscar Petra Ravi Sofia Tom`)

export const LAST_NAMES = wordList(`
  Lima Costa Weber Novak Rossi Silva Berg Klein Moreau Ortiz Patel Reyes Sato Vega Wolf Young Adler Baker Dunn Evans
  Fischer Garcia Hansen Jensen Keller Larsen Meyer Olsen Parker Romero Stone Torres Walsh Zhang`)

export const TITLE_FIRST = wordList(`
  Oak Vintage Leather Red Blue Folding Antique Wooden Silver Compact Classic Green Retro Brass Wool Tiny Large Electric
  Ceramic Glass White Black Portable Handmade`)

export const TITLE_SECOND = wordList(`
  Desk Chair Lamp Camera Guitar Jacket Bicycle Mirror Radio Clock Teapot Bookcase Suitcase Watch Vase Rug Stool Tent
  Scooter Printer Mixer Globe Easel Drum Helmet Toaster`)

/** What is worth far more than the rest. */
export const TREASURES = ['Grand Piano', 'Racing Sailboat', 'Gold Necklace', 'Marble Statue', 'Sports Car'] as const
