import type { WaysToAsk } from '../kernel/ways-to-ask.js'

/** By tool: how else people ask for it. */
export const waysToAsk: Readonly<Record<string, WaysToAsk>> = {
  search_listings: {
    clauses: [
      '(find|get) me a used {text}[ from the {format} listings][ for {max_price} or less]',
      '(see|find out) if there is a {text} for sale[ as a {format} listing][, at no more than {max_price}]',
      'look around the marketplace for a {text}[ in a {format} listing][ that costs up to {max_price}]',
      '(check|see) what a second-hand {text} goes for[, in {format} listings][ up to {max_price}]',
      'tell me who has a {text} to sell[ in the {format} format][ for at most {max_price}]',
      'go through the listings for a {text}[, only {format} ones][, for no more than {max_price}]',
      'hunt for a {text} on the marketplace[, only in {format} listings][, with {max_price} as the limit]',
      'see what {text} people sell on the marketplace[, in {format} listings only][, at {max_price} or less]',
    ],
    goals: ['find something second-hand', 'see what people have to sell', 'look around for something used'],
  },
  get_listing: {
    clauses: [
      '(see|find out) how long {listing} is still up and what it costs',
      '(pull|bring) up {listing}',
      'let me know more about {listing}, such as who offers it',
      'give me everything on {listing}',
      'check what {listing} costs and who is behind it',
      'look at {listing} more closely',
      'get me the full entry of {listing}',
      'tell me what {listing} stands at',
    ],
    goals: [
      'know more about something that is for sale',
      'see who sells something and for how much',
      'check a listing',
    ],
  },
  list_market_activity: {
    clauses: [
      'see how my {kind} on the marketplace stand[, those for "{text}"]',
      '(pull|bring) up my {kind} from the marketplace[, those with "{text}" in them]',
      'give me an overview of my marketplace {kind}[ that mention "{text}"]',
      'let me see how my {kind} are doing on the marketplace[, those for "{text}"]',
      'find my {kind} on the marketplace[ with "{text}" in them]',
      'tell me about my {kind} on the marketplace[ that have to do with "{text}"]',
      'get me all my marketplace {kind}[ with "{text}" in the name]',
      'run through my marketplace {kind}[ for "{text}"]',
    ],
    goals: [
      'see how my business on the marketplace is going',
      'look over what I buy and sell',
      'check on my dealings on the marketplace',
    ],
  },
  place_bid: {
    clauses: [
      'go up to {amount} for {listing}',
      '(enter|submit) {amount} as my bid on {listing}',
      'try for {listing} with a bid of {amount}',
      'get me into the auction of {listing} with {amount}',
      'raise the bid on {listing} to {amount}',
      'register a bid of {amount} for {listing}',
    ],
    goals: ['(enter|make) a bid', 'try to win an auction', 'take part in an auction'],
  },
  buy_listing: {
    clauses: [
      'take {listing} at its price',
      'pay for {listing} out of my wallet',
      'close the deal on {listing}',
      'use my wallet to buy {listing}',
      'snap up {listing}',
    ],
    goals: ['(get|order) something that is up for sale', 'pay for something used', 'buy something from somebody'],
  },
  make_offer: {
    clauses: [
      '(suggest|propose) {amount} for {listing}',
      'send the seller of {listing} an offer of {amount}',
      'see if I can have {listing} for {amount}',
      'let the seller of {listing} know that I would pay {amount}',
      'tell the seller of {listing} that I offer {amount}',
      'name {amount} as my price for {listing}',
      'haggle over {listing}, starting at {amount}',
      'submit an offer for {listing} at {amount}',
    ],
    goals: ['(suggest|propose) a price to somebody', 'get something for less than is asked', 'haggle over something'],
  },
  answer_offer: {
    clauses: [
      'let them know that I {answer} {offer}[ at {amount}]',
      'reply that I {answer} {offer}[ at {amount}]',
      'write back that I {answer} {offer}[, with {amount}]',
      'answer for me that I {answer} {offer}[ with {amount}]',
      'respond for me and {answer} {offer}[ with {amount}]',
    ],
    goals: ["(reply|respond) to somebody's offer", 'say what I think of an offer', 'deal with an offer'],
  },
  create_listing: {
    clauses: [
      '(open|start) a {format} listing for my "{title}" with {price} as the price[ and {reserve} as the reserve]',
      'let people buy my "{title}" in a {format} listing for {price}[ with {reserve} as the reserve]',
      '(advertise|list) my "{title}" at {price} in a {format} listing[ with {reserve} as the reserve]',
      'get my "{title}" sold as a {format} listing, starting from {price}[ and with a reserve of {reserve}]',
      'post my "{title}" on the marketplace, a {format} listing at {price}[ with the reserve at {reserve}]',
      'make a {format} listing of my "{title}" for {price}[ and hold a reserve of {reserve}]',
      'ask {price} for my "{title}" in a {format} listing[, not below {reserve}]',
      'enter my "{title}" on the marketplace at {price}, as a {format} listing[ with a reserve of {reserve}]',
    ],
    goals: [
      '(sell|get rid of) something I do not need',
      'advertise something I have',
      'put something of mine on the market',
    ],
  },
  relist_listing: {
    clauses: [
      '(offer|sell) {own_listing} once more, at {price}',
      'bring {own_listing} back onto the marketplace for {price}',
      'start over with {own_listing} at {price}',
      'renew {own_listing} with {price} as the price',
      'open {own_listing} again for {price}',
      'try to sell {own_listing} again, this time for {price}',
      'put {own_listing} up once more at {price}',
    ],
    goals: ['try again to sell something', 'put something back on the market', 'offer something once more'],
  },
  withdraw_listing: {
    clauses: [
      '(pull|call) back {own_listing}',
      'end the sale of {own_listing}',
      'make sure that nobody can buy {own_listing} any more',
      'take {own_listing} down, I am keeping it',
      'close {own_listing}',
      'delete {own_listing} from what I sell',
    ],
    goals: ['keep something I meant to sell', 'end one of my listings', 'have something no longer up for sale'],
  },
  ship_sale: {
    clauses: [
      'get {sale} to the buyer by {carrier}',
      'ship {sale} and use {carrier} for it',
      'dispatch {sale} by {carrier}',
      'arrange for {sale} to go out by {carrier}',
      'pack {sale} up and send it by {carrier}',
      'mail {sale} out by {carrier}',
      'make sure that {sale} leaves by {carrier}',
    ],
    goals: ['send something to a buyer', 'get something I sold on its way', 'have one of my sales shipped'],
  },
  settle_sale: {
    clauses: [
      'see to {sale} and {outcome} the payment',
      'tell them that I {outcome} the payment for {sale}',
      'ask the marketplace to {outcome} the payment for {sale}',
      'get the marketplace to {outcome} the payment for {sale}',
      'deal with {sale} and {outcome} the payment',
    ],
    goals: ['see to the money for a sale', 'decide what happens with a payment', 'close a deal on the marketplace'],
  },
  rate_sale: {
    clauses: [
      '(put|enter) {stars} stars for {sale}',
      'say that {sale} was worth {stars} stars',
      'make it {stars} stars for {sale}',
      'give the seller of {sale} {stars} stars',
      'rate how {sale} went with {stars} stars',
      'leave {stars} stars with the seller of {sale}',
      'award {sale} {stars} stars',
    ],
    goals: ['say how a seller was', 'leave stars for a seller', 'review a deal'],
  },
}
