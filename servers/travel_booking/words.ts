import { wordList } from '../kernel/text.js'

/** The vocabulary that travel environments are made of. */

export const FIRST_NAMES = wordList(`
  Amara Bruno Clara Dario Esther Farid Greta Hassan Ingrid Joel Katya Lorenzo Mira Nikolai Odette Pablo Rania Stefan
  Thea Umar Valeria Walter Ximena Yusuf Zelda Anton Beatrix Cyril Delphine Emre`)
export const LAST_NAMES = wordList(`
  Albrecht Barros Cohen Dimitrov Engel Fontaine Gallo Haddad Iversen Jansen Kowalski Laurent Moretti Nakamura Okafor
  Petrov Quintero Rahman Santos Thorne Ulrich Vasquez Winter Yilmaz Zimmer`)

export const HOTEL_FIRST = wordList(`
  Grand Royal Little Golden Old Park Central Silver Quiet Garden Imperial Modern Corner Blue Northern Harbour`)
export const HOTEL_SECOND = wordList(`
  Anchor Swan Palace Crown Terrace Lantern Bridge Oak Star Compass Mirror Fountain Pearl Tower Orchid Mill`)
export const HOTEL_KINDS = ['Hotel', 'Hotel', 'Inn', 'Lodge', 'Suites'] as const

/** Purposes for which people travel. An itinerary is called after its purpose and its city. */
export const PURPOSES = [
  'Sales Visit',
  'Conference',
  'Workshop',
  'Trade Fair',
  'Training',
  'Board Meeting',
  'Site Visit',
  'Interviews',
  'Audit',
  'Team Week',
  'Book Fair',
  'Research Stay',
] as const

/** Departments whose money is spent. */
export const BUDGETS = [
  'Sales Travel',
  'Research Travel',
  'Board Travel',
  'Training Fund',
  'Events Fund',
  'Marketing Travel',
  'Support Travel',
] as const
