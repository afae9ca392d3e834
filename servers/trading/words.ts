import { wordList } from '../kernel/text.js'

/** The vocabulary that trading environments are made of. */

export const COMPANY_FIRST = wordList(`
  Alder Borea Cobalt Delta Ember Fjord Garnet Helio Indigo Juno Kestrel Lumen Mistral Nova Orbit Polar Quartz Raven
  Summit Tundra Umbra Vela Willow Zephyr Atlas Beacon Cedar Falcon Granite Iris`)

/** By sector; a company's second word tells what it does. */
export const COMPANY_SECOND = {
  energy: wordList('Energy Power Solar Gas Wind Fuels'),
  finance: wordList('Bank Insurance Capital Credit Savings Leasing'),
  health: wordList('Pharma Clinics Medical Labs Biotech Optics'),
  technology: wordList('Software Chips Systems Cloud Networks Robotics'),
  transport: wordList('Rail Airlines Shipping Motors Logistics Ports'),
} as const

/** Sessions begin at 09:00: two exchanges are open, one opens within minutes, one has closed for the day. */
export const VENUES = [
  { venue: 'harbor', name: 'Harbor Exchange', opens: '08:00', closes: '16:30' },
  { venue: 'baltic', name: 'Baltic Exchange', opens: '07:30', closes: '15:00' },
  { venue: 'atlantic', name: 'Atlantic Exchange', opens: '09:10', closes: '17:30' },
  { venue: 'pacific', name: 'Pacific Exchange', opens: '00:30', closes: '07:00' },
] as const
