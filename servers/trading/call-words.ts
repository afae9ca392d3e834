import type { CallWords } from '../kernel/define-server.js'

/** By tool: what people are after who call it, and what they are told when it is done. */
export const callWords: Readonly<Record<string, CallWords>> = {
  search_instruments: {
    goal: 'find some shares',
    answer: 'I found {found:instrument}[: {instruments*{name} ({sector}) at {last} euros}].',
  },
  get_quote: {
    goal: 'see what some shares trade at',
    answer: '{name} last traded at {last} euros[, with a bid of {bid}][ and an ask of {ask}]; the market is {market}.',
  },
  view_order_book: {
    goal: 'look at an order book',
    answer: 'In the book of {name}: {levels*{quantity} at {price} in {orders:order}}.',
  },
  place_trade_order: {
    goal: 'buy or sell shares',
    answer:
      'The order for {name} is {status}: {filled} filled, {open} still open. Your buying power is {buying_power} euros.',
    next: ['protect_position', 'add_to_watchlist'],
  },
  amend_trade_order: {
    goal: 'change a trade order',
    answer:
      'The order for {name} is changed and {status}: {filled} filled, {open} still open. Your buying power is {buying_power} euros.',
    next: ['add_to_watchlist'],
  },
  list_trade_orders: {
    goal: 'see my trade orders',
    answer: 'You have {found:@status order}[: {orders*{kind} for {quantity} of {name}[ at {price}]}].',
  },
  cancel_trade_order: {
    goal: 'cancel a trade order',
    answer: 'The order for {name} is {status}. Your buying power is {buying_power} euros.',
    next: ['place_trade_order'],
  },
  protect_position: {
    goal: 'protect some shares with a stop',
    answer: '{name} is protected by a stop at {stop_price}; {free:share} {free=is|are} still free.',
  },
  list_positions: {
    goal: 'see which shares I hold',
    answer: 'You hold {found:position}[: {positions*{shares} of {name}, {free} of them free, worth {value} euros}].',
  },
  check_buying_power: {
    goal: 'see how much money I can invest',
    answer:
      'You have {cash} euros in cash, {reserved} of them reserved, so your buying power is {buying_power} euros.[ By sector: {sectors*{sector} {exposure} of {limit}}.]',
  },
  list_trades: {
    goal: 'see my past trades in something',
    answer: 'There {found=is|are} {found:trade} in {name}[: {trades*{kind} of {quantity} at {price} on {date}}].',
  },
  add_to_watchlist: {
    goal: 'set a price alert',
    answer: '{name} is on your watchlist: the alert goes off at {alert_price} from {direction}.',
  },
  view_watchlist: {
    goal: 'look at my watchlist',
    answer: 'There {found=is|are} {found:@status alert}[: {watched*{name} {direction} {alert_price}}].',
  },
}
