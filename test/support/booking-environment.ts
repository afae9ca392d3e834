import { z } from 'zod'
import { defineEnvironment, ref, toolMaker, undecided } from '../../servers/kernel/index.js'

/**
 * The signatures of the 38 booking functions that are labelled in `test/fixtures/labels`: names, parameters, and the fields of results that are
 * keys, coordinates, names or dates. A function without a recorded result in the source has none here. An input is a key where its declaration
 * names the function that returns the value.
 *
 * Names are lower-case, as in all environments, and a result that is a list is its field `entries`. Keys are texts.
 */

/** Returns the name of a tool for a function of the source. */
export const toolOf = (name: string): string => name.toLowerCase().replaceAll(/_+/g, '_')

const row = z.object({ key: z.string() })
const ENTITIES = {
  attraction: 'attraction',
  attraction_page: 'page of an attraction',
  attraction_list: 'list of attractions',
  destination: 'destination',
  filter: 'filter',
  flight_offer: 'flight offer',
  flight_place: 'airport or city',
  google_place: 'place',
  hotel: 'hotel',
  review_order: 'order of reviews',
  vehicle: 'vehicle',
  vehicle_search: 'search for vehicles',
}
const tables = Object.fromEntries(Object.keys(ENTITIES).map((kind) => [kind, { row, key: 'key' }]))
const tool = toolMaker(tables, {})

/** What holds after a result with coordinates. They are two numbers, which are not the key of anything. */
const LOCATED = 'coordinates_shown'

interface Facts {
  readonly establishes?: readonly string[]
  readonly needs?: readonly string[]
}

const lookUp = (name: string, input: z.core.$ZodShape, output: z.core.$ZodShape = {}, facts: Facts = {}) =>
  tool({
    name: toolOf(name),
    description: `The function ${name}.`,
    input: z.strictObject(input),
    output: z.object(output),
    annotations: { readOnly: true },
    ...facts,
    ...undecided('only its signature is known'),
  })

const list = (entry: z.core.$ZodShape) => z.array(z.object(entry))
const SHOWS = { establishes: [LOCATED] }
const NEEDS = { needs: [LOCATED] }
const text = z.string()
const number = z.number()
const some = text.optional()
const count = number.optional()

const query = { query: text }
const hotel = { hotel_id: ref('hotel') }
const vehicle = { vehicle_id: ref('vehicle'), search_key: ref('vehicle_search') }
const coordinates = { latitude: number, longitude: number }
const stay = { arrival_date: text, departure_date: text }
const guests = { adults: count, children_age: some, room_qty: count }
const flightChoice = { adults: count, cabinClass: some, children: some, sort: some }
const legs = z.array(z.object({ fromId: ref('flight_place'), toId: ref('flight_place'), date: text }))
const airport = z.object({ name: text, cityName: text })
const segments = list({ departureAirport: airport, arrivalAirport: airport })
const flights = {
  flightDeals: list({ key: text, offerToken: ref('flight_offer') }),
  flightOffers: list({ token: ref('flight_offer'), segments }),
}
const depot = z.object({ name: text, location_id: text })

const attractions = [
  lookUp('Search_Attraction_Location', query, {
    destinations: list({ id: ref('attraction_list'), cityName: text }),
    products: list({
      id: ref('attraction_list'),
      productId: ref('attraction'),
      productSlug: ref('attraction_page'),
      cityName: text,
    }),
  }),
  lookUp(
    'Search_Attractions',
    { id: ref('attraction_list'), sortBy: some },
    {
      products: list({ id: ref('attraction'), slug: ref('attraction_page'), name: text }),
      sorters: list({ value: text, name: text }),
    },
  ),
  lookUp(
    'Get_Attraction_Details',
    { slug: ref('attraction_page') },
    { id: ref('attraction'), slug: ref('attraction_page'), name: text },
  ),
  lookUp('Get_Availability', { slug: ref('attraction_page'), date: some }, { entries: list({ timeSlotId: text }) }),
  lookUp('Get_Availability_Calendar', { id: ref('attraction') }, { entries: list({ date: text }) }),
]

const hotels = [
  lookUp(
    'Search_Hotel_Destination',
    query,
    {
      entries: list({
        dest_id: ref('destination'),
        search_type: text,
        name: text,
        city_name: text,
        ...coordinates,
      }),
    },
    SHOWS,
  ),
  lookUp(
    'Get_Filter',
    {
      search_type: text,
      dest_id: ref('destination'),
      ...stay,
      ...guests,
      categories_filter: ref('filter').optional(),
    },
    { filters: list({ field: text, options: list({ genericId: ref('filter') }) }) },
  ),
  lookUp(
    'Search_Hotels',
    {
      search_type: text,
      dest_id: ref('destination'),
      ...stay,
      ...guests,
      categories_filter: ref('filter').optional(),
      price_min: count,
      price_max: count,
      sort_by: some,
    },
    {
      hotels: list({
        hotel_id: ref('hotel'),
        property: z.object({ name: text, checkinDate: text, checkoutDate: text, ...coordinates }),
      }),
    },
    SHOWS,
  ),
  lookUp(
    'Search_Hotels_By_Coordinates',
    { ...coordinates, ...stay, ...guests, price_min: count, price_max: count, radius: count },
    { result: list({ hotel_id: ref('hotel'), hotel_name: text, ...coordinates }) },
    { ...NEEDS, ...SHOWS },
  ),
  lookUp('Get_Description_And_Info', hotel),
  lookUp('Get_Hotel_Details', hotel),
  lookUp('Get_Hotel_Policies', hotel),
  lookUp(
    'Get_Hotel_Reviews_Tips',
    { ...hotel, sort_option_id: ref('review_order') },
    {
      result: list({ hotel_id: ref('hotel'), date: text }),
      sort_options: list({ sort_option_id: ref('review_order') }),
    },
  ),
  lookUp('Get_Hotel_Reviews_Tips__Sort_Option', hotel, { entries: list({ sort_option_id: ref('review_order') }) }),
  lookUp(
    'Get_Popular_Attraction_Near_By',
    hotel,
    { closest_landmarks: list({ tag: text, ...coordinates }), popular_landmarks: list({ tag: text }) },
    SHOWS,
  ),
  lookUp('Get_Room_Availability', { ...hotel, min_date: text, max_date: text, adults: count, room_qty: count }),
  lookUp('Get_Room_List_With_Availability', { ...hotel, ...stay, ...guests }),
  lookUp('Payment_features_of_the_Hotel', hotel),
  lookUp('Property_Children_Policies', hotel),
]

const flightTools = [
  lookUp('Search_Flight_Location', query, { entries: list({ id: ref('flight_place'), name: text, cityName: some }) }),
  lookUp(
    'Search_Flights',
    {
      fromId: ref('flight_place'),
      toId: ref('flight_place'),
      departDate: text,
      returnDate: some,
      ...flightChoice,
    },
    flights,
  ),
  lookUp('Search_Flights_Multi_Stops', { legs, ...flightChoice }, flights),
  lookUp('Get_Flight_Details', { token: ref('flight_offer') }, { token: ref('flight_offer'), segments }),
  lookUp('Get_Seat_Map', { offerToken: ref('flight_offer') }),
  lookUp(
    'Get_Min_Price',
    {
      fromId: ref('flight_place'),
      toId: ref('flight_place'),
      departDate: text,
      returnDate: some,
      cabinClass: some,
    },
    { entries: list({ departureDate: text, returnDate: some }) },
  ),
  lookUp(
    'Get_Min_Price_Multi_Stops',
    { legs, cabinClass: some },
    { entries: list({ departureDate: text, searchDates: z.array(text) }) },
  ),
]

const cars = [
  lookUp(
    'Search_Car_Location',
    query,
    { entries: list({ name: text, city: text, coordinates: z.object(coordinates) }) },
    SHOWS,
  ),
  lookUp(
    'Search_Car_Rentals',
    {
      pick_up_latitude: number,
      pick_up_longitude: number,
      pick_up_date: text,
      pick_up_time: text,
      drop_off_latitude: number,
      drop_off_longitude: number,
      drop_off_date: text,
      drop_off_time: text,
    },
    {
      search_key: ref('vehicle_search'),
      search_context: z.object({ searchKey: ref('vehicle_search') }),
      search_results: list({
        vehicle_id: ref('vehicle'),
        supplier_info: z.object({ name: text, latitude: text, longitude: text }),
        route_info: z.object({ pickup: depot, dropoff: depot }),
      }),
    },
    { ...NEEDS, ...SHOWS },
  ),
  lookUp('Booking_Summary', vehicle, { product: z.object({ pickUp: z.object({ name: text }) }) }),
  lookUp('Get_Packages', vehicle, { entries: list({ id: text }) }),
  lookUp(
    'Vehicle_Details',
    vehicle,
    {
      vehicle: z.object({ id: ref('vehicle') }),
      depots: z.object({ pickup: depot, dropoff: depot }),
    },
    SHOWS,
  ),
  lookUp(
    'Vehicle_Supplier_Details',
    vehicle,
    { map: z.object({ location: z.object({ coordinates: z.object(coordinates) }) }) },
    SHOWS,
  ),
  lookUp('Vehicle_Supplier_Ratings', vehicle, { name: text }),
  lookUp('Vehicle_Supplier_Review', vehicle, { supplier: z.object({ name: text }) }),
]

const places = [
  lookUp(
    'Location_to_Lat_Long',
    query,
    {
      entries: list({
        place_id: ref('google_place'),
        name: text,
        geometry: z.object({ location: z.object({ lat: number, lng: number }) }),
      }),
    },
    SHOWS,
  ),
  lookUp(
    'Get_Nearby_Cities',
    coordinates,
    { entries: list({ dest_id: ref('destination'), name: text, ...coordinates }) },
    { ...NEEDS, ...SHOWS },
  ),
  lookUp(
    'Taxi_Search_Location',
    query,
    { entries: list({ googlePlaceId: ref('google_place'), name: text, ...coordinates }) },
    SHOWS,
  ),
  lookUp('Search_Taxi', {
    pick_up_place_id: ref('google_place'),
    drop_off_place_id: ref('google_place'),
    pick_up_date: text,
    pick_up_time: text,
  }),
]

export const booking = defineEnvironment({
  name: 'booking',
  title: 'Booking',
  description: 'The signatures of a travel agency.',
  tables,
  entities: Object.fromEntries(Object.entries(ENTITIES).map(([table, noun]) => [table, { noun, table }])),
  failures: {},
  tools: [...attractions, ...hotels, ...flightTools, ...cars, ...places],
  invariants: [],
  seed: () => Object.fromEntries(Object.keys(ENTITIES).map((table) => [table, []])),
})
