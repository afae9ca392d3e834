import type { WaysToAsk } from '../kernel/ways-to-ask.js'

/** By tool: how else people ask for it. */
export const waysToAsk: Readonly<Record<string, WaysToAsk>> = {
  search_instruments: {
    clauses: [
      'look through the stocks for "{query}"[ at {max_price} or less]',
      '(pull|bring) up "{query}" on the exchange[, at most {max_price} a share]',
      '(see|check) if there are any shares in "{query}"[ for up to {max_price} each]',
      'let me see what is listed as "{query}"[ up to {max_price} a share]',
      'tell me which stocks go by "{query}"[ and cost {max_price} or less]',
      'check the market for "{query}"[, up to {max_price} a share]',
    ],
    goals: ['find something to invest in', 'look around on the stock market', 'see what I could put money into'],
  },
  get_quote: {
    clauses: [
      '(tell me|find out) what a share of {instrument} costs',
      '(pull|bring) up the price of {instrument}',
      'let me know where {instrument} stands',
      'give me the price of {instrument}',
      'tell me what I would get or pay for {instrument}',
      'see how {instrument} is trading',
      'look at the market price of {instrument}',
      'get me the latest price of {instrument}',
    ],
    goals: ['know what a share costs', 'check the price of a stock', 'see how a stock is doing'],
  },
  view_order_book: {
    clauses: [
      '(let me see|pull up) what is on the {side} side of the order book for {instrument}',
      'go through the {side} orders on {instrument}',
      'give me the {side} side of the book on {instrument}',
      '(check|look at) the book of {instrument} on the {side} side',
      'find out at what prices people are looking to {side} {instrument}',
      'see how deep the {side} side of {instrument} is',
      'get me the open {side} orders in the book of {instrument}',
      'list what there is on the {side} side for {instrument}',
    ],
    goals: ['see what others would pay or take', 'look at the order book', 'check the order book of a stock'],
  },
  place_trade_order: {
    clauses: [
      '(send|enter) an order to {side} {quantity} shares of {instrument}[ limited to {limit_price}]',
      'tell the broker to {side} {quantity} shares of {instrument}[, with {limit_price} as the limit price]',
      'set up an order to {side} {quantity} shares of {instrument}[ with {limit_price} as the limit]',
      'use my account to {side} {quantity} shares of {instrument}[, limit {limit_price}]',
      'get my broker to {side} {quantity} shares of {instrument}[ at a limit of {limit_price}]',
      'open a {side} order on {quantity} shares of {instrument}[ and limit it to {limit_price}]',
    ],
    goals: ['trade some shares', 'place an order with my broker', 'put an order on the market'],
  },
  amend_trade_order: {
    clauses: [
      'put the limit for {trade_order} at {limit_price}[ and the quantity at {quantity} shares]',
      'adjust {trade_order} to a limit of {limit_price}[ and a quantity of {quantity} shares]',
      'update {trade_order} so that its limit is {limit_price}[ and it is for {quantity} shares]',
      'give {trade_order} a limit of {limit_price}[ and take it down to {quantity} shares]',
      'modify {trade_order}: new limit {limit_price}[, new quantity {quantity} shares]',
    ],
    goals: [
      'adjust one of my orders with the broker',
      'give an order a different limit',
      'change the terms of a trade order',
    ],
  },
  list_trade_orders: {
    clauses: [
      '(let me see|pull up) my {status} orders on the market[, just the {side} orders]',
      'tell me which of my orders are {status}[ on the {side} side]',
      '(check|see) which of my trade orders are {status}[, just the {side} orders]',
      'give me my {status} trade orders[, only the {side} orders]',
      'get me the {status}[ {side}] orders I placed with the broker',
      'find out what {status} trade orders I have[, the {side} side only]',
      'look over my {status} trade orders[, {side} only]',
    ],
    goals: [
      'know where my orders with the broker stand',
      'look over my trade orders',
      'check on my orders on the market',
    ],
  },
  cancel_trade_order: {
    clauses: [
      '(stop|drop|kill) {trade_order}',
      'make sure that {trade_order} is not carried out',
      'get {trade_order} off the market',
      'have {trade_order} cancelled',
      'tell the broker that {trade_order} is off',
    ],
    goals: ['stop one of my orders on the market', 'withdraw an order from the market', 'call off an order'],
  },
  protect_position: {
    clauses: [
      '(put|set) a stop loss at {stop_price} under {quantity} shares of {instrument}',
      'limit what I can lose on {quantity} shares of {instrument} with a stop at {stop_price}',
      'enter a stop at {stop_price} on {quantity} shares of {instrument}',
      'use a stop order to sell {quantity} shares of {instrument} as soon as the price falls to {stop_price}',
      'sell {quantity} shares of {instrument} automatically if the price falls to {stop_price}',
    ],
    goals: ['limit what I can lose on a stock', 'put a stop under some shares', 'protect my shares against a drop'],
  },
  list_positions: {
    clauses: [
      '(let me see|pull up) what shares I own[ in {sector}]',
      'tell me how my portfolio looks[ in the {sector} sector]',
      '(check|see) what I have invested in[ {sector}]',
      'give me my holdings[ in the {sector} sector]',
      'get me an overview of my portfolio[, only {sector}]',
      'go through the shares I have[ in the {sector} sector]',
      'find out what my[ {sector}] shares are worth',
      'look over my investments[ in {sector}]',
    ],
    goals: ['know what my shares are worth', 'look over my portfolio', 'check what I am invested in'],
  },
  check_buying_power: {
    clauses: [
      '(let me know|find out) how much I can invest',
      'tell me how much I could put into shares',
      'see what cash there is for trading',
      'tell me how much money I have for trading',
      'look at what I can still spend on the market',
      'tell me how much I may put into each sector',
      'show me my free cash at the broker',
      'check the cash I have with the broker',
    ],
    goals: [
      'know what I could spend on the market',
      'see what cash I have for trading',
      'find out how much I may invest',
    ],
  },
  list_trades: {
    clauses: [
      '(let me see|bring up) my past transactions in {instrument}[, only the {kind} entries]',
      'go through my history with {instrument}[, {kind} entries only]',
      'see what I have done with {instrument}[, only the {kind} entries]',
      'give me the history of {instrument} in my account[, only {kind} entries]',
      'get me every entry on {instrument}[, {kind} entries only]',
    ],
    goals: ['look back at what I did with a stock', 'know when I traded a stock', 'check my history with a stock'],
  },
  add_to_watchlist: {
    clauses: [
      '(tell|warn) me when {instrument} gets to {alert_price}',
      'have an alert go off once {instrument} is at {alert_price}',
      'put an alert at {alert_price} on {instrument}',
      'follow {instrument} for me, with an alert at {alert_price}',
      'make sure I hear when {instrument} is at {alert_price}',
      'add {instrument} to the stocks I watch, with an alert at {alert_price}',
      'send me an alert for {instrument} at {alert_price}',
    ],
    goals: ['hear when a stock reaches a certain price', 'watch a stock', 'put an alert on a stock'],
  },
  view_watchlist: {
    clauses: [
      '(let me see|pull up) my {status} alerts',
      'give me the {status} alerts from my watchlist',
      'check my watchlist for {status} alerts',
      'find out which of my price alerts are {status}',
      'see which of my alerts are {status}',
    ],
    goals: ['know where my alerts stand', 'look through the stocks I watch', 'check my price alerts'],
  },
}
