import { z } from 'zod'
import { choices } from '../../kernel/choose.js'
import { ref } from '../../kernel/fields.js'
import { instrumentKey } from '../fields.js'
import { LIMITS, watchObstacle } from '../rules.js'
import { DRAWS, sampleAlert } from '../sampling.js'
import { price, tool } from '../schema.js'

const addToWatchlist = tool({
  name: 'add_to_watchlist',
  description: `Watch an instrument: an alert fires once its last price reaches the alert price, from below or above. At most ${LIMITS.armedAlerts} alerts are armed.`,
  input: z.strictObject({
    instrument: instrumentKey,
    alert_price: price.describe('EUR, different from the last price.'),
  }),
  output: z.object({
    name: z.string(),
    instrument: ref('instrument'),
    direction: z.string().describe('above: fires when the price has risen that far.'),
    alert_price: z.int(),
    armed: z.int().describe('Alerts that are armed now.'),
  }),
  annotations: { readOnly: false },
  establishes: ['watching'],
  sample({ db, random, bound }) {
    const rows = choices(
      db.instruments,
      bound.instrument,
      ({ instrument }) => db.watches.get(instrument)?.status !== 'armed',
    )
    for (let draw = 0; draw < DRAWS && rows.length > 0; draw++) {
      const row = random.pick(rows)
      const alert_price = bound.alert_price ?? sampleAlert(random, row)
      if (!watchObstacle(db, row, alert_price)) return { instrument: row.instrument, alert_price }
    }
    return null
  },
  run({ instrument, alert_price }, { rowOf, unless, db }) {
    const row = rowOf('instruments', instrument)
    unless(watchObstacle(db, row, alert_price))
    const direction = alert_price > row.last ? 'above' : 'below'
    const watch = { instrument, name: row.name, direction, alert_price, status: 'armed' } as const
    if (db.watches.has(instrument)) db.watches.update(instrument, watch)
    else db.watches.insert(watch)
    return { ...watch, armed: db.watches.by('status', 'armed').length }
  },
})

const viewWatchlist = tool({
  name: 'view_watchlist',
  description: 'Show the instruments you watch: those whose alert is still armed, or those whose alert has fired.',
  input: z.strictObject({
    status: z.enum(['armed', 'fired']).describe('armed alerts wait, fired ones have been reached.'),
  }),
  output: z.object({
    found: z.int(),
    watched: z.array(
      z.object({ name: z.string(), instrument: ref('instrument'), direction: z.string(), alert_price: z.int() }),
    ),
  }),
  pages: { watched: 'short' },
  annotations: { readOnly: true },
  needs: ['watching'],
  sample({ db, random, bound }) {
    return { status: bound.status ?? random.pick(db.watches.list()).status }
  },
  run({ status }, { db }) {
    const watched = [...db.watches.by('status', status)].reverse()
    return { found: watched.length, watched }
  },
})

export const watchlistTools = [addToWatchlist, viewWatchlist]
