import { z } from 'zod'
import { ref } from '../../kernel/fields.js'
import { streetsOf } from '../../kernel/streets.js'
import { cityNamed } from '../cities.js'
import { cityCalled } from '../lookup.js'
import { someCity } from '../sampling.js'
import { city, LIMITS, tool } from '../schema.js'
import { closedRoadKey } from '../seed.js'
import { streetNamed } from '../streets.js'

const listClosedRoads = tool({
  name: 'list_closed_roads',
  description: 'List the roads of a city that are closed to cars.',
  input: z.strictObject({ city: city().describe('Name of the city, such as Oslo.') }),
  output: z.object({
    found: z.int(),
    closed_roads: z.array(z.object({ street: z.string(), closed_road: ref('closed_road'), since: z.string() })),
  }),
  pages: { closed_roads: 'long' },
  annotations: { readOnly: true },
  sample(sampling) {
    const { db, random, bound } = sampling
    const rows = db.closed_roads.list()
    if (bound.city !== undefined) return { city: bound.city }
    return { city: rows.length > 0 && random.chance(0.8) ? random.pick(rows).city : someCity(sampling) }
  },
  run(args, context) {
    const { city: name } = cityCalled(context, args.city).city
    const rows = context.db.closed_roads.by('city', name)
    return { found: rows.length, closed_roads: [...rows] }
  },
})

const reportClosedRoad = tool({
  name: 'report_closed_road',
  description: `Report that a road is closed, so that routes by car avoid it. A city can have ${LIMITS.closedRoads} closed roads. While the street of its station is closed, no car gets from a city to another.`,
  input: z.strictObject({
    street: z.string().trim().min(3).max(40).describe('Name of the street, such as Mill Lane.'),
    city: city().describe('Name of the city, such as Oslo.'),
  }),
  output: z.object({ street: z.string(), closed_road: ref('closed_road'), city: city(), closed_in_city: z.int() }),
  annotations: { readOnly: false },
  establishes: ['roads_changed'],
  sample(sampling) {
    const { db, random, bound } = sampling
    for (let attempt = 0; attempt < 6; attempt++) {
      const facts = cityNamed(bound.city ?? someCity(sampling))
      if (!facts) return null
      const closed = db.closed_roads.by('city', facts.city.city)
      const street = bound.street ?? random.pick(streetsOf(facts.city.city))
      if (closed.length >= LIMITS.closedRoads || db.closed_roads.has(closedRoadKey(street, facts.city))) continue
      return { street, city: facts.city.city, ...bound }
    }
    return null
  },
  run(args, context) {
    const { db, fail, today } = context
    const { city: where } = cityCalled(context, args.city)
    const street =
      streetNamed(where, args.street)?.name ?? fail('unknown_street', `${where.city} has no ${args.street}.`)
    const key = closedRoadKey(street, where)
    if (db.closed_roads.has(key)) fail('already_closed', `${street} in ${where.city} is closed already.`)
    const closed = db.closed_roads.by('city', where.city).length
    if (closed >= LIMITS.closedRoads) fail('too_many_closed_roads', `${where.city} has ${closed} closed roads.`)
    const row = db.closed_roads.insert({ closed_road: key, street, city: where.city, since: today() })
    return { ...row, closed_in_city: closed + 1 }
  },
})

const reopenRoad = tool({
  name: 'reopen_road',
  description: 'Mark a closed road as open again.',
  input: z.strictObject({ closed_road: ref('closed_road') }),
  output: z.object({ street: z.string(), city: city(), closed_in_city: z.int() }),
  annotations: { readOnly: false },
  sample({ db, random, bound }) {
    const rows = db.closed_roads.list()
    if (bound.closed_road !== undefined)
      return db.closed_roads.has(bound.closed_road) ? { closed_road: bound.closed_road } : null
    return rows.length > 0 ? { closed_road: random.pick(rows).closed_road } : null
  },
  run({ closed_road }, { rowOf, db }) {
    const row = rowOf('closed_roads', closed_road)
    db.closed_roads.remove(closed_road)
    return { street: row.street, city: row.city, closed_in_city: db.closed_roads.by('city', row.city).length }
  },
})

export const roadTools = [listClosedRoads, reportClosedRoad, reopenRoad]
