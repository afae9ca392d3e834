import { z } from 'zod'
import { type DbView, type ObstacleOf, type RowOf, type ToolContext, toolMaker } from '../kernel/define-environment.js'

export const SECTORS = ['energy', 'finance', 'health', 'technology', 'transport'] as const
export const SIDES = ['buy', 'sell'] as const
export const ORDER_STATUSES = ['open', 'filled', 'cancelled'] as const
export const TRADE_KINDS = ['buy', 'sell', 'dividend'] as const

/** EUR per share, whole. */
export const price = z.int().min(1).max(100_000)
export const shares = z.int().min(1).max(1_000_000)
const amount = z.int().min(0)
const date = z.iso.date()

const venue = z.object({
  venue: z.string(),
  name: z.string(),
  /** Trading hours of every day, HH:MM in UTC; the closing minute is no longer part of them. */
  opens: z.string(),
  closes: z.string(),
})

const sector = z.object({
  sector: z.enum(SECTORS),
  /** The most that may be invested in the sector. */
  limit: amount,
  /** What the positions of the sector cost, and what open buy orders in it have reserved. */
  exposure: amount,
})

const instrument = z.object({
  instrument: z.string(),
  name: z.string(),
  /** Name, sector and exchange in lower case, for searches. */
  words: z.string(),
  sector: z.enum(SECTORS),
  venue: z.string(),
  /** Orders are for whole multiples of this many shares. */
  lot: z.int().min(1),
  /** Prices are whole multiples of this many EUR. */
  tick: z.int().min(1),
  /** The day's opening price: price band and volatility halt are measured from it. */
  reference: price,
  last: price,
  status: z.enum(['trading', 'halted']),
})

/** One resting order. `trade_order` is null when it belongs to somebody else. */
const entry = z.object({ price, quantity: shares, trade_order: z.string().nullable() })

/** Both sides best price first, and within a price in order of arrival. */
const book = z.object({ instrument: z.string(), buy: z.array(entry), sell: z.array(entry) })

const account = z.object({
  account: z.string(),
  cash: amount,
  /** What open buy orders may cost at most. */
  reserved: amount,
})

const position = z.object({
  instrument: z.string(),
  name: z.string(),
  sector: z.enum(SECTORS),
  shares,
  /** Shares that open sell and stop orders have reserved. */
  reserved: z.int().min(0),
  /** What the shares cost; a sale takes its proportional part away, rounded down. */
  cost: amount,
})

const tradeOrder = z.object({
  trade_order: z.string(),
  instrument: z.string(),
  /** The instrument's name. */
  name: z.string(),
  side: z.enum(SIDES),
  kind: z.enum(['market', 'limit', 'stop']),
  quantity: shares,
  /** Shares that are still to be traded. */
  open: z.int().min(0),
  /** Limit or stop price; null for a market order. */
  price: price.nullable(),
  status: z.enum(ORDER_STATUSES),
})

const trade = z.object({
  trade: z.string(),
  instrument: z.string(),
  kind: z.enum(TRADE_KINDS),
  quantity: shares,
  /** Per share. */
  price,
  date,
})

/** An instrument on the watchlist with its price alert. */
const watch = z.object({
  instrument: z.string(),
  name: z.string(),
  direction: z.enum(['above', 'below']),
  alert_price: price,
  status: z.enum(['armed', 'fired']),
})

export const tables = {
  account: { row: account, key: 'account' },
  venues: { row: venue, key: 'venue' },
  sectors: { row: sector, key: 'sector' },
  instruments: { row: instrument, key: 'instrument', missing: 'unknown_instrument' },
  books: { row: book, key: 'instrument' },
  positions: { row: position, key: 'instrument' },
  trade_orders: { row: tradeOrder, key: 'trade_order', missing: 'unknown_trade_order' },
  trades: { row: trade, key: 'trade' },
  watches: { row: watch, key: 'instrument' },
} as const

export const failures = {
  unknown_instrument: 'There is no such instrument.',
  unknown_trade_order: 'There is no such order.',
  market_closed: 'The exchange of this instrument is closed now.',
  instrument_halted: 'Trading in this instrument is halted.',
  bad_lot: 'The quantity is not a multiple of the lot size.',
  bad_tick: 'The price is not a multiple of the tick size.',
  price_out_of_band: 'The price is too far from the opening price.',
  insufficient_buying_power: 'There is not enough buying power.',
  insufficient_shares: 'You do not have that many free shares, and selling short is not allowed.',
  no_liquidity: 'The order book does not hold that many shares.',
  self_match: 'The order would trade with an open order of your own: cancel or amend that one first.',
  sector_limit_exceeded: 'That would invest more in the sector than its risk limit allows.',
  too_many_open_orders: 'There are as many open orders as may be.',
  order_not_open: 'The order is not open any more.',
  not_a_limit_order: 'Only limit orders can be amended.',
  nothing_amended: 'The order has these terms already.',
  stop_not_below_market: 'A stop price must lie below the last price.',
  already_watched: 'The instrument has an armed alert already.',
  watchlist_full: 'There are as many armed alerts as may be.',
  alert_at_market: 'An alert must lie above or below the last price.',
} as const

export type TradingTables = typeof tables
export type FailureCode = keyof typeof failures
export type Context = ToolContext<typeof tables, FailureCode>
export type Obstacle = ObstacleOf<typeof failures>
export type TradingView = DbView<TradingTables>
export type Side = (typeof SIDES)[number]
export type Instrument = RowOf<TradingTables['instruments']>
export type Book = RowOf<TradingTables['books']>
export type Entry = Readonly<z.output<typeof entry>>
export type Position = RowOf<TradingTables['positions']>
export type TradeOrder = RowOf<TradingTables['trade_orders']>
export type Trade = RowOf<TradingTables['trades']>
export type Watch = RowOf<TradingTables['watches']>
export type Venue = RowOf<TradingTables['venues']>
export type Sector = RowOf<TradingTables['sectors']>

export const tool = toolMaker(tables, failures)
