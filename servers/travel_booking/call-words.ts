import type { CallWords } from '../kernel/define-environment.js'

/** By tool: what people are after who call it, and what they are told when it is done. */
export const callWords: Readonly<Record<string, CallWords>> = {
  search_flights: {
    goal: 'find a flight',
    answer:
      'I found {found:flight}[: {flights*{name}, {departs} to {arrives}, from {price} euros, with {economy_seats:economy seat} left}].',
  },
  find_connecting_flights: {
    goal: 'find a connecting flight',
    answer: 'I found {found:connection}[: {connections*via {via}, {departs} to {arrives}, from {price} euros}].',
  },
  get_flight: {
    goal: 'check what a flight costs',
    answer:
      '{name} on {date} flies from {departs} to {arrives} and is {status}. The fares are {basic} euros for basic, {standard} for standard, {flex} for flex and {business} for business, with {economy_seats} economy and {business_seats} business seats left.',
  },
  find_traveller: {
    goal: 'look up a traveller',
    answer:
      'I found {found:traveller}[: {travellers*{name} (loyalty tier: {tier}, {points:point}, passport valid until {passport_expires})}].',
    wishes: ['find a person'],
  },
  update_passport: {
    goal: 'enter a new passport',
    answer: 'I recorded that the passport of {name} is valid until {passport_expires}.',
    next: ['book_flight', 'change_flight'],
    checks: [],
  },
  list_itineraries: {
    goal: 'look up the trips of a traveller',
    answer: 'I found {found:trip}[: {itineraries*{title} with {bookings:booking}}].',
  },
  create_itinerary: {
    goal: 'start planning a trip',
    answer: 'I set up the trip "{title}" for {traveller}.',
    next: ['book_flight', 'book_hotel'],
    checks: ['search_flights', 'search_hotels', 'find_connecting_flights'],
  },
  get_itinerary: {
    goal: 'check what is booked for a trip',
    answer: '{title} has {bookings#booking}[: {bookings*{title} ({status})}]. The total is {total} euros.',
  },
  book_flight: {
    goal: 'book a flight',
    answer: '{title} is {status} until {held_until} and costs {price} euros.',
    next: ['book_hotel', 'pay_booking', 'choose_seat', 'add_baggage'],
    checks: ['search_hotels', 'find_free_seats', 'get_itinerary'],
  },
  search_hotels: {
    goal: 'find a hotel',
    answer:
      'I found {found:hotel}[: {hotels*{name} ({stars} stars, {price} euros for the whole stay, {rooms:room} left)}].',
    wishes: ['find a place'],
  },
  book_hotel: {
    goal: 'book a hotel',
    answer: '{title} is {status} until {held_until} and costs {price} euros for the stay.',
    next: ['pay_booking', 'book_flight'],
    checks: ['get_itinerary'],
  },
  list_travel_budgets: {
    goal: 'check what is left in the travel budgets',
    answer: 'There {found=is|are} {found:budget}: {budgets*{name} with {left} euros left[ ({business} fares too)]}.',
  },
  pay_booking: {
    goal: 'pay for a booking',
    answer: '{title} is {status}: {paid} euros paid, {budget_left} euros left in the budget.',
    said: ['budget'],
    next: ['choose_seat', 'upgrade_booking'],
    checks: ['find_free_seats', 'get_itinerary'],
  },
  get_booking: {
    goal: 'look at a booking',
    answer:
      '{title} is {status} and costs {price} euros[, in {cabin} with the {fare} fare][, seat {seat}][, {extra_bags:extra bag}][, {nights:night}][, held until {held_until}].[ Cancelling it now would refund {refund} euros.]',
  },
  find_free_seats: {
    goal: 'find out which seats are free',
    answer: 'I found {found:free seat} in {cabin}[: {seats*{seat} ({position})}].',
  },
  choose_seat: {
    goal: 'choose a seat',
    answer: 'The {position} seat {seat} in {cabin} is reserved for {title}.',
    next: ['add_baggage', 'pay_booking'],
    checks: [],
  },
  add_baggage: {
    goal: 'add baggage to a flight',
    answer: '{title} has {extra_bags:extra bag} now and costs {price} euros in all.',
    next: ['pay_booking', 'choose_seat'],
    checks: [],
  },
  upgrade_booking: {
    goal: 'upgrade a booking',
    answer: '{title} is upgraded to {cabin} class, with {points_left:point} left.',
    next: ['choose_seat'],
    checks: ['find_free_seats'],
  },
  change_flight: {
    goal: 'change to another flight',
    answer: 'The booking is changed to {title}: {charged} euros were charged, and it costs {price} euros in all now.',
    next: ['choose_seat'],
    checks: ['find_free_seats', 'get_itinerary'],
  },
  cancel_booking: {
    goal: 'cancel a booking',
    answer: '{title} is {status}, with {refund} euros refunded.',
    next: ['book_flight'],
    checks: ['get_itinerary', 'search_flights'],
  },
}
