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

/** Own calendars besides the main one, with what people put into them. */
const PRIVATE_TITLES: Readonly<Record<string, readonly string[]>> = {
  Family: ['School Concert', 'Parent Evening', 'Birthday Dinner', 'Museum Tour', 'Zoo Visit', 'Family Lunch'],
  Fitness: ['Yoga Class', 'Swim Practice', 'Evening Run', 'Gym Session', 'Dance Class', 'Climbing Course'],
  Travel: ['Trip Planning', 'Passport Renewal', 'Suitcase Packing', 'Travel Vaccination', 'Visa Appointment'],
  Study: ['Spanish Lesson', 'Exam Practice', 'Piano Lesson', 'Study Group', 'Evening Lecture'],
  Volunteer: ['Garden Cleanup', 'Food Bank Shift', 'Choir Practice', 'Reading Hour', 'Charity Run'],
  Household: ['Car Service', 'Bike Repair', 'Flat Viewing', 'Grocery Run', 'Boiler Check', 'Plumber Visit'],
}
export const OWN_CALENDARS: readonly string[] = Object.keys(PRIVATE_TITLES)

export const ROOM_NAMES = wordList(`
  Maple Oak Cedar Willow Birch Harbor Lagoon Canyon Meadow Summit River Garden Sunset Lantern Anchor Compass Marble Amber`)

const TOPICS = wordList(`
  Budget Roadmap Hiring Website Launch Pricing Security Onboarding Campaign Forecast Mobile Warehouse Brand Quality Customer
  Partner Office Training Release Contract Survey Newsletter Inventory Payroll Podcast Audit Prototype Sponsor Vendor
  Conference Packaging Analytics Feedback Strategy Compliance Recruiting Migration Accessibility Translation Sustainability`)

const KINDS = wordList('Review Planning Workshop Sync Demo Briefing Call Meeting Kickoff Forum Update Discussion')

export const SERIES_KINDS = wordList('Standup Retro Checkin Roundup')

export const DURATIONS = [30, 30, 45, 60, 60, 90] as const

/** A work meeting's title, such as `Budget Review`. */
export const meetingTitle = (random: SeededRandom): string => `${random.pick(TOPICS)} ${random.pick(KINDS)}`
export const seriesTitle = (random: SeededRandom): string => `${random.pick(TOPICS)} ${random.pick(SERIES_KINDS)}`
/** Returns the title of an event that people put into the calendar of this name, such as `Fitness Calendar`. */
export const privateTitle = (random: SeededRandom, calendar: string): string =>
  random.pick(PRIVATE_TITLES[calendar.split(' ')[0]!]!)

/** Whether an event of this title is one that people hold more than once: nothing is kicked off every week. */
export const isRegular = (title: string): boolean => !/(Kickoff|Forum|Demo)$/.test(title)

/** Whether an event of this title is one that people hold every day. */
export const isDaily = (title: string): boolean => /(Sync|Standup|Call|Checkin|Update)$/.test(title)
