import { z } from 'zod'
import { common, ref } from '../../kernel/fields.js'
import { instrumentKey } from '../fields.js'
import { ACCOUNT, buyingPower } from '../rules.js'
import { SECTORS, TRADE_KINDS, tool } from '../schema.js'

const listPositions = tool({
  name: 'list_positions',
  description: 'List the shares you hold; free are those that no open order has reserved, value is at the last price.',
  input: z.strictObject({ sector: z.enum(SECTORS).describe('Only shares of this sector.').optional() }),
  output: z.object({
    found: z.int(),
    positions: z.array(
      z.object({
        name: z.string(),
        instrument: ref('instrument'),
        shares: z.int(),
        free: z.int(),
        value: z.int(),
      }),
    ),
  }),
  pages: { positions: 'short' },
  annotations: { readOnly: true },
  needs: ['money_moved'],
  sample({ db, random, bound }) {
    const held = db.positions.list()
    const sector = bound.sector ?? (held.length > 0 && random.chance(0.6) ? random.pick(held).sector : undefined)
    return sector === undefined ? {} : { sector }
  },
  run({ sector }, { db }) {
    const held = sector === undefined ? db.positions.list() : db.positions.by('sector', sector)
    return {
      found: held.length,
      positions: held.map(({ name, instrument, shares, reserved }) => ({
        name,
        instrument,
        shares,
        free: shares - reserved,
        value: shares * db.instruments.get(instrument)!.last,
      })),
    }
  },
})

const checkBuyingPower = tool({
  name: 'check_buying_power',
  description:
    'Show the cash, what open buy orders have reserved of it, and per sector how much is invested of the most that may be.',
  input: z.strictObject({}),
  output: z.object({
    cash: z.int(),
    reserved: z.int(),
    buying_power: z.int(),
    sectors: z.array(z.object({ sector: z.string(), exposure: z.int(), limit: z.int() })),
  }),
  annotations: { readOnly: true },
  needs: ['money_moved'],
  sample: () => ({}),
  run(_, { db }) {
    const { cash, reserved } = db.account.get(ACCOUNT)!
    return { cash, reserved, buying_power: buyingPower(db), sectors: db.sectors.list() }
  },
})

const listTrades = tool({
  name: 'list_trades',
  description: 'List your past trades and dividends in an instrument, the newest first.',
  input: z.strictObject({
    instrument: instrumentKey,
    kind: z.enum(TRADE_KINDS).describe('Only entries of this kind.').optional(),
  }),
  output: z.object({
    name: z.string(),
    instrument: ref('instrument'),
    found: z.int(),
    trades: z.array(
      z.object({
        kind: z.string(),
        quantity: z.int(),
        price: z.int().describe('EUR per share.'),
        date: common('date', z.string()),
      }),
    ),
  }),
  pages: { trades: 'short' },
  annotations: { readOnly: true },
  needs: ['money_moved'],
  sample({ db, random, bound }) {
    const trades = db.trades.list(
      ({ instrument, kind }) => instrument === (bound.instrument ?? instrument) && kind === (bound.kind ?? kind),
    )
    if (trades.length === 0) return null
    const { instrument, kind } = random.pick(trades)
    return { instrument, ...(bound.kind !== undefined || (kind === 'dividend' && random.chance(0.7)) ? { kind } : {}) }
  },
  run({ instrument, kind }, context) {
    const { name } = context.rowOf('instruments', instrument)
    const all = context.db.trades.by('instrument', instrument)
    const trades = (kind === undefined ? [...all] : all.filter((row) => row.kind === kind)).reverse()
    return { name, instrument, found: trades.length, trades }
  },
})

export const portfolioTools = [listPositions, checkBuyingPower, listTrades]
