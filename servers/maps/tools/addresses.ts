import { z } from 'zod'
import { spotAt } from '../lookup.js'
import { kindAt, someAddress, someCity } from '../sampling.js'
import { address, city, tool } from '../schema.js'
import { addressNear, coordinates, elevation, locate } from '../streets.js'

const geocodeAddress = tool({
  name: 'geocode_address',
  description: 'Look up where an address lies: coordinates in degrees and elevation in metres.',
  input: z.strictObject({ address: address('House number, street and city, such as 12 Rua do Moinho, Lisbon.') }),
  output: z.object({
    // Not a reference: it is the address that was asked about.
    address: z.string().min(1).max(80),
    city: city(),
    country: z.string(),
    latitude: z.number(),
    longitude: z.number(),
    elevation: z.int(),
  }),
  annotations: { readOnly: true },
  sample(sampling) {
    const { db, bound } = sampling
    const where = bound.address ?? someAddress(sampling, someCity(sampling))
    const spot = locate(where)
    // What was found by its coordinates has known ones.
    const isNamed = spot !== undefined && (db.saved_places.has(spot.address) || kindAt(db, spot) !== undefined)
    return bound.address === undefined || isNamed ? { address: where } : null
  },
  run(args, context) {
    const spot = spotAt(context, args.address)
    const { city: name, country } = spot.city
    return { address: spot.address, city: name, country, ...coordinates(spot), elevation: elevation(spot) }
  },
})

const reverseGeocode = tool({
  name: 'reverse_geocode',
  description: 'Find the address nearest to a point given by its coordinates in degrees.',
  input: z.strictObject({
    latitude: z.number().min(-90).max(90).describe('Degrees, positive to the north.'),
    longitude: z.number().min(-180).max(180).describe('Degrees, positive to the east.'),
  }),
  output: z.object({ address: address(), city: city(), metres: z.int().describe('From the point to the address.') }),
  annotations: { readOnly: true },
  sample(sampling) {
    const { random, bound } = sampling
    if (bound.latitude !== undefined || bound.longitude !== undefined) return null
    const { latitude, longitude } = coordinates(locate(someAddress(sampling, someCity(sampling)))!)
    // Seldom right on a door.
    const off = () => random.int(-3, 3)
    return {
      latitude: Math.round(latitude * 10_000 + off()) / 10_000,
      longitude: Math.round(longitude * 10_000 + off()) / 10_000,
    }
  },
  run({ latitude, longitude }, { fail }) {
    const near = addressNear(latitude, longitude)
    if (!near) return fail('nothing_there', `There is no address near ${latitude}, ${longitude}.`)
    return { address: near.spot.address, city: near.spot.city.city, metres: near.metres }
  },
})

export const addressTools = [geocodeAddress, reverseGeocode]
