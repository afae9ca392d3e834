import type { CallWords } from '../kernel/define-server.js'

/** By tool: what people are after who call it, and what they are told when it is done. */
export const callWords: Readonly<Record<string, CallWords>> = {
  search_flights: {
    goal: 'find a flight',
    answer: 'I found {found:flight}[: {flights*{name}, {departs} to {arrives}, {price} euros with {seats:seat} left}].',
  },
  find_connecting_flights: {
    goal: 'find a connecting flight',
    answer: 'I found {found:connection}[: {connections*via {via}, {departs} to {arrives}, {price} euros}].',
  },
  get_flight: {
    goal: 'see what a flight costs',
    answer:
      '{name} on {date} flies from {departs} to {arrives} and is {status}. It costs {basic} euros as basic, {standard} as standard, {flex} as flex and {business} in business, with {economy_seats} economy and {business_seats} business seats left.',
  },
  find_traveller: {
    goal: 'look up a traveller',
    answer:
      'I found {found:traveller}[: {travellers*{name} ({tier} tier, {points:point}, passport until {passport_expires})}].',
  },
  update_passport: {
    goal: "enter somebody's new passport",
    answer: 'The passport of {name} now runs until {passport_expires}.',
    next: ['book_flight', 'change_flight', 'create_itinerary'],
  },
  list_itineraries: {
    goal: "see somebody's trips",
    answer: 'There {found=is|are} {found:trip}[: {itineraries*{title} with {bookings:booking}}].',
  },
  create_itinerary: {
    goal: 'start planning a trip',
    answer: 'The trip {title} is there for {traveller}.',
    next: ['book_flight', 'book_hotel'],
  },
  get_itinerary: {
    goal: 'see what is booked for a trip',
    answer: '{title} comes to {total} euros, with {bookings#booking}[: {bookings*{title} ({status})}].',
  },
  book_flight: {
    goal: 'book a flight',
    answer: '{title} is {status} for {price} euros, until {held_until}.',
    next: ['book_hotel', 'pay_booking', 'choose_seat', 'add_baggage'],
  },
  search_hotels: {
    goal: 'find a hotel',
    answer: 'I found {found:hotel}[: {hotels*{name} ({stars} stars, {price} euros a night, {rooms:room} left)}].',
  },
  book_hotel: {
    goal: 'book a hotel',
    answer: '{title} is {status} for {price} euros, until {held_until}.',
    next: ['pay_booking', 'book_flight'],
  },
  list_travel_budgets: {
    goal: 'see what is left in the travel budgets',
    answer: 'There {found=is|are} {found:budget}: {budgets*{name} with {left} euros left}.',
  },
  pay_booking: {
    goal: 'pay for a booking',
    answer: '{title} is {status}: {paid} euros paid, {budget_left} euros left in the budget.',
    next: ['choose_seat', 'add_baggage', 'upgrade_booking'],
  },
  get_booking: {
    goal: 'look at a booking',
    answer:
      '{title} is {status} and costs {price} euros[, in {cabin} with a {fare} fare][, seat {seat}][, held until {held_until}]. [Cancelling it would refund {refund} euros.]',
  },
  find_free_seats: {
    goal: 'see which seats are free',
    answer: 'There {found=is|are} {found:free seat} in {cabin}[: {seats*{seat} ({position})}].',
  },
  choose_seat: {
    goal: 'choose a seat',
    answer: '{title} has the {position} seat {seat} in {cabin} now.',
    next: ['add_baggage', 'pay_booking'],
  },
  add_baggage: {
    goal: 'add baggage to a flight',
    answer: '{title} has {extra_bags:extra bag} now and costs {price} euros.',
    next: ['pay_booking', 'choose_seat'],
  },
  upgrade_booking: {
    goal: 'upgrade a booking',
    answer: '{title} is in {cabin} now, with {points_left:point} left.',
    next: ['choose_seat'],
  },
  change_flight: {
    goal: 'change to another flight',
    answer: '{title} is changed: {charged} euros were charged, and it costs {price} euros now.',
    next: ['choose_seat', 'pay_booking'],
  },
  cancel_booking: {
    goal: 'cancel a booking',
    answer: '{title} is {status}, with {refund} euros refunded.',
    next: ['book_flight'],
  },
}
