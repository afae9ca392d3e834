import { z } from 'zod'
import { choices } from '../../kernel/choose.js'
import { ref } from '../../kernel/fields.js'
import { mentioning } from '../../kernel/text.js'
import { instrumentKey } from '../fields.js'
import { isOpen } from '../rules.js'
import { price, SIDES, tool } from '../schema.js'

const searchInstruments = tool({
  name: 'search_instruments',
  description:
    'Search shares by words of the name, the sector (energy, finance, health, technology, transport) or the exchange.',
  input: z.strictObject({
    query: z.string().trim().min(2).max(40).describe('All words must occur.'),
    max_price: price.optional().describe('Highest last price in EUR.'),
  }),
  output: z.object({
    found: z.int(),
    instruments: z.array(
      z.object({ name: z.string(), instrument: ref('instrument'), sector: z.string(), last: z.int() }),
    ),
  }),
  pages: { instruments: 'short' },
  annotations: { readOnly: true },
  sample({ db, random, bound }) {
    const { name, sector, last } = random.pick(db.instruments.list())
    const [first, trade] = name.split(' ') as [string, string]
    // Only who does not know yet what to buy has a highest price.
    const [query, browsing] = random.pick([
      [name, false],
      [name, false],
      [name, false],
      [first, false],
      [trade.toLowerCase(), true],
      [sector, true],
    ] as const)
    const max_price = browsing && random.chance(0.5) ? { max_price: Math.ceil(last / 50) * 50 } : {}
    return { query, ...max_price, ...bound }
  },
  run({ query, max_price = Number.POSITIVE_INFINITY }, { db }) {
    const matches = mentioning(query)
    const hits = db.instruments.list((row) => row.last <= max_price && matches(row.words))
    return { found: hits.length, instruments: hits }
  },
})

const getQuote = tool({
  name: 'get_quote',
  description:
    'Look up the market of an instrument: best bid and ask, last price, lot and tick size, whether it trades now.',
  input: z.strictObject({
    instrument: ref('instrument', 'Key of the instrument, from search_instruments or view_order_book.'),
  }),
  output: z.object({
    name: z.string(),
    instrument: ref('instrument'),
    bid: z.int().optional().describe('Best price to sell at; absent when nobody bids.'),
    ask: z.int().optional().describe('Best price to buy at; absent when nobody offers.'),
    last: z.int(),
    opening_price: z.int(),
    lot: z.int(),
    tick: z.int(),
    market: z.enum(['open', 'closed', 'halted']),
  }),
  annotations: { readOnly: true },
  sample({ db, random, bound }) {
    return { instrument: bound.instrument ?? random.pick(db.instruments.list()).instrument }
  },
  run(args, { rowOf, db, now }) {
    const row = rowOf('instruments', args.instrument)
    const { buy, sell } = db.books.get(row.instrument)!
    const hours = isOpen(db.venues.get(row.venue)!, now()) ? 'open' : 'closed'
    const market: 'open' | 'closed' | 'halted' = row.status === 'halted' ? 'halted' : hours
    return {
      name: row.name,
      instrument: row.instrument,
      ...(buy[0] ? { bid: buy[0].price } : {}),
      ...(sell[0] ? { ask: sell[0].price } : {}),
      last: row.last,
      opening_price: row.reference,
      lot: row.lot,
      tick: row.tick,
      market,
    }
  },
})

const viewOrderBook = tool({
  name: 'view_order_book',
  description: 'Show one side of the order book of an instrument: its price levels, the best first.',
  input: z.strictObject({
    instrument: instrumentKey,
    side: z.enum(SIDES).describe('buy: the bids; sell: the offers.'),
  }),
  output: z.object({
    name: z.string(),
    instrument: ref('instrument'),
    levels: z.array(z.object({ price: z.int(), quantity: z.int(), orders: z.int() })),
  }),
  pages: { levels: 'short' },
  annotations: { readOnly: true },
  sample({ db, random, bound }) {
    const side = bound.side ?? random.pick(SIDES)
    const filled = choices(db.books, bound.instrument, (book) => book[side].length > 0)
    return filled.length > 0 ? { instrument: random.pick(filled).instrument, side } : null
  },
  run({ instrument, side }, context) {
    const { name } = context.rowOf('instruments', instrument)
    const levels: { price: number; quantity: number; orders: number }[] = []
    for (const entry of context.db.books.get(instrument)![side]) {
      const level = levels.at(-1)
      if (level?.price === entry.price) {
        level.quantity += entry.quantity
        level.orders++
      } else levels.push({ price: entry.price, quantity: entry.quantity, orders: 1 })
    }
    return { name, instrument, levels }
  },
})

export const marketTools = [searchInstruments, getQuote, viewOrderBook]
