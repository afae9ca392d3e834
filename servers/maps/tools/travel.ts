import { z } from 'zod'
import { spotAt } from '../lookup.js'
import { FIRST_TRANSIT, type Journey, journey, journeyObstacle, LONGEST, roadMetres } from '../routing.js'
import { isUsualBy, someTrip } from '../sampling.js'
import { address, type Context, MODES, type Mode, tool } from '../schema.js'
import { locate, type Spot, straightMetres } from '../streets.js'

const ENDS = {
  from_address: address('Start: house number, street and city, such as 12 Rua do Moinho, Lisbon.'),
  to_address: address('End: house number, street and city.'),
}
const mode = z.enum(MODES)

function travel({ db, now, unless }: Context, from: Spot, to: Spot, by: Mode): Journey {
  unless(journeyObstacle(db, now(), from, to, by))
  return journey(db, from, to, by)
}

const measureDistance = tool({
  name: 'measure_distance',
  description:
    'Measure how far two addresses are apart, in metres: in a straight line and, where there is a way over land, by road.',
  input: z.strictObject(ENDS),
  output: z.object({ straight_metres: z.int(), road_metres: z.int().optional() }),
  annotations: { readOnly: true },
  sample(sampling) {
    const { bound } = sampling
    // Of what was looked for around an address, the distance from there has been told.
    if (bound.from_address !== undefined && bound.to_address !== undefined) return null
    const trip = someTrip(sampling, { from: bound.from_address, to: bound.to_address, mode: 'driving' })
    return trip ? { from_address: trip.from.address, to_address: trip.to.address, ...bound } : null
  },
  run({ from_address, to_address }, context) {
    const [from, to] = [spotAt(context, from_address), spotAt(context, to_address)]
    if (from.address === to.address) context.fail('same_address', `Both addresses are ${from.address}.`)
    const road = roadMetres(from, to)
    return { straight_metres: straightMetres(from, to), ...(Number.isFinite(road) ? { road_metres: road } : {}) }
  },
})

const getTravelTime = tool({
  name: 'get_travel_time',
  description: `Tell how many minutes the way from one address to another takes by one mode of travel. Cars avoid closed roads, and neither start nor end on one. Walking goes up to ${LONGEST.walking! / 1000} km, cycling up to ${LONGEST.cycling! / 1000} km.`,
  input: z.strictObject({ ...ENDS, mode: mode.describe('How to travel.') }),
  output: z.object({ minutes: z.int(), metres: z.int() }),
  annotations: { readOnly: true },
  needs: ['roads_changed'],
  sample(sampling) {
    const { bound } = sampling
    const trip = someTrip(sampling, { from: bound.from_address, to: bound.to_address, mode: bound.mode })
    return trip ? { from_address: trip.from.address, to_address: trip.to.address, mode: trip.mode, ...bound } : null
  },
  run(args, context) {
    const { minutes, metres } = travel(
      context,
      spotAt(context, args.from_address),
      spotAt(context, args.to_address),
      args.mode,
    )
    return { minutes, metres }
  },
})

const planRoute = tool({
  name: 'plan_route',
  description: `Plan the shortest route between two addresses, step by step. Cars avoid closed roads, and neither start nor end on one; transit rests from midnight to ${FIRST_TRANSIT} local time.`,
  input: z.strictObject({ ...ENDS, mode: mode.describe('How to travel.') }),
  output: z.object({
    metres: z.int(),
    minutes: z.int(),
    steps: z.array(z.object({ road: z.string(), heading: z.string().optional(), metres: z.int() })),
  }),
  annotations: { readOnly: true },
  needs: ['roads_changed'],
  sample(sampling) {
    const { bound } = sampling
    const trip = someTrip(sampling, { from: bound.from_address, to: bound.to_address, mode: bound.mode })
    return trip ? { from_address: trip.from.address, to_address: trip.to.address, mode: trip.mode, ...bound } : null
  },
  run(args, context) {
    const { legs, ...totals } = travel(
      context,
      spotAt(context, args.from_address),
      spotAt(context, args.to_address),
      args.mode,
    )
    return { ...totals, steps: [...legs] }
  },
})

const planRouteWithStop = tool({
  name: 'plan_route_with_stop',
  description:
    'Plan a route that stops at an address on the way, and tell by how much the stop makes it longer. Cars avoid closed roads, and neither start, stop nor end on one.',
  input: z.strictObject({
    from_address: address('Start: house number, street and city.'),
    stop_address: address('Stop on the way: house number, street and city.'),
    to_address: address('End: house number, street and city.'),
    mode: mode.describe('How to travel.'),
  }),
  output: z.object({
    metres: z.int(),
    minutes: z.int(),
    minutes_to_stop: z.int(),
    detour_metres: z.int().describe('More than without the stop.'),
    detour_minutes: z.int(),
  }),
  annotations: { readOnly: true },
  needs: ['roads_changed'],
  sample(sampling) {
    const { db, now, bound } = sampling
    // Whose way and whose stop both come from a search has no way of their own.
    if ([bound.from_address, bound.stop_address, bound.to_address].filter((end) => end !== undefined).length > 1)
      return null
    for (let attempt = 0; attempt < 8; attempt++) {
      const ends = { from: bound.from_address, to: bound.to_address, mode: bound.mode }
      // Whatever is bound is the anchor; the other two addresses are found around it.
      const free = ends.from === undefined && ends.to === undefined
      const trip = someTrip(sampling, free ? { from: bound.stop_address, mode: ends.mode } : ends)
      const third = trip && someTrip(sampling, { from: trip.from.address, mode: trip.mode })?.to
      if (!trip || !third) return null
      const [from, stop, to] =
        free && bound.stop_address !== undefined ? [third, trip.from, trip.to] : [trip.from, third, trip.to]
      const middle = bound.stop_address === undefined ? stop : locate(bound.stop_address)
      if (!middle) return null
      const parts = [
        [from, to],
        [from, middle],
        [middle, to],
      ] as const
      if (parts.some(([a, b]) => !isUsualBy(db, trip.mode, a, b))) continue
      if (parts.some(([a, b]) => journeyObstacle(db, now(), a, b, trip.mode))) continue
      return {
        from_address: from.address,
        stop_address: middle.address,
        to_address: to.address,
        mode: trip.mode,
        ...bound,
      }
    }
    return null
  },
  run(args, context) {
    const from = spotAt(context, args.from_address)
    const stop = spotAt(context, args.stop_address)
    const to = spotAt(context, args.to_address)
    const direct = travel(context, from, to, args.mode)
    const [first, second] = [travel(context, from, stop, args.mode), travel(context, stop, to, args.mode)]
    const metres = first.metres + second.metres
    const minutes = first.minutes + second.minutes
    return {
      metres,
      minutes,
      minutes_to_stop: first.minutes,
      detour_metres: metres - direct.metres,
      detour_minutes: minutes - direct.minutes,
    }
  },
})

export const travelTools = [measureDistance, getTravelTime, planRoute, planRouteWithStop]
