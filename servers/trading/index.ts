import { defineEnvironment } from '../kernel/define-environment.js'
import { domainRules } from './domain-rules.js'
import { tradingInvariants } from './invariants.js'
import { failures, tables } from './schema.js'
import { seedTrading } from './seed.js'
import { marketTools } from './tools/market.js'
import { openOrderTools } from './tools/open-orders.js'
import { orderTools } from './tools/orders.js'
import { portfolioTools } from './tools/portfolio.js'
import { watchlistTools } from './tools/watchlist.js'

/** One customer's portfolio at a broker: order books that match by price and time, stops, halts, sector limits, alerts. */
export const trading = defineEnvironment({
  name: 'trading',
  title: 'Trading',
  description:
    'Shares, quotes, order books, orders, positions and a watchlist of one customer of a broker. Prices in EUR.',
  tables,
  entities: {
    instrument: { noun: 'stock', table: 'instruments', label: 'name' },
    trade_order: { noun: 'order', table: 'trade_orders', label: 'name', compared: { price: 'lowest' } },
  },
  failures,
  tools: [...marketTools, ...orderTools, ...openOrderTools, ...portfolioTools, ...watchlistTools],
  invariants: tradingInvariants,
  domainRules,
  seed: seedTrading,
})
