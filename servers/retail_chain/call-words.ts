import type { CallWords } from '../kernel/define-environment.js'

/** By tool: what people are after who call it, and what they are told when it is done. */
export const callWords: Readonly<Record<string, CallWords>> = {
  find_stores: {
    goal: 'find our stores in a city',
    answer: 'There {found=is|are} {found:store} in {@city}[: {stores*{name}, {address}, open {opens} to {closes}}].',
    said: ['city'],
    elsewhere: ['maps:plan_route', 'maps:get_travel_time', 'vehicle:save_destination'],
    wishes: ['find a place'],
  },
  search_articles: {
    goal: 'look up an article',
    answer:
      'I found {found:article}[: {articles*{title} for {price} in packs of {pack}, {warehouse} in the warehouse}].',
    wishes: ['find goods'],
  },
  check_stock: {
    goal: 'check which stores have an article',
    answer:
      '{found:store} {found=has|have} {title}[: {stores*{name} ({available} at {price} each)}].[ Some are put aside for {kept_for*{customer_name}}.]',
    wishes: ['find goods'],
  },
  show_store: {
    goal: 'check how a store is doing',
    answer:
      '{name} is {open_now?open|closed} now. It is short of {low_articles:article}[: {low*{title} ({on_hand} left)}], and {open_shipments:shipment} {open_shipments=is|are} on the way[: {shipments*{title}, due {due}}].',
    wishes: ['see what a place offers'],
  },
  transfer_stock: {
    goal: 'send something from one of our stores to another',
    answer: '{quantity} of {title} {quantity=is|are} on the way and should be there on {due}.',
    checks: [],
  },
  reorder_stock: {
    goal: 'reorder something for one of our stores',
    answer: '{quantity} of {title} {quantity=is|are} on the way from the warehouse and should be there on {due}.',
    checks: [],
  },
  receive_shipment: {
    goal: 'book in a shipment',
    answer: 'The shipment of {title} is {status}; the store has {on_hand} on hand now.',
    checks: ['check_stock'],
  },
  reserve_article: {
    goal: 'reserve an article for a customer',
    answer: '{title} is kept until {until} at {price} apiece; {available:piece} {available=is|are} left for others.',
    // Nobody comes for it in the minute in which it is put aside.
    next: [],
    checks: [],
  },
  close_reservation: {
    goal: 'close a reservation',
    answer: 'The reservation of {title} for {customer_name} is closed as {status}, with {paid} paid.',
    checks: ['check_stock'],
  },
  mark_down_article: {
    goal: 'lower the price of an article',
    answer: '{title} costs {price} in that store now instead of {before}.',
    checks: [],
  },
  count_stock: {
    goal: 'enter a stock count',
    answer:
      'The count of {title} is marked as {status}: the books now say {on_hand} on hand, a difference of {difference}.',
    next: ['reorder_stock', 'transfer_stock'],
    checks: ['check_stock'],
  },
}
