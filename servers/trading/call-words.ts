import type { CallWords } from '../kernel/define-environment.js'

/** By tool: what people are after who call it, and what they are told when it is done. */
export const callWords: Readonly<Record<string, CallWords>> = {
  search_instruments: {
    goal: 'look for a stock to invest in',
    answer: 'I found {found:stock}[: {instruments*{name} ({sector}) at {last} euros}].',
    wishes: ['find a company'],
  },
  get_quote: {
    goal: 'get a quote for a stock',
    answer: '{name} last traded at {last} euros[, with a bid of {bid}][ and an ask of {ask}]; trading is {market}.',
  },
  view_order_book: {
    goal: 'see the order book of a stock',
    answer: '{name} has these {@side} orders: {levels*{quantity:share} at {price} euros ({orders:order})}.',
  },
  place_trade_order: {
    goal: 'buy or sell shares',
    answer:
      'The order for {name} is {status}[: {filled:share} traded for {amount} euros][; {open:share} still to be traded]. Your buying power is {buying_power} euros.',
    // Whoever looks afterwards looks at what the order has changed.
    next: ['protect_position', 'add_to_watchlist'],
  },
  amend_trade_order: {
    goal: 'change a trade order',
    answer:
      'The order for {name} now has a limit of {@limit_price} euros and is {status}[: {filled:share} traded for {amount} euros][; {open:share} still to be traded]. Your buying power is {buying_power} euros.',
  },
  list_trade_orders: {
    goal: 'see my trade orders',
    answer:
      'You have {found:@status order}[: {orders*a {kind} order for {quantity:share} of {name}[ at {price} euros]}].',
  },
  cancel_trade_order: {
    goal: 'cancel a trade order',
    answer: 'The order for {name} is {status}. Your buying power is {buying_power} euros.',
    next: ['place_trade_order'],
  },
  protect_position: {
    goal: 'protect some of my shares with a stop order',
    answer:
      'A stop at {stop_price} euros now protects {@quantity} of your {name} shares[; {free:share} {free=is|are} not covered by any order].',
  },
  list_positions: {
    goal: 'see which shares I hold',
    answer:
      'You hold shares in {found:company}[: {positions*{name} with {shares:share}, {free} of them free to sell, worth {value} euros}].',
  },
  check_buying_power: {
    goal: 'see how much money I can invest',
    answer:
      'You have {cash} euros in cash[, {reserved:euro} of them reserved], so your buying power is {buying_power} euros.[ Invested by sector: {sectors*{exposure} of at most {limit} euros in {sector}}.]',
    wishes: ['see what money is there'],
  },
  list_trades: {
    goal: 'see my past trades in one particular stock',
    answer:
      'There {found=is|are} {found:entry} for {name}[: {trades*{kind} ({quantity:share} at {price:euro}, {date})}].',
    said: ['instrument'],
    wishes: ['list payments'],
  },
  add_to_watchlist: {
    goal: 'set a price alert',
    answer: '{name} is on your watchlist: the alert goes off once the price is {alert_price} euros or {direction}.',
    said: ['instrument'],
    checks: ['view_watchlist'],
  },
  view_watchlist: {
    goal: 'look at my watchlist',
    answer:
      'There {found=is|are} {found:@status alert} on your watchlist[: {watched*{name} at {alert_price} euros or {direction}}].',
  },
}
