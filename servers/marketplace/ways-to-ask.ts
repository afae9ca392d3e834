import type { WaysToAsk } from '../kernel/ways-to-ask.js'

/** By tool: how else people ask for it. */
export const waysToAsk: Readonly<Record<string, WaysToAsk>> = {
  search_listings: {
    clauses: [
      'find me a used {text}[ from the {format} listings][ for {max_price} or less]',
      '(see|find out) if there is a {text} for sale[ as a {format} listing][, at no more than {max_price}]',
      'look around the marketplace for a {text}[ in a {format} listing][ that costs up to {max_price}]',
      'tell me if anyone has a {text} for sale[, just {format} listings][, for at most {max_price}]',
      'go through the listings for a {text}[, only {format} ones][, for no more than {max_price}]',
      'hunt for a {text} on the marketplace[, only in {format} listings][, with {max_price} as the limit]',
    ],
    goals: ['find something second-hand', 'see what people have for sale', 'look around for something used'],
  },
  get_listing: {
    clauses: [
      '(see|find out) how much longer {listing} is up and what it costs',
      '(pull|bring) up {listing}',
      'tell me more about {listing}, such as who is selling it',
      'give me everything on {listing}',
      'check what {listing} costs and who is behind it',
      'look at {listing} more closely',
      'get me the full details of {listing}',
      'tell me what {listing} stands at',
    ],
    goals: ['know more about something that is for sale', 'look at something that is for sale', 'check a listing'],
  },
  list_market_activity: {
    clauses: [
      '(pull|bring) up my {kind} on the marketplace[ that have "{text}" in the title]',
      'give me an overview of my marketplace {kind}[ that mention "{text}"]',
      'let me see how my {kind}[ for "{text}"] are doing on the marketplace',
      'find my {kind} on the marketplace[ with "{text}" in them]',
      'tell me about my {kind} on the marketplace[ that have to do with "{text}"]',
      'get me all my marketplace {kind}[ with "{text}" in the name]',
      'run through my marketplace {kind}[ for "{text}"]',
    ],
    goals: [
      'see how my business on the marketplace is going',
      'look over what I am buying and selling',
      'check my activity on the marketplace',
    ],
  },
  place_bid: {
    clauses: [
      'put me down for a bid of {amount} on {listing}',
      '(enter|submit) {amount} as my bid on {listing}',
      'go ahead and bid {amount} on {listing}',
      'get me in on {listing} with a bid of {amount}',
      'raise the bid on {listing} to {amount}',
    ],
    goals: ['(enter|make) a bid', 'try to win an auction', 'take part in an auction'],
  },
  buy_listing: {
    clauses: [
      'buy {listing} with the money in my wallet',
      'pay for {listing} out of my wallet',
      'buy me {listing}',
      'use my wallet to buy {listing}',
      'snap up {listing}',
    ],
    goals: ['(get|buy) something that is up for sale', 'buy something used', 'buy something from somebody'],
  },
  make_offer: {
    clauses: [
      'send the seller of {listing} an offer of {amount}',
      'see if I can have {listing} for {amount}',
      'let the seller of {listing} know that I would pay {amount}',
      'tell the seller of {listing} that I am offering {amount}',
      'submit an offer of {amount} for {listing}',
    ],
    goals: [
      '(suggest|propose) a price to somebody',
      'get something for less than the asking price',
      'haggle over something',
    ],
  },
  answer_offer: {
    clauses: [
      'let them know that I (want|would like) to {answer} {offer}[ with {amount}]',
      'reply that I want to {answer} {offer}[ with {amount}]',
      '{answer} {offer}[ with {amount}] for me',
      'write back that I would like to {answer} {offer}[ with {amount}]',
      'help me {answer} {offer}[ with {amount}]',
    ],
    goals: ["(reply|respond) to somebody's offer", 'accept or turn down an offer', 'deal with an offer'],
  },
  create_listing: {
    clauses: [
      '(open|start) a {format} listing for my "{title}" with {price} as the price[ and {reserve} as the reserve]',
      'put my "{title}" on the marketplace for {price} as a {format} listing[ with a reserve of {reserve}]',
      'get my "{title}" up for sale as a {format} listing at {price}[ with a reserve of {reserve}]',
      'post my "{title}" on the marketplace as a {format} listing at {price}[ with a reserve of {reserve}]',
      'make a {format} listing for my "{title}" at {price}[ with a reserve of {reserve}]',
    ],
    goals: [
      '(sell|get rid of) something I do not need',
      'list something for sale',
      'put something of mine on the market',
    ],
  },
  relist_listing: {
    clauses: [
      'bring {own_listing} back onto the marketplace for {price}',
      'start over with {own_listing} at {price}',
      'renew {own_listing} at {price}',
      'try to sell {own_listing} again, this time for {price}',
      'put {own_listing} up for sale again at {price}',
    ],
    goals: ['try again to sell something', 'put something back on the market', 'list something for sale again'],
  },
  withdraw_listing: {
    clauses: [
      'pull {own_listing} from the marketplace',
      'make sure that nobody can buy {own_listing} any more',
      'take {own_listing} down, I am keeping it',
      'close {own_listing}',
      'delete {own_listing} from the things I have for sale',
    ],
    goals: ['keep something I meant to sell', 'end one of my listings', 'take something down from the marketplace'],
  },
  ship_sale: {
    clauses: [
      'get {sale} to the buyer by {carrier}',
      'get {sale} shipped by {carrier}',
      'dispatch {sale} by {carrier}',
      'arrange for {sale} to go out by {carrier}',
      'send {sale} out by {carrier}',
    ],
    goals: ['send something to a buyer', 'get something I sold on its way', 'have one of my sales shipped'],
  },
  settle_sale: {
    clauses: [
      'tell them that I would like to {outcome} the payment for {sale}',
      'help me {outcome} the payment for {sale}',
      '{outcome} the payment for {sale}',
      'make sure to {outcome} the payment for {sale}',
      'go to {sale} and {outcome} the payment',
    ],
    goals: [
      'sort out the payment for a sale',
      'decide what happens with a payment',
      'settle a sale on the marketplace',
    ],
  },
  rate_sale: {
    clauses: [
      'leave {stars} stars for( the seller of|) {sale}',
      'give {sale} a {stars}-star rating',
      'make it {stars} stars for {sale}',
      'give the seller of {sale} {stars} stars',
      'award {sale} {stars} stars',
    ],
    goals: ['rate somebody I bought from', 'leave a rating for a seller', 'review a purchase'],
  },
}
