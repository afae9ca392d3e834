/** The vocabulary that trading worlds are made of. */

const words = (text: string): readonly string[] => text.trim().split(/\s+/)

export const COMPANY_FIRST = words(`
  Alder Borea Cobalt Delta Ember Fjord Garnet Helio Indigo Juno Kestrel Lumen Mistral Nova Orbit Polar Quartz Raven
  Summit Tundra Umbra Vela Willow Zephyr Atlas Beacon Cedar Falcon Granite Iris`)

/** By sector; a company's second word tells what it does. */
export const COMPANY_SECOND = {
  energy: words('Energy Power Solar Gas Wind Fuels'),
  finance: words('Bank Insurance Capital Credit Savings Leasing'),
  health: words('Pharma Clinics Medical Labs Biotech Optics'),
  technology: words('Software Chips Systems Cloud Networks Robotics'),
  transport: words('Rail Airlines Shipping Motors Logistics Ports'),
} as const

/** Sessions begin at 09:00: two exchanges are open, one opens within minutes, one has closed for the day. */
export const VENUES = [
  { venue: 'harbor', name: 'Harbor Exchange', opens: '08:00', closes: '16:30' },
  { venue: 'baltic', name: 'Baltic Exchange', opens: '07:30', closes: '15:00' },
  { venue: 'atlantic', name: 'Atlantic Exchange', opens: '09:10', closes: '17:30' },
  { venue: 'pacific', name: 'Pacific Exchange', opens: '00:30', closes: '07:00' },
] as const
