import { defineEnvironment } from '../kernel/define-environment.js'
import { domainRules } from './domain-rules.js'
import { travelInvariants } from './invariants.js'
import { failures, tables } from './schema.js'
import { seedTravel } from './seed.js'
import { bookingTools } from './tools/booking.js'
import { changeTools } from './tools/changes.js'
import { flightTools } from './tools/flights.js'
import { itineraryTools } from './tools/itineraries.js'
import { paymentTools } from './tools/payment.js'
import { seatTools } from './tools/seats.js'
import { travellerTools } from './tools/travellers.js'

/** A travel agency's desk: flights that follow from a timetable by rule, hotels, travellers, holds that lapse, budgets that pay. */
export const travelBooking = defineEnvironment({
  name: 'travel_booking',
  title: 'Travel booking',
  description: 'Flights, hotels, travellers, itineraries, bookings with holds, and the budgets that pay for them.',
  tables,
  entities: {
    // Rows exist only for flights that were booked or cancelled before the session; all others follow from the timetable.
    flight: {
      noun: 'flight',
      table: 'flights',
      label: 'name',
      compared: { departs: 'either', arrives: 'either', price: 'lowest' },
    },
    hotel: { noun: 'hotel', table: 'hotels', label: 'name', compared: { stars: 'highest', price: 'lowest' } },
    traveller: { noun: 'traveller', table: 'travellers', label: 'name' },
    itinerary: { noun: 'trip', table: 'itineraries', label: 'title' },
    booking: { noun: 'booking', table: 'bookings', label: 'title', sayable: true },
    budget: { noun: 'travel budget', table: 'budgets', label: 'name' },
  },
  failures,
  tools: [
    ...flightTools,
    ...travellerTools,
    ...itineraryTools,
    ...bookingTools,
    ...paymentTools,
    ...seatTools,
    ...changeTools,
  ],
  invariants: travelInvariants,
  domainRules,
  seed: seedTravel,
})
