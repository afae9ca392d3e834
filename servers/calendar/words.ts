import type { SeededRandom } from '../kernel/random.js'
import { wordList } from '../kernel/text.js'

export const FIRST_NAMES = wordList(`
  Ana Bo Clara Daniel Elena Felix Grace Hugo Iris Jonas Karim Lena Marco Nadia Oscar Paula Quentin Rosa Samir Tara
  Umar Vera Walter Ximena Yusuf Zoe Amir Bianca Carlos Diana Emil Fatima George Hanna Ivan Julia Kenji Laura Miguel Nora
  Olga Pedro Rita Simon Teresa Uma Victor Wendy Yara Zachary Alice Bruno Chloe David Eva Frank Gina Henry Ines Jack`)

export const LAST_NAMES = wordList(`
  Lima Chen Novak Silva Okafor Becker Rossi Tanaka Khan Moreau Olsen Patel Quinn Reyes Schmidt Torres Ueda Vargas Walsh
  Young Zhang Adams Brown Costa Dubois Evans Ferreira Garcia Haddad Ito Jensen Kim Lopez Mueller Nakamura Ortiz Petrov
  Ramos Santos Taylor Usman Vogel Weber Yilmaz Abbas Bauer Carter Diaz Eriksen Fischer Gomez Hansen Ivanov Johnson Kowalski
  Larsen Martin Nguyen Osei Price`)

export const TEAMS = wordList('Design Sales Finance Support Marketing Legal Product Research Data Operations')

/** Own calendars besides the main one. */
export const OWN_CALENDARS = wordList('Family Fitness Travel Study Volunteer Household')

export const ROOM_NAMES = wordList(`
  Maple Oak Cedar Willow Birch Harbor Lagoon Canyon Meadow Summit River Garden Sunset Lantern Anchor Compass Marble Amber`)

const TOPICS = wordList(`
  Budget Roadmap Hiring Website Launch Pricing Security Onboarding Campaign Forecast Mobile Warehouse Brand Quality Customer
  Partner Office Training Release Contract Survey Newsletter Inventory Payroll Podcast Audit Prototype Sponsor Vendor
  Conference Packaging Analytics Feedback Strategy Compliance Recruiting Migration Accessibility Translation Sustainability`)

const KINDS = wordList('Review Planning Workshop Sync Demo Briefing Call Meeting Interview Rehearsal Update Discussion')

export const SERIES_KINDS = wordList('Standup Retro Checkin Roundup')

const PRIVATE_TITLES = [
  'Dentist Visit',
  'Yoga Class',
  'Car Service',
  'Piano Lesson',
  'School Concert',
  'Haircut Appointment',
  'Garden Cleanup',
  'Birthday Dinner',
  'Swim Practice',
  'Book Club',
  'Parent Evening',
  'Eye Exam',
  'Bike Repair',
  'Museum Tour',
  'Grocery Run',
  'Chess Night',
  'Choir Practice',
  'Flat Viewing',
] as const

export const DURATIONS = [30, 30, 45, 60, 60, 90] as const

/** A work meeting's title, such as `Budget Review`. */
export const meetingTitle = (random: SeededRandom): string => `${random.pick(TOPICS)} ${random.pick(KINDS)}`
export const seriesTitle = (random: SeededRandom): string => `${random.pick(TOPICS)} ${random.pick(SERIES_KINDS)}`
export const privateTitle = (random: SeededRandom): string => random.pick(PRIVATE_TITLES)
