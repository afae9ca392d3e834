import { addDays, isWorkday } from '../kernel/dates.js'
import type { SeedContext, SeedRows } from '../kernel/define-environment.js'
import { twoDigitNumbers } from '../kernel/key-numbers.js'
import { ascending } from '../kernel/lists.js'
import type { SeededRandom } from '../kernel/random.js'
import { slug } from '../kernel/text.js'
import { queue } from './matching.js'
import { ACCOUNT, bandOf } from './rules.js'
import {
  type Book,
  type Entry,
  type Instrument,
  type Position,
  SECTORS,
  type Sector,
  type Side,
  type Trade,
  type TradeOrder,
  type TradingTables,
  type Watch,
} from './schema.js'
import { COMPANY_FIRST, COMPANY_SECOND, VENUES } from './words.js'

const INSTRUMENTS = 40
const HELD = 12

/** A portfolio in the middle of a trading day: forty shares on four exchanges, a dozen positions with their history, open orders. */
export function seedTrading({ random, start }: SeedContext): SeedRows<TradingTables> {
  const instruments = seedInstruments(random)
  const trades = seedTrades(random, start, instruments)
  const positions = positionsFrom(trades, instruments)
  const books = new Map(instruments.map((row, i) => [row.instrument, seedBook(random, row, i % 10 === 9)]))
  const trade_orders = seedOrders(random, instruments, positions, trades, books)
  const reserved = openBuys(trade_orders).reduce((sum, { open, price }) => sum + open * price!, 0)
  return {
    account: [{ account: ACCOUNT, cash: reserved + random.int(90, 620) * 100 + random.int(0, 99), reserved }],
    venues: [...VENUES],
    sectors: seedSectors(random, instruments, positions, trade_orders),
    instruments,
    books: [...books.values()],
    positions,
    trade_orders,
    trades,
    watches: seedWatches(random, instruments),
  }
}

/** Every first word names two companies of different sectors. The first eight can all be traded at the start; some later ones are halted or on an exchange that is closed. */
function seedInstruments(random: SeededRandom): Instrument[] {
  const firsts = random.sample(COMPANY_FIRST, INSTRUMENTS / 2)
  const apart = random.int(1, SECTORS.length - 1)
  return Array.from({ length: INSTRUMENTS }, (_, i): Instrument => {
    const twin = i >= firsts.length
    const sector = SECTORS[(i + (twin ? apart : 0)) % SECTORS.length]!
    const name = `${firsts[i % firsts.length]} ${random.pick(COMPANY_SECOND[sector])}`
    const venue = placeOf(random, i)
    const scale = random.pick([
      [1, 30, 180],
      [1, 30, 180],
      [2, 90, 240],
      [5, 50, 160],
    ] as const)
    const reference = scale[0] * random.int(scale[1], scale[2])
    const last = reference + scale[0] * random.int(-1, 1)
    return {
      instrument: slug(name),
      name,
      words: `${name} ${sector} ${venue.name}`.toLowerCase(),
      sector,
      venue: venue.venue,
      lot: reference < 80 ? 10 : reference < 250 ? 5 : 1,
      tick: scale[0],
      reference,
      last,
      status: i === 8 || i === 27 ? 'halted' : 'trading',
    }
  })
}

function placeOf(random: SeededRandom, i: number) {
  const [harbor, baltic, atlantic, pacific] = VENUES
  if (i === 9 || i === 28) return atlantic
  if (i === 10 || i === 29) return pacific
  return i < 9 || random.chance(0.75) ? random.pick([harbor, baltic]) : random.pick([atlantic, pacific])
}

/** Up to six price levels a side; a thin book has two small ones. */
function seedBook(random: SeededRandom, instrument: Instrument, thin: boolean): Book {
  const { last, tick, lot, reference } = instrument
  const { low, high } = bandOf(instrument)
  const side = (direction: 1 | -1): Entry[] => {
    const entries: Entry[] = []
    let price = last
    for (let level = thin ? 2 : random.int(4, 6); level > 0; level--) {
      price += direction * tick * Math.max(1, Math.round((reference * random.int(2, 22)) / 1000 / tick))
      if (price < low || price > high) break
      for (let order = thin ? 1 : random.int(1, 2); order > 0; order--)
        entries.push({ price, quantity: lot * random.int(1, thin ? 3 : 9), trade_order: null })
    }
    return entries
  }
  return { instrument: instrument.instrument, buy: side(-1), sell: side(1) }
}

/** Purchases, some sales and dividends of the last months; a few instruments were sold again altogether. */
function seedTrades(random: SeededRandom, start: string, instruments: readonly Instrument[]): Trade[] {
  const day = (age: number): string => tradingDay(addDays(start.slice(0, 10), -age))
  // The first instruments are all tradable, so that there is always something to sell.
  const owned = [
    ...instruments.slice(0, 7),
    instruments[8]!,
    instruments[10]!,
    ...random.sample(instruments.slice(11), HELD - 6),
  ]
  const rows = owned.flatMap((row, i): Omit<Trade, 'trade'>[] => {
    const { instrument, lot, tick, reference } = row
    const paid = () => tick * Math.max(1, Math.round((reference * random.int(80, 118)) / 100 / tick))
    const at = (kind: Trade['kind'], quantity: number, price: number, age: number) =>
      ({ instrument, kind, quantity, price, date: day(age) }) satisfies Omit<Trade, 'trade'>
    const first = lot * random.int(8, 40)
    const sold = i >= HELD + 1 ? first : random.chance(0.4) ? lot * random.int(1, 6) : 0
    return [
      at('buy', first, paid(), random.int(90, 150)),
      ...(i % 2 === 0
        ? [at('dividend', first, random.int(1, 1 + Math.floor(reference / 60)), random.int(50, 85))]
        : []),
      ...(sold > 0 ? [at('sell', sold, paid(), random.int(25, 49))] : []),
      ...(i <= HELD && random.chance(0.5) ? [at('buy', lot * random.int(2, 12), paid(), random.int(1, 24))] : []),
    ]
  })
  const numbers = twoDigitNumbers(random, rows.length)
  return rows.map((row, i): Trade => ({ trade: `trade-${numbers[i]}`, ...row })).sort(ascending('date'))
}

/** The day itself, or the Friday before a weekend. */
function tradingDay(date: string): string {
  return isWorkday(date) ? date : tradingDay(addDays(date, -1))
}

function positionsFrom(trades: readonly Trade[], instruments: readonly Instrument[]): Position[] {
  return instruments.flatMap(({ instrument, name, sector }) => {
    let shares = 0
    let cost = 0
    for (const { kind, quantity, price } of trades.filter((row) => row.instrument === instrument)) {
      if (kind === 'buy') {
        shares += quantity
        cost += quantity * price
      } else if (kind === 'sell') {
        cost -= Math.floor((cost * quantity) / shares)
        shares -= quantity
      }
    }
    return shares > 0 ? [{ instrument, name, sector, shares, reserved: 0, cost }] : []
  })
}

const openBuys = (orders: readonly TradeOrder[]): TradeOrder[] =>
  orders.filter(({ side, status }) => side === 'buy' && status === 'open')

/** Open limit and stop orders, which enter the books and reserve shares, and a history of filled and cancelled ones. */
function seedOrders(
  random: SeededRandom,
  instruments: readonly Instrument[],
  positions: Position[],
  trades: readonly Trade[],
  books: Map<string, Book>,
): TradeOrder[] {
  const numbers = twoDigitNumbers(random, 24)
  const make = (
    row: Instrument,
    prefix: Side | 'stop',
    kind: TradeOrder['kind'],
    status: TradeOrder['status'],
    quantity: number,
    price: number | null,
  ): TradeOrder => ({
    trade_order: `${prefix}-${numbers.pop()}`,
    instrument: row.instrument,
    name: row.name,
    side: prefix === 'stop' ? 'sell' : prefix,
    kind,
    quantity,
    open: status === 'filled' ? 0 : quantity,
    price,
    status,
  })
  const past = random.sample(
    trades.filter(({ kind }) => kind !== 'dividend'),
    7,
  )
  const rowOf = (key: string) => instruments.find(({ instrument }) => instrument === key)!
  const filled = past.map(({ instrument, kind, quantity, price }) => {
    const limit = random.chance(0.6)
    return make(rowOf(instrument), kind as Side, limit ? 'limit' : 'market', 'filled', quantity, limit ? price : null)
  })
  const cancelled = random
    .sample(instruments, 4)
    .map((row) => make(row, 'buy', 'limit', 'cancelled', row.lot * random.int(1, 12), row.reference - 4 * row.tick))
  const waiting: TradeOrder[] = []
  const rest = (row: Instrument, side: Side, lots: number) => {
    const book = books.get(row.instrument)!
    const { price } = random.pick(book[side].slice(0, 3))
    const order = make(row, side, 'limit', 'open', row.lot * lots, price)
    const { trade_order, quantity } = order
    books.set(row.instrument, { ...book, [side]: queue(book[side], side, { price, quantity, trade_order }) })
    waiting.push(order)
  }
  const hold = (key: string, quantity: number) => {
    const at = positions.findIndex(({ instrument }) => instrument === key)
    positions[at] = { ...positions[at]!, reserved: positions[at]!.reserved + quantity }
  }
  // Bids on what is not among the first positions, so that those can always be sold.
  rest(instruments[7]!, 'buy', random.int(2, 8))
  rest(random.pick(instruments.slice(12, 26)), 'buy', random.int(2, 8))
  if (random.chance(0.5)) rest(instruments[29]!, 'buy', random.int(1, 6))
  for (const row of instruments.slice(1, random.int(2, 3))) {
    const { shares } = positions.find(({ instrument }) => instrument === row.instrument)!
    // What is left of a position may be two lots: an order to sell never takes the last one.
    const lots = Math.min(random.int(1, 3), shares / row.lot - 1)
    rest(row, 'sell', lots)
    hold(row.instrument, row.lot * lots)
  }
  const guarded = instruments[3]!
  const { low } = bandOf(guarded)
  const stop = Math.max(low, guarded.last - guarded.tick * random.int(1, 3))
  waiting.push(make(guarded, 'stop', 'stop', 'open', guarded.lot * 2, stop))
  hold(guarded.instrument, guarded.lot * 2)
  return [...filled, ...cancelled, ...random.shuffle(waiting)]
}

/** Risk limits: one sector is nearly full, the others have room for some purchases. */
function seedSectors(
  random: SeededRandom,
  instruments: readonly Instrument[],
  positions: readonly Position[],
  orders: readonly TradeOrder[],
): Sector[] {
  const sectorOf = new Map(instruments.map(({ instrument, sector }) => [instrument, sector]))
  const tight = random.pick(SECTORS)
  return SECTORS.map((sector) => {
    const held = positions.reduce((sum, row) => sum + (row.sector === sector ? row.cost : 0), 0)
    const exposure = openBuys(orders).reduce(
      (sum, { instrument, open, price }) => sum + (sectorOf.get(instrument) === sector ? open * price! : 0),
      held,
    )
    const room = sector === tight ? random.int(4, 14) * 100 : random.int(60, 400) * 100
    return { sector, exposure, limit: Math.ceil((exposure + room) / 500) * 500 }
  })
}

function seedWatches(random: SeededRandom, instruments: readonly Instrument[]): Watch[] {
  return random.sample(instruments, random.int(4, 6)).map(({ instrument, name, last, tick }, i): Watch => {
    const direction = random.pick(['above', 'below'] as const)
    const away = (direction === 'above' ? 1 : -1) * tick * random.int(1, 6)
    // A fired alert is one that the last price has passed.
    return i === 0
      ? { instrument, name, direction, alert_price: last - away, status: 'fired' }
      : { instrument, name, direction, alert_price: last + away, status: 'armed' }
  })
}
