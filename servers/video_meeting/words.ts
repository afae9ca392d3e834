import { wordList } from '../kernel/text.js'

export const FIRST_NAMES = wordList(`
  Ana Ben Carla Daniel Elena Felix Grace Hugo Ines Jonas Kira Leon Maya Noah Olga Paul Rosa Sam Tara Uma Victor Wendy
  Yara Zoe Adam Bella Carlos Diana Erik Fiona George Hanna Ivan Julia Karl Lena Marco Nina Oscar Petra Ravi Sofia`)

export const LAST_NAMES = wordList(`
  Lima Costa Weber Novak Rossi Silva Berg Klein Moreau Ortiz Patel Quist Reyes Sato Tanaka Urban Vega Wolf Young Adler
  Baker Castro Dunn Evans Fischer Garcia Hansen Ito Jensen Keller Larsen Meyer Nolan Olsen Parker Romero Stone Torres`)

export const TOPICS = wordList(`
  Budget Website Hiring Launch Design Security Payroll Onboarding Roadmap Supplier Warehouse Brand Pricing Support
  Marketing Research Quality Privacy Training Contract Platform Mobile Partner Safety Travel Office Energy Logistics`)

export const FORMATS = wordList(
  'Review Standup Workshop Planning Demo Retro Briefing Update Kickoff Sync Discussion Forum',
)
