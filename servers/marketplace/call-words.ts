import type { CallWords } from '../kernel/define-environment.js'

/** By tool: what people are after who call it, and what they are told when it is done. */
export const callWords: Readonly<Record<string, CallWords>> = {
  search_listings: {
    goal: 'look for something on the marketplace',
    answer: 'I found {found:listing}[: {listings*{title} ({format}, {price})}].',
    wishes: ['find goods'],
  },
  get_listing: {
    goal: 'look at a listing',
    answer:
      'The price of {title} ({format}) is {price}. It is offered by {seller} in {city} (rating: {rating}) and ends on {ends}.[ It has {bids:bid} so far.]',
  },
  list_market_activity: {
    goal: 'go through my own listings, bids or sales',
    answer: 'I found {found:entry} among your {@kind}[: {entries*{title} ({amount}, {state})}].',
    wishes: ['list what was bought'],
  },
  place_bid: {
    goal: 'bid on something',
    answer: 'You are {status} on {title}: the highest bid is {high}, and the next one has to be at least {next_bid}.',
    checks: [],
  },
  buy_listing: {
    goal: 'buy something second-hand',
    answer: 'You bought {title} for {amount}; {wallet} is left in your wallet.',
    checks: [],
    wishes: ['buy'],
  },
  make_offer: {
    goal: 'make an offer for something',
    answer: 'Your offer of {bid} for {title}, for which {ask} is asked, is {state}.{sale? You have bought it.|}',
    said: ['amount'],
    checks: [],
  },
  answer_offer: {
    goal: 'answer an offer',
    answer: 'The offer for {title} is {state}, with {bid} offered and {ask} asked.{sale? The deal is made.|}',
    next: ['ship_sale'],
    checks: [],
  },
  create_listing: {
    goal: 'put something up for sale',
    answer: '{title} is on sale at {price} until {ends}.',
    said: ['title', 'format'],
  },
  relist_listing: {
    goal: 'put something up for sale again',
    answer: '{title} is on sale again at {price} until {ends}.',
    checks: [],
  },
  withdraw_listing: {
    goal: 'take something off the market',
    answer: '{title} is off the market now.',
    checks: [],
  },
  ship_sale: {
    goal: 'ship one of my sales',
    answer: '{title} is on its way to {buyer} by {carrier}; after the postage your wallet has {wallet}.',
    checks: [],
  },
  settle_sale: {
    goal: 'settle a sale',
    answer: 'The sale of {title} for {amount} is {stage} now, and your wallet holds {wallet}.',
    next: ['rate_sale'],
    checks: [],
  },
  rate_sale: {
    goal: 'rate a seller',
    answer: 'You gave {seller} {stars:star} for {title}.',
    checks: [],
    wishes: ['rate what was bought'],
  },
}
