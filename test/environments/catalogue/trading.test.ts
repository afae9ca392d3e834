import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { dependencyGraph } from '../../../servers/kernel/dependency-graph.js'
import { generateSeedState, Session } from '../../../servers/kernel/session.js'
import { trading } from '../../../servers/trading/index.js'
import { match, queue } from '../../../servers/trading/matching.js'
import { buyingPower, freeShares, isExtreme, LIMITS, tradingObstacle } from '../../../servers/trading/rules.js'
import type { Entry, Instrument, Side, TradeOrder, TradingView } from '../../../servers/trading/schema.js'
import { checkEnvironmentContract } from '../../support/environment-contract.js'
import { succeed } from '../../support/session-calls.js'

const marketOf = (session: Session) => session.db as unknown as TradingView
const open = (seed: number) => Session.open(generateSeedState(trading, seed))
const order = (session: Session, fits: (row: TradeOrder) => boolean) => marketOf(session).trade_orders.find(fits)!
const book = (session: Session, { instrument }: Instrument) => marketOf(session).books.get(instrument)!

/** The first instrument that trades now, is held by nobody's open order of ours, and fits. */
function traded(session: Session, fits: (row: Instrument) => boolean = () => true): Instrument {
  const db = marketOf(session)
  return db.instruments.find(
    (row) =>
      !tradingObstacle(db, session.now(), row) &&
      !db.trade_orders.find(({ instrument, status }) => status === 'open' && instrument === row.instrument) &&
      fits(row),
  )!
}

const held = (session: Session, fits: (row: Instrument) => boolean = () => true) =>
  traded(session, (row) => freeShares(marketOf(session), row.instrument) >= 3 * row.lot && fits(row))
const roomy = (session: Session) =>
  traded(session, ({ sector, last, lot }) => {
    const { limit, exposure } = marketOf(session).sectors.get(sector)!
    return limit - exposure > 4 * last * lot
  })
const place = ({ instrument }: Instrument, side: Side, quantity: number, limit_price?: number) =>
  ['place_trade_order', { instrument, side, quantity, ...(limit_price === undefined ? {} : { limit_price }) }] as const
const protect = ({ instrument }: Instrument, quantity: number, stop_price: number) =>
  ['protect_position', { instrument, quantity, stop_price }] as const
const watch = ({ instrument }: Instrument, alert_price: number) =>
  ['add_to_watchlist', { instrument, alert_price }] as const
const unwatched = (session: Session) =>
  marketOf(session).instruments.find(({ instrument }) => !marketOf(session).watches.has(instrument))!

checkEnvironmentContract(trading, {
  sampleFloor: 1,
  provoke: {
    unknown_instrument: () => ['get_quote', { instrument: 'acme-rockets' }],
    unknown_trade_order: () => ['cancel_trade_order', { trade_order: 'buy-7' }],
    market_closed: (s) => {
      const row = marketOf(s).instruments.find(({ venue }) => venue === 'pacific')!
      return place(row, 'buy', row.lot)
    },
    instrument_halted: (s) => {
      const row = marketOf(s).instruments.find(
        ({ status, venue }) => status === 'halted' && ['harbor', 'baltic'].includes(venue),
      )!
      return place(row, 'buy', row.lot)
    },
    bad_lot: (s) => {
      const row = traded(s, ({ lot }) => lot > 1)
      return place(row, 'buy', row.lot + 1)
    },
    bad_tick: (s) => {
      const row = traded(s, ({ tick }) => tick > 1)
      return place(row, 'buy', row.lot, row.reference + 1)
    },
    price_out_of_band: (s) => {
      const row = traded(s)
      return place(row, 'buy', row.lot, row.tick * Math.ceil((row.reference * 1.16) / row.tick))
    },
    insufficient_buying_power: (s) => {
      const row = traded(s)
      return place(
        row,
        'buy',
        row.lot * Math.ceil((buyingPower(marketOf(s)) + 1) / (row.lot * row.reference)),
        row.reference,
      )
    },
    insufficient_shares: (s) => {
      const row = held(s)
      return place(row, 'sell', freeShares(marketOf(s), row.instrument) + row.lot, row.last + row.tick)
    },
    no_liquidity: (s) => {
      const row = traded(s)
      const offered = book(s, row).sell.reduce((sum, { quantity }) => sum + quantity, 0)
      return place(row, 'buy', offered + row.lot)
    },
    self_match: (s) => {
      const row = roomy(s)
      const best = book(s, row).sell[0]!.price
      const held = succeed(s, ...place(row, 'buy', row.lot)).status === 'filled'
      assert.ok(held)
      succeed(s, ...place(row, 'sell', row.lot, best))
      return place(
        row,
        'buy',
        book(s, row).sell.reduce((sum, { quantity }) => sum + quantity, 0),
      )
    },
    sector_limit_exceeded: (s) => {
      const db = marketOf(s)
      const { sector, limit, exposure } = db.sectors
        .list()
        .sort((a, b) => a.limit - a.exposure - (b.limit - b.exposure))[0]!
      const row = traded(s, (candidate) => candidate.sector === sector)
      return place(row, 'buy', row.lot * Math.ceil((limit - exposure + 1) / (row.lot * row.reference)), row.reference)
    },
    too_many_open_orders: (s) => {
      const row = held(s)
      while (marketOf(s).trade_orders.by('status', 'open').length < LIMITS.openOrders)
        succeed(s, ...place(roomy(s), 'buy', roomy(s).lot, book(s, roomy(s)).buy[0]!.price))
      return protect(row, row.lot, row.last - row.tick)
    },
    order_not_open: (s) => [
      'cancel_trade_order',
      { trade_order: order(s, (row) => row.status === 'filled').trade_order },
    ],
    not_a_limit_order: (s) => {
      const { trade_order, price } = order(s, (row) => row.kind === 'stop')
      return ['amend_trade_order', { trade_order, limit_price: price }]
    },
    nothing_amended: (s) => {
      const { trade_order, price } = order(s, (row) => row.kind === 'limit' && row.status === 'open')
      return ['amend_trade_order', { trade_order, limit_price: price }]
    },
    stop_not_below_market: (s) => protect(held(s), held(s).lot, held(s).last),
    already_watched: (s) => {
      succeed(s, ...watch(unwatched(s), unwatched(s).last + 7))
      const { instrument, alert_price } = marketOf(s).watches.find(({ status }) => status === 'armed')!
      return ['add_to_watchlist', { instrument, alert_price }]
    },
    watchlist_full: (s) => {
      while (marketOf(s).watches.count(({ status }) => status === 'armed') < LIMITS.armedAlerts)
        succeed(s, ...watch(unwatched(s), unwatched(s).last - 7))
      return watch(unwatched(s), unwatched(s).last - 7)
    },
    alert_at_market: (s) => watch(unwatched(s), unwatched(s).last),
  },
})

const entry = (price: number, quantity: number, trade_order: string | null = null): Entry => ({
  price,
  quantity,
  trade_order,
})

test('an order trades at the best price first and, within a price, with who came first', () => {
  const offers = [entry(50, 10), entry(50, 30), entry(52, 20), entry(55, 5)]
  const { fills, left, unfilled } = match(offers, 'buy', 45, 54)
  assert.equal(fills, [
    { price: 50, quantity: 40 },
    { price: 52, quantity: 5 },
  ])
  assert.equal(left, [entry(52, 15), entry(55, 5)])
  assert.is(unfilled, 0)
  assert.is(match(offers, 'buy', 100, 52).unfilled, 40)
  assert.is(match([entry(50, 10)], 'sell', 10, 51).unfilled, 10)
})

test('an order joins the book behind those of its price and before worse ones', () => {
  const mine = entry(50, 5, 'buy-42')
  assert.equal(queue([entry(51, 1), entry(50, 2), entry(49, 3)], 'buy', mine), [
    entry(51, 1),
    entry(50, 2),
    mine,
    entry(49, 3),
  ])
  assert.equal(queue([entry(49, 1), entry(50, 2)], 'sell', mine), [entry(49, 1), entry(50, 2), mine])
})

test('a purchase at market pays the offers in the book and leaves them shorter', () => {
  const session = open(3)
  const row = roomy(session)
  const [best] = book(session, row).sell
  const before = marketOf(session).account.get('portfolio')!.cash
  const stated = succeed(session, ...place(row, 'buy', row.lot))
  assert.is(stated.status, 'filled')
  assert.is(stated.amount, row.lot * best!.price)
  assert.is(marketOf(session).account.get('portfolio')!.cash, before - row.lot * best!.price)
  assert.is(succeed(session, 'get_quote', { instrument: row.instrument }).last, best!.price)
  const { trades } = succeed(session, 'list_trades', { instrument: row.instrument, kind: 'buy' }) as {
    trades: unknown[]
  }
  assert.equal(trades[0], { kind: 'buy', quantity: row.lot, price: best!.price, date: '2026-03-02' })
})

test('an order that waits reserves its cash, and gives it back when it is cancelled', () => {
  const session = open(4)
  const row = roomy(session)
  const power = buyingPower(marketOf(session))
  const { price } = book(session, row).buy[0]!
  const stated = succeed(session, ...place(row, 'buy', 2 * row.lot, price))
  assert.is(stated.status, 'open')
  assert.is(stated.filled, 0)
  assert.is(stated.buying_power, power - 2 * row.lot * price)
  const behind = book(session, row)
    .buy.filter((other) => other.price === price && other.trade_order === null)
    .reduce((sum, { quantity }) => sum + quantity, 0)
  assert.is(stated.ahead, behind)
  assert.is(succeed(session, 'cancel_trade_order', { trade_order: stated.trade_order }).buying_power, power)
  assert.is(session.call('cancel_trade_order', { trade_order: stated.trade_order }).ok, false)
})

test('a limit order that crosses the spread trades what it can and rests with what is left', () => {
  const session = open(5)
  const row = held(session)
  const [best] = book(session, row).buy
  const level = book(session, row)
    .buy.filter(({ price }) => price === best!.price)
    .reduce((sum, { quantity }) => sum + quantity, 0)
  const free = freeShares(marketOf(session), row.instrument)
  const quantity = Math.min(level + row.lot, free)
  const stated = succeed(session, ...place(row, 'sell', quantity, best!.price))
  assert.is(stated.filled, Math.min(level, quantity))
  assert.is(stated.amount, (stated.filled as number) * best!.price)
  assert.is(freeShares(marketOf(session), row.instrument), free - quantity)
  assert.is(book(session, row).sell[0]?.trade_order ?? null, (stated.open as number) > 0 ? stated.trade_order : null)
})

test('an amendment to fewer shares keeps the place in the book, one to another price loses it and may trade', () => {
  const session = open(6)
  const row = roomy(session)
  const { price } = book(session, row).buy[0]!
  const first = succeed(session, ...place(row, 'buy', 2 * row.lot, price))
  const later = succeed(session, ...place(row, 'buy', row.lot, price))
  assert.is(later.ahead, (first.ahead as number) + 2 * row.lot)
  const trade_order = first.trade_order
  const less = succeed(session, 'amend_trade_order', { trade_order, limit_price: price, quantity: row.lot })
  assert.is(less.ahead, first.ahead)
  const away = succeed(session, 'amend_trade_order', { trade_order, limit_price: price - row.tick })
  assert.ok((away.ahead as number) > (less.ahead as number))
  const back = succeed(session, 'amend_trade_order', { trade_order, limit_price: price })
  assert.is(back.ahead, (first.ahead as number) + row.lot, 'it stands behind the later order now')
  const [ask] = book(session, row).sell
  const crossed = succeed(session, 'amend_trade_order', { trade_order, limit_price: ask!.price })
  assert.is(crossed.status, 'filled')
  assert.is(crossed.amount, row.lot * ask!.price)
})

/** Seeds differ in how deep their books are: finds one in which selling through the best bid neither halts nor empties it. */
function sellThrough(fits: (session: Session, row: Instrument, second: number, level: number) => boolean) {
  for (let seed = 1; seed <= 60; seed++) {
    const session = open(seed)
    const row = held(session, (candidate) => {
      const { buy } = book(session, candidate)
      const level = buy.filter(({ price }) => price === buy[0]!.price).reduce((sum, { quantity }) => sum + quantity, 0)
      const second = buy.find(({ price }) => price < buy[0]!.price)?.price
      return second !== undefined && fits(session, candidate, second, level)
    })
    if (row) {
      const { buy } = book(session, row)
      const level = buy.filter(({ price }) => price === buy[0]!.price).reduce((sum, { quantity }) => sum + quantity, 0)
      return { session, row, level, second: buy.find(({ price }) => price < buy[0]!.price)!.price }
    }
  }
  throw new Error('no seed has such a book')
}

test('a sale that drives the price down triggers the stop below it and fires the alert', () => {
  const { session, row, level, second } = sellThrough(
    (s, { instrument, lot, reference, last }, second, level) =>
      freeShares(marketOf(s), instrument) >= level + 3 * lot &&
      !marketOf(s).watches.has(instrument) &&
      second > reference * 0.96 &&
      second < last,
  )
  const stop = succeed(session, ...protect(row, row.lot, second))
  succeed(session, ...watch(row, second))
  const stated = succeed(session, ...place(row, 'sell', level + row.lot))
  assert.is(stated.stops_triggered, 1)
  assert.is(stated.alert_fired, true)
  assert.is(marketOf(session).trade_orders.get(stop.trade_order as string)?.status, 'filled')
  const fired = succeed(session, 'view_watchlist', { status: 'fired' }).watched as { instrument: string }[]
  assert.ok(fired.some(({ instrument }) => instrument === row.instrument))
  assert.equal(session.violations(), [])
})

test('a trade too far from the opening price halts the instrument, and stops then wait', () => {
  for (let seed = 1; seed <= 60; seed++) {
    const session = open(seed)
    const db = marketOf(session)
    const row = held(session, (candidate) => {
      const { buy } = book(session, candidate)
      const deep = buy.findIndex(({ price }) => isExtreme(candidate, price))
      const needed = buy.slice(0, deep).reduce((sum, { quantity }) => sum + quantity, 0)
      return deep > 0 && freeShares(db, candidate.instrument) >= needed + 2 * candidate.lot
    })
    if (!row) continue
    const { buy } = book(session, row)
    const deep = buy.findIndex(({ price }) => isExtreme(row, price))
    const needed = buy.slice(0, deep).reduce((sum, { quantity }) => sum + quantity, 0)
    const stop = succeed(session, ...protect(row, row.lot, buy[deep]!.price))
    const stated = succeed(session, ...place(row, 'sell', needed + row.lot))
    assert.is(stated.halted, true)
    assert.is(stated.stops_triggered, undefined)
    assert.is(db.trade_orders.get(stop.trade_order as string)?.status, 'open')
    assert.is(succeed(session, 'get_quote', { instrument: row.instrument }).market, 'halted')
    const again = session.call(...place(row, 'sell', row.lot))
    assert.is(!again.ok && again.code, 'instrument_halted')
    succeed(session, 'cancel_trade_order', { trade_order: stop.trade_order })
    assert.equal(session.violations(), [])
    return
  }
  throw new Error('no seed has a book that deep')
})

test('an exchange that opens at 09:10 refuses orders until enough has been done', () => {
  const session = open(8)
  const db = marketOf(session)
  const row = db.instruments.find(({ venue, status }) => venue === 'atlantic' && status === 'trading')!
  const attempt = place(row, 'buy', row.lot, book(session, row).buy[0]!.price)
  const early = session.call(...attempt)
  assert.is(!early.ok && early.code, 'market_closed')
  for (let minute = 0; minute < 5; minute++) {
    const { instrument, lot } = roomy(session)
    const { price } = db.books.get(instrument)!.buy[0]!
    const { trade_order } = succeed(session, 'place_trade_order', {
      instrument,
      side: 'buy',
      quantity: lot,
      limit_price: price,
    })
    succeed(session, 'cancel_trade_order', { trade_order })
  }
  assert.is(succeed(session, 'get_quote', { instrument: row.instrument }).market, 'open')
  const now = session.call(...attempt)
  assert.ok(now.ok || now.code !== 'market_closed')
})

test('a name finds exactly one instrument, its first word two', () => {
  for (let seed = 1; seed <= 10; seed++) {
    const session = open(seed)
    for (const { name } of marketOf(session).instruments.list()) {
      assert.is(succeed(session, 'search_instruments', { query: name }).found, 1)
      assert.is(succeed(session, 'search_instruments', { query: name.split(' ')[0] }).found, 2)
    }
  }
})

test('every tool is connected to the others', () => {
  const { edges } = dependencyGraph(trading)
  for (const { name } of trading.tools)
    assert.ok(
      edges.some(({ from, to }) => from === name || to === name),
      name,
    )
})

test('an open order never sells more than is held, even where most of the position was sold before', () => {
  for (const seed of [258983697, 2231070665, 1282763371, 3605815146]) assert.equal(open(seed).violations(), [])
})

test.run()
