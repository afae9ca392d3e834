import type { CallWords } from '../kernel/define-environment.js'

/** By tool: what people are after who call it, and what they are told when it is done. */
export const callWords: Readonly<Record<string, CallWords>> = {
  geocode_address: {
    goal: 'get the coordinates of an address',
    answer:
      '{address} is in {city}, {country}, at latitude {latitude} and longitude {longitude}, {elevation} metres above the sea.',
  },
  reverse_geocode: {
    goal: 'find out which address some coordinates belong to',
    answer: 'The nearest address is {address}, {metres} metres from there.',
    said: ['latitude', 'longitude'],
    elsewhere: ['vehicle:save_destination'],
  },
  list_place_categories: {
    goal: 'see what kinds of places a city has',
    answer:
      'These are the kinds of places in {city}, with how many there are of each: {categories*{category} ({places})}.',
  },
  search_places: {
    goal: 'find a place on the map',
    answer: 'I found {found:place}[: {places*{name}, {address}}].',
    elsewhere: ['vehicle:save_destination'],
    wishes: ['find a place'],
  },
  nearest_places: {
    goal: 'find a place nearby',
    answer:
      'The nearest {places=is|are} {places*{name} at {address}, {metres} metres away ({open?open now|closed now})}.',
    elsewhere: ['vehicle:save_destination'],
    wishes: ['find a place'],
  },
  find_reachable_places: {
    goal: 'see which places I can get to quickly',
    answer: 'You can reach {found:place}[: {places*{name} at {address}, {minutes:minute} away}].',
    wishes: ['find a place'],
  },
  get_place: {
    goal: 'see when a place is open',
    answer:
      '{name} at {address} is a {category} rated {rating}, open from {opens} to {closes}[ except on {closed_on}s]. It is {open_now?open|closed} right now.',
    elsewhere: ['vehicle:save_destination'],
    wishes: ['see what a place offers'],
  },
  measure_distance: {
    goal: 'see how far apart two places are',
    answer: 'The distance is {straight_metres} metres in a straight line[ and {road_metres} metres by road].',
    wishes: ['find the way'],
  },
  get_travel_time: {
    goal: 'find out how long a trip takes',
    answer: 'That takes {minutes:minute}; the distance is {metres} metres.',
    wishes: ['find the way'],
  },
  plan_route: {
    goal: 'plan a route',
    answer:
      'The route is {metres} metres long and takes {minutes:minute}: {steps*{road}[ going {heading}] for {metres} metres}.',
    wishes: ['find the way'],
  },
  plan_route_with_stop: {
    goal: 'plan a route with a stop on the way',
    answer:
      'The route is {metres} metres long and takes {minutes:minute}, {minutes_to_stop} of them to the stop, which is a detour of {detour_metres} metres and {detour_minutes:minute}.',
    wishes: ['find the way'],
  },
  save_place: {
    goal: 'save a place',
    answer: 'I saved {address} as {name}[ in place of {replaced}].',
    checks: ['list_saved_places', 'plan_route', 'get_travel_time', 'plan_route_with_stop'],
    wishes: ['keep an address'],
  },
  list_saved_places: {
    goal: 'see my saved places',
    answer: 'You have {found:saved place}[: {places*{name}, {address}}].',
    elsewhere: ['vehicle:save_destination', 'shopping:add_delivery_address', 'food_delivery:add_dropoff'],
    wishes: ['list kept addresses'],
  },
  list_closed_roads: {
    goal: 'see which roads are closed',
    answer: '{found:road} {found=is|are} closed there[: {closed_roads*{street} since {since}}].',
  },
  report_closed_road: {
    goal: 'report a closed road',
    answer: '{street} in {city} is reported as closed.',
    checks: ['plan_route', 'get_travel_time', 'plan_route_with_stop'],
  },
  reopen_road: {
    goal: 'report that a road is open again',
    answer: '{street} in {city} is open again.',
    checks: [],
  },
}
