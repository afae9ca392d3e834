import { roomsTaken, saltOf } from '../../../servers/travel_booking/availability.js'
import { travelBooking } from '../../../servers/travel_booking/index.js'
import { clash, LIMITS } from '../../../servers/travel_booking/rules.js'
import { DATES } from '../../../servers/travel_booking/time.js'
import { cityAt, isFlown, isIntercontinental, seatsOffered } from '../../../servers/travel_booking/timetable.js'
import { checkEnvironmentContract } from '../../support/environment-contract.js'
import { succeed } from '../../support/session-calls.js'
import {
  booking,
  buy,
  desk,
  flight,
  freeHotels,
  NUMBERS,
  passenger,
  purse,
  roomy,
  wait,
} from '../../support/travel-desk.js'

checkEnvironmentContract(travelBooking, {
  provoke: {
    unknown_city: () => ['search_hotels', { city: 'Atlantis', date: '2026-03-05', nights: 2 }],
    unknown_flight: () => ['get_flight', { flight: 'lis-lis-mar05-1' }],
    unknown_hotel: (s) => [
      'book_hotel',
      { itinerary: passenger(s).itinerary, hotel: 'motel-6', date: '2026-03-05', nights: 2 },
    ],
    unknown_traveller: () => ['list_itineraries', { traveller: 'phileas-fogg' }],
    unknown_itinerary: () => ['get_itinerary', { itinerary: 'trip-1' }],
    unknown_booking: () => ['get_booking', { booking: 'booking-1' }],
    unknown_budget: (s) => ['pay_booking', { booking: booking(s, () => true).booking, budget: 'petty-cash' }],
    same_city: () => ['search_flights', { from_city: 'Oslo', to_city: 'oslo', date: '2026-03-05' }],
    date_out_of_range: () => ['search_flights', { from_city: 'Oslo', to_city: 'Paris', date: '2026-04-16' }],
    no_direct_route: (s) => {
      const to = NUMBERS.find((number) => number > 0 && !isFlown(saltOf(desk(s)), 0, number))!
      return ['search_flights', { from_city: 'Amsterdam', to_city: cityAt(to).city, date: '2026-03-05' }]
    },
    flight_cancelled: (s) => {
      const { itinerary } = passenger(s)
      const struck = desk(s).flights.find(({ status }) => status === 'cancelled')!
      return ['book_flight', { itinerary, flight: struck.flight, fare: 'basic' }]
    },
    flight_full: (s) => {
      const { itinerary } = passenger(s)
      return ['book_flight', { itinerary, flight: flight(s, ({ free }) => free.economy === 0).flight, fare: 'flex' }]
    },
    too_late: (s) => {
      const { itinerary } = passenger(s)
      return ['book_flight', { itinerary, flight: flight(s, ({ departs }) => departs < 600, 0).flight, fare: 'flex' }]
    },
    passport_expired: (s) => {
      const { traveller } = desk(s).travellers.find(({ passport_expires }) => passport_expires < '2026-03-01')!
      const { itinerary } = desk(s).itineraries.by('traveller', traveller)[0]!
      const abroad = flight(s, (row) => roomy(row) && cityAt(row.from).country !== cityAt(row.to).country)
      return ['book_flight', { itinerary, flight: abroad.flight, fare: 'basic' }]
    },
    invalid_expiry: (s) => {
      const { traveller, passport_expires } = desk(s).travellers.list()[0]!
      return ['update_passport', { traveller, expires: passport_expires }]
    },
    overlapping_flight: (s) => {
      const { itinerary } = passenger(s)
      const first = flight(s, roomy)
      buy(s, itinerary, first, 'basic')
      const second = flight(s, (row) => roomy(row) && clash(first, row)?.code === 'overlapping_flight')
      return ['book_flight', { itinerary, flight: second.flight, fare: 'basic' }]
    },
    impossible_connection: (s) => {
      const { itinerary } = passenger(s)
      const first = flight(s, roomy)
      buy(s, itinerary, first, 'basic')
      const second = flight(s, (row) => roomy(row) && clash(first, row)?.code === 'impossible_connection')
      return ['book_flight', { itinerary, flight: second.flight, fare: 'basic' }]
    },
    overlapping_stay: (s) => {
      const { itinerary } = passenger(s)
      const [first, second] = freeHotels(s, 10, 3)
      succeed(s, 'book_hotel', { itinerary, hotel: first, date: DATES[10], nights: 3 })
      return ['book_hotel', { itinerary, hotel: second, date: DATES[12], nights: 1 }]
    },
    hotel_full: (s) => {
      const { itinerary } = passenger(s)
      const hotel = desk(s).hotels.find((row) => roomsTaken(saltOf(desk(s)), row, 10) === row.rooms)!
      return ['book_hotel', { itinerary, hotel: hotel.hotel, date: DATES[10], nights: 1 }]
    },
    itinerary_full: (s) => {
      const { itinerary } = passenger(s)
      for (let day = 5; day < 5 + LIMITS.bookings; day++)
        succeed(s, 'book_hotel', { itinerary, hotel: freeHotels(s, day, 1)[0], date: DATES[day], nights: 1 })
      return ['book_hotel', { itinerary, hotel: freeHotels(s, 20, 1)[0], date: DATES[20], nights: 1 }]
    },
    too_many_itineraries: (s) => {
      const { traveller } = passenger(s)
      for (const title of ['Second Trip', 'Third Trip']) succeed(s, 'create_itinerary', { traveller, title })
      return ['create_itinerary', { traveller, title: 'Fourth Trip' }]
    },
    title_taken: (s) => ['create_itinerary', { traveller: passenger(s).traveller, title: 'test flight' }],
    hold_lapsed: (s) => {
      const { booking: made } = booking(s, ({ status }) => status === 'held')
      wait(s, LIMITS.holdMinutes)
      return ['pay_booking', { booking: made, budget: purse(s) }]
    },
    booking_cancelled: (s) => {
      const { booking: made } = booking(s, ({ status }) => status === 'held')
      succeed(s, 'cancel_booking', { booking: made })
      return ['cancel_booking', { booking: made }]
    },
    already_paid: (s) => [
      'pay_booking',
      { booking: booking(s, ({ status }) => status === 'confirmed').booking, budget: purse(s) },
    ],
    not_confirmed: (s) => {
      const { itinerary } = passenger(s)
      const made = succeed(s, 'book_flight', { itinerary, flight: flight(s, roomy).flight, fare: 'flex' })
      return ['upgrade_booking', { booking: made.booking }]
    },
    not_a_flight: (s) => ['add_baggage', { booking: booking(s, ({ hotel }) => hotel !== null).booking, bags: 1 }],
    not_in_fare: (s) => {
      const plane = flight(s, roomy)
      const made = buy(s, passenger(s).itinerary, plane, 'basic')
      return ['choose_seat', { booking: made, seat: seatsOffered(plane, 'economy')[0] }]
    },
    budget_exhausted: (s) => {
      const far = flight(s, (row) => roomy(row) && isIntercontinental(row.from, row.to))
      const made = succeed(s, 'book_flight', { itinerary: passenger(s).itinerary, flight: far.flight, fare: 'flex' })
      const poor = desk(s).budgets.find(({ left }) => left < 300)!
      return ['pay_booking', { booking: made.booking, budget: poor.budget }]
    },
    business_not_covered: (s) => {
      const made = succeed(s, 'book_flight', {
        itinerary: passenger(s).itinerary,
        flight: flight(s, roomy).flight,
        fare: 'business',
      })
      return ['pay_booking', { booking: made.booking, budget: purse(s, false) }]
    },
    no_such_seat: (s) => [
      'choose_seat',
      { booking: buy(s, passenger(s).itinerary, flight(s, roomy), 'flex'), seat: '13A' },
    ],
    wrong_cabin: (s) => [
      'choose_seat',
      { booking: buy(s, passenger(s).itinerary, flight(s, roomy), 'flex'), seat: '1A' },
    ],
    seat_taken: (s) => {
      const plane = flight(s, roomy)
      const made = buy(s, passenger(s).itinerary, plane, 'flex')
      const seat = [3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
        .map((row) => `${row}B`)
        .find((name) => !seatsOffered(plane, 'economy').includes(name))
      return ['choose_seat', { booking: made, seat }]
    },
    too_many_bags: (s) => [
      'add_baggage',
      { booking: buy(s, passenger(s).itinerary, flight(s, roomy), 'flex'), bags: LIMITS.extraBags + 1 },
    ],
    different_route: (s) => {
      const first = flight(s, roomy)
      const made = buy(s, passenger(s).itinerary, first, 'flex')
      return [
        'change_flight',
        { booking: made, flight: flight(s, (row) => row.from === first.to && roomy(row)).flight },
      ]
    },
    same_flight: (s) => {
      const plane = flight(s, roomy)
      return ['change_flight', { booking: buy(s, passenger(s).itinerary, plane, 'flex'), flight: plane.flight }]
    },
    already_business: (s) => [
      'upgrade_booking',
      { booking: buy(s, passenger(s).itinerary, flight(s, roomy), 'business') },
    ],
    tier_too_low: (s) => {
      const { itinerary } = passenger(s, ({ tier }) => tier === 'none')
      return ['upgrade_booking', { booking: buy(s, itinerary, flight(s, roomy), 'flex') }]
    },
    not_enough_points: (s) => {
      const { itinerary } = passenger(s, ({ tier }) => tier === 'silver')
      const { traveller } = desk(s).itineraries.get(itinerary)!
      for (let day = 3; ; day += 2) {
        const made = buy(s, itinerary, flight(s, roomy, day), 'flex')
        if (desk(s).travellers.get(traveller)!.points < LIMITS.upgradePoints)
          return ['upgrade_booking', { booking: made }]
        succeed(s, 'upgrade_booking', { booking: made })
        succeed(s, 'cancel_booking', { booking: made })
      }
    },
  },
})
