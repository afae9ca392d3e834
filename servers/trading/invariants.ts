import { isWorkday } from '../kernel/dates.js'
import type { Invariant } from '../kernel/define-environment.js'
import { sharesAhead } from './matching.js'
import { ACCOUNT, isReached, LIMITS, lotObstacle, priceObstacle } from './rules.js'
import {
  type Entry,
  SIDES,
  type Side,
  type Trade,
  type TradeOrder,
  type TradingTables,
  type TradingView,
} from './schema.js'

type TradingInvariant = Invariant<TradingTables>

const sum = <R>(rows: readonly R[], value: (row: R) => number): number =>
  rows.reduce((total, row) => total + value(row), 0)

const signed = ({ kind, quantity }: Trade): number => (kind === 'dividend' ? 0 : kind === 'buy' ? quantity : -quantity)

const cashIsConserved: TradingInvariant = {
  name: 'cash has moved by exactly what the trades since then cost and brought',
  check(now, seed) {
    const spent = (db: TradingView) => sum(db.trades.list(), (row) => signed(row) * row.price)
    const expected = seed.account.get(ACCOUNT)!.cash + spent(seed) - spent(now)
    const { cash } = now.account.get(ACCOUNT)!
    return cash === expected ? undefined : `cash is ${cash}, expected ${expected}`
  },
}

const positionsAreTraded: TradingInvariant = {
  name: 'every position is what was bought less what was sold, and never short',
  check(now) {
    const wrong = now.instruments.find(
      ({ instrument }) =>
        sum(now.trades.by('instrument', instrument), signed) !== (now.positions.get(instrument)?.shares ?? 0),
    )
    return wrong && `${wrong.instrument} has ${now.positions.get(wrong.instrument)?.shares ?? 0} shares`
  },
}

const others = (entries: readonly Entry[]): number =>
  sum(entries, ({ trade_order, quantity }) => (trade_order === null ? quantity : 0))

const sharesComeFromTheBook: TradingInvariant = {
  name: "every share that was traded has left somebody else's order in the book",
  check(now, seed) {
    for (const { instrument, buy, sell } of now.books.list()) {
      const traded = (kind: Side) => {
        const of = (db: TradingView) =>
          sum(db.trades.by('instrument', instrument), (row) => (row.kind === kind ? row.quantity : 0))
        return of(now) - of(seed)
      }
      const before = seed.books.get(instrument)!
      if (others(before.sell) - others(sell) !== traded('buy')) return `${instrument}: purchases and offers disagree`
      if (others(before.buy) - others(buy) !== traded('sell')) return `${instrument}: sales and bids disagree`
    }
    return undefined
  },
}

const booksAreSound: TradingInvariant = {
  name: 'no book is crossed, and both sides stand best price first',
  check(now) {
    for (const { instrument, buy, sell } of now.books.list()) {
      if (buy[0] && sell[0] && buy[0].price >= sell[0].price) return `${instrument} is crossed`
      if (buy.some(({ price }, i) => i > 0 && price > buy[i - 1]!.price)) return `bids of ${instrument} out of order`
      if (sell.some(({ price }, i) => i > 0 && price < sell[i - 1]!.price))
        return `offers of ${instrument} out of order`
    }
    return undefined
  },
}

const ordersStandInTheBook: TradingInvariant = {
  name: 'an open limit order stands in the book exactly once, with its price and open shares, and nothing else of ours does',
  check(now) {
    const resting = now.trade_orders.list(({ kind, status }) => kind === 'limit' && status === 'open')
    const mine = now.books
      .list()
      .flatMap((book) =>
        SIDES.flatMap((side) => book[side].map((entry) => ({ ...entry, side, instrument: book.instrument }))),
      )
      .filter(({ trade_order }) => trade_order !== null)
    if (mine.length !== resting.length) return `${mine.length} entries for ${resting.length} orders`
    const lost = resting.find(
      (order) =>
        !mine.some(
          ({ trade_order, instrument, side, price, quantity }) =>
            trade_order === order.trade_order &&
            instrument === order.instrument &&
            side === order.side &&
            price === order.price &&
            quantity === order.open,
        ),
    )
    return lost && `${lost.trade_order} is not in the book as it says`
  },
}

const isOpenOn = (side: Side) => (order: TradeOrder) => order.status === 'open' && order.side === side

const reservationsAgree: TradingInvariant = {
  name: 'reserved cash and shares are those of the open orders, and never more than there are',
  check(now) {
    const { cash, reserved } = now.account.get(ACCOUNT)!
    const buys = sum(now.trade_orders.list(isOpenOn('buy')), ({ open, price }) => open * price!)
    if (reserved !== buys || reserved > cash) return `${reserved} EUR reserved, ${buys} by orders, of ${cash}`
    const sells = now.trade_orders.list(isOpenOn('sell'))
    const short = sells.find(({ instrument }) => !now.positions.has(instrument))
    if (short) return `${short.trade_order} sells what is not held`
    const wrong = now.positions.find(
      (row) =>
        row.reserved > row.shares ||
        row.reserved !== sum(sells, ({ instrument, open }) => (instrument === row.instrument ? open : 0)),
    )
    return wrong && `${wrong.instrument} has ${wrong.reserved} of ${wrong.shares} reserved`
  },
}

const sectorsStayInLimits: TradingInvariant = {
  name: 'a sector counts what its positions cost and its open orders may cost, and stays within its risk limit',
  check(now) {
    const orders = now.trade_orders.list(isOpenOn('buy'))
    const wrong = now.sectors.find(({ sector, exposure, limit }) => {
      const held = sum(now.positions.by('sector', sector), ({ cost }) => cost)
      const waiting = orders.filter(({ instrument }) => now.instruments.get(instrument)!.sector === sector)
      return exposure > limit || exposure !== held + sum(waiting, ({ open, price }) => open * price!)
    })
    return wrong && `${wrong.sector}: ${wrong.exposure} of ${wrong.limit}`
  },
}

const ordersLiveForward: TradingInvariant = {
  name: 'an order that was filled or cancelled stays so, and only a filled one has nothing open',
  check(now, seed) {
    const revived = seed.trade_orders.find(
      ({ trade_order, status }) => status !== 'open' && now.trade_orders.get(trade_order)?.status !== status,
    )
    if (revived) return `${revived.trade_order} was ${revived.status}`
    const wrong = now.trade_orders.find(
      ({ status, open, quantity }) => (status === 'filled') !== (open === 0) || open > quantity,
    )
    return wrong && `${wrong.trade_order} is ${wrong.status} with ${wrong.open} open`
  },
}

const ordersFitTheMarket: TradingInvariant = {
  name: 'open orders keep to lots, ticks, the price band and their number',
  check(now) {
    const open = now.trade_orders.list(({ status }) => status === 'open')
    if (open.length > LIMITS.openOrders) return `${open.length} open orders`
    const wrong = open.find(({ instrument, open: quantity, price }) => {
      const row = now.instruments.get(instrument)!
      return lotObstacle(row, quantity) !== undefined || priceObstacle(row, price!) !== undefined
    })
    return wrong && `${wrong.trade_order}: ${wrong.open} at ${wrong.price}`
  },
}

const nothingIsOverdue: TradingInvariant = {
  name: 'no stop waits at a price that was reached unless trading is halted, and no armed alert was reached',
  check(now) {
    const alert = now.watches.find(
      (watch) => watch.status === 'armed' && isReached(watch, now.instruments.get(watch.instrument)!.last),
    )
    if (alert) return `the alert on ${alert.instrument} should have fired`
    if (now.watches.count(({ status }) => status === 'armed') > LIMITS.armedAlerts) return 'too many armed alerts'
    const stop = now.trade_orders.find(({ kind, status, instrument, price }) => {
      const row = now.instruments.get(instrument)!
      return kind === 'stop' && status === 'open' && row.status === 'trading' && price! >= row.last
    })
    return stop && `${stop.trade_order} should have been triggered`
  },
}

const haltsLast: TradingInvariant = {
  name: 'a halted instrument stays halted, and one halted from the start has not traded',
  check(now, seed) {
    const wrong = seed.instruments.find(({ instrument, status, last }) => {
      const row = now.instruments.get(instrument)!
      return status === 'halted' && (row.status !== 'halted' || row.last !== last)
    })
    return wrong && `${wrong.instrument} traded`
  },
}

const exchangesRest: TradingInvariant = {
  name: 'nothing was traded on a Saturday or Sunday',
  check: (now) => now.trades.find(({ date }) => !isWorkday(date))?.trade,
}

const timePriorityHolds: TradingInvariant = {
  name: 'an order of ours has never overtaken those that stood before it at its price',
  check(now, seed) {
    for (const { trade_order, instrument, side, price } of seed.trade_orders.list(({ kind }) => kind === 'limit')) {
      const order = now.trade_orders.get(trade_order)!
      if (order.status !== 'open' || order.price !== price) continue
      const level = (db: TradingView) =>
        db.books
          .get(instrument)!
          [side].filter((entry) => entry.price === price && (entry.trade_order ?? trade_order) === trade_order)
      if (others(level(now)) !== others(level(seed))) continue
      if (sharesAhead(level(now), trade_order) < sharesAhead(level(seed), trade_order))
        return `${trade_order} jumped the queue`
    }
    return undefined
  },
}

export const tradingInvariants = [
  cashIsConserved,
  positionsAreTraded,
  sharesComeFromTheBook,
  booksAreSound,
  ordersStandInTheBook,
  reservationsAgree,
  sectorsStayInLimits,
  ordersLiveForward,
  ordersFitTheMarket,
  nothingIsOverdue,
  haltsLast,
  timePriorityHolds,
  exchangesRest,
]
