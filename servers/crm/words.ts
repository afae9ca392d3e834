import { wordList } from '../kernel/text.js'

export const FIRST_NAMES = wordList(`
  Ana Bruno Carla Dario Elif Farah Greta Hamid Ilse Jorge Katya Luis Marta Nils Oya Piotr Quentin Rosa Sven Tariq
  Ulla Vasco Wanda Ximena Yann Zora Aisha Bela Celia Dimitri Esther Fabio Gwen Hector Irene Jakob Klara Lorenzo Mila Niko
  Odile Pavel Ruth Stefan Thea Umberto Viola Willem Yuki Zeno Agnes Boris Clara Daniel Edith Frida Gustav Helga Igor Joana`)

export const LAST_NAMES = wordList(`
  Lima Novak Haas Moreau Silva Lindgren Rossi Demir Costa Bauer Petrov Vidal Nielsen Farkas Conti Okafor Keane Brandt Sato
  Murray Ortega Blum Duarte Falk Greco Hagen Ivanov Jansen Kovacs Leroy Marin Nagy Olsen Pinto Quist Ricci Sanz Toth Ude
  Varga Wagner Yilmaz Zeman Adler Borg Cruz Dahl Engel Fonseca Gallo Holm Iglesias Juric Krause Lund Mendes Nunes Ostrom
  Paulsen Reis`)

/** First words of company names; the second says what the company does. */
export const COMPANY_HEADS = wordList(`
  Copper Granite Bluebird Northern Silver Harbor Meadow Falcon Orchard Summit Beacon Juniper Cobalt Willow Anchor Prairie
  Lantern Maple Coral Vertex Pioneer Amber Redwood Horizon Delta Canyon Evergreen Sterling`)
export const COMPANY_TAILS = wordList('Foods Energy Media Logistics Software Retail Textiles Robotics Ceramics Travel')

/** Products that the sales team sells: the second half of a deal's title. */
export const PRODUCTS = [
  'Starter Plan',
  'Team Plan',
  'Yearly Plan',
  'Support Package',
  'Analytics Suite',
  'Training Week',
]

/** Notes about what a contact said when a rep reached the contact. */
export const NOTES = [
  'wants an offer by friday',
  'asks about support hours',
  'budget comes in april',
  'prefers a yearly contract',
  'compares us with a rival',
  'needs a demo for the team',
  'director decides next week',
  'happy with the trial',
  'asked for a reference',
  'price is the open point',
  'moves offices in may',
  'contract draft was sent',
  'legal looks at the terms',
  'wants to start small',
  'needs training for ten people',
] as const

/** By how an activity went. */
export const NOTES_OF = {
  successful: NOTES,
  missed: [
    'nobody answered',
    'was out of office',
    'asked to try again tomorrow',
    'was in another meeting',
    'did not show up',
  ],
  refused: ['asked us not to call again', 'is not interested', 'works with a rival', 'no budget at all this year'],
} as const
