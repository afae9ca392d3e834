import { z } from 'zod'
import {
  type Db,
  type DbView,
  type ObstacleOf,
  type RowOf,
  type ToolContext,
  toolMaker,
} from '../kernel/define-environment.js'
import { common } from '../kernel/fields.js'
import { FARES } from './timetable.js'

export const CABINS = ['economy', 'business'] as const
export const BOOKING_STATUSES = ['held', 'confirmed', 'cancelled', 'lapsed'] as const

/** Whole euros. */
const money = z.int().min(0).max(200_000)
const date = z.iso.date()

const timetable = z.object({
  season: z.string(),
  /** What the flights of this environment follow from. */
  salt: z.int().min(0),
})

const flight = z.object({
  flight: z.string(),
  name: z.string(),
  status: z.enum(['scheduled', 'cancelled']),
})

const hotel = z.object({
  hotel: z.string(),
  name: z.string(),
  city: z.string(),
  stars: z.int().min(1).max(5),
  /** Per room and night. */
  price: money,
  rooms: z.int().min(1),
  /** Decides how many rooms others have taken each night. */
  number: z.int().min(0),
})

const traveller = z.object({
  traveller: z.string(),
  name: z.string(),
  tier: z.enum(['none', 'silver', 'gold']),
  points: z.int().min(0),
  passport_expires: date,
})

const itinerary = z.object({
  itinerary: z.string(),
  title: z.string(),
  traveller: z.string(),
})

const budget = z.object({
  budget: z.string(),
  name: z.string(),
  total: money,
  left: money,
  /** Whether it pays for business fares. */
  business: z.boolean(),
})

const booking = z.object({
  booking: z.string(),
  /** `Lisbon to Oslo 5 March`, `Grand Anchor Hotel 5 March`. */
  title: z.string(),
  itinerary: z.string(),
  traveller: z.string(),
  status: z.enum(BOOKING_STATUSES),
  /** When a hold lapses, ISO 8601 in UTC; null once it has been paid for. */
  held_until: z.string().nullable(),
  /** All that the booking costs. */
  price: money,
  /** What has been taken from the budget and not given back. */
  paid: money,
  budget: z.string().nullable(),
  flight: z.string().nullable(),
  fare: z.enum(FARES).nullable(),
  cabin: z.enum(CABINS).nullable(),
  seat: z.string().nullable(),
  /** Checked bags beyond those that the fare includes. */
  extra_bags: z.int().min(0),
  points_spent: z.int().min(0),
  hotel: z.string().nullable(),
  check_in: date.nullable(),
  nights: z.int().min(1).nullable(),
})

export const tables = {
  timetable: { row: timetable, key: 'season' },
  flights: { row: flight, key: 'flight' },
  hotels: { row: hotel, key: 'hotel', missing: 'unknown_hotel' },
  travellers: { row: traveller, key: 'traveller', missing: 'unknown_traveller' },
  itineraries: { row: itinerary, key: 'itinerary', missing: 'unknown_itinerary' },
  budgets: { row: budget, key: 'budget', missing: 'unknown_budget' },
  bookings: { row: booking, key: 'booking', missing: 'unknown_booking' },
} as const

export const failures = {
  unknown_city: 'No flights or hotels are known for a city of that name.',
  unknown_flight: 'There is no such flight.',
  unknown_hotel: 'There is no such hotel.',
  unknown_traveller: 'There is no such traveller.',
  unknown_itinerary: 'There is no such itinerary.',
  unknown_booking: 'There is no such booking.',
  unknown_budget: 'There is no such travel budget.',
  same_city: 'Both cities are the same.',
  date_out_of_range: 'The date is in the past or beyond the timetable.',
  no_direct_route: 'No airline flies directly between the cities: look for connecting flights.',
  flight_cancelled: 'The airline has cancelled the flight.',
  flight_full: 'The flight has no free seat in that cabin.',
  too_late: 'It is too late for that.',
  passport_expired: 'The passport of the traveller is not valid for long enough.',
  invalid_expiry: 'A new passport expires later than the old one, and at most ten years from now.',
  overlapping_flight: 'The traveller is on another flight at that time.',
  impossible_connection: 'The traveller cannot get from one flight to the other in time.',
  overlapping_stay: 'The traveller has a hotel for one of these nights already.',
  hotel_full: 'The hotel has no free room for one of the nights.',
  itinerary_full: 'The itinerary has as many bookings as it may have.',
  too_many_itineraries: 'The traveller has as many itineraries as may be.',
  title_taken: 'The traveller has an itinerary of that title already.',
  hold_lapsed: 'The hold has lapsed: book again.',
  booking_cancelled: 'The booking was cancelled before.',
  already_paid: 'The booking is paid for already.',
  not_confirmed: 'The booking has not been paid for yet.',
  not_a_flight: 'The booking is for a hotel.',
  not_in_fare: 'The fare does not allow that.',
  budget_exhausted: 'The travel budget does not have that much left.',
  business_not_covered: 'The travel budget does not pay for business fares.',
  no_such_seat: 'Planes have no such seat.',
  wrong_cabin: 'The seat is in the other cabin.',
  seat_taken: 'The seat is taken.',
  too_many_bags: 'The booking has as many extra bags as it may have.',
  different_route: 'The flights connect different cities.',
  same_flight: 'The booking is for that flight already.',
  already_business: 'The booking is in business class already.',
  tier_too_low: 'Only travellers with silver or gold status can be upgraded.',
  not_enough_points: 'The traveller has not enough points.',
} as const

export type TravelTables = typeof tables
export type FailureCode = keyof typeof failures
export type Context = ToolContext<typeof tables, FailureCode>
export type Obstacle = ObstacleOf<typeof failures>
export type TravelDb = Db<TravelTables>
export type TravelView = DbView<TravelTables>
export type Hotel = RowOf<TravelTables['hotels']>
export type Traveller = RowOf<TravelTables['travellers']>
export type Itinerary = RowOf<TravelTables['itineraries']>
export type Budget = RowOf<TravelTables['budgets']>
export type Booking = RowOf<TravelTables['bookings']>

export const tool = toolMaker(tables, failures)

export const cityField = () => common('city', z.string().trim().min(2).max(40))
export const dateField = (description: string) => common('date', z.iso.date().describe(description))
