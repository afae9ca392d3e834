import type { WaysToAsk } from '../kernel/ways-to-ask.js'

/** By tool: how else people ask for it. */
export const waysToAsk: Readonly<Record<string, WaysToAsk>> = {
  find_stores: {
    clauses: [
      '(find out|tell me) where we have stores in {city}',
      '(pull|bring) up the {city} branches',
      'give me our shops in {city} with their hours',
      'get me an overview of the stores we run in {city}',
      'check how many branches there are in {city}',
      'let me see our shops in {city}',
    ],
    goals: ['know where our stores are', 'see which branches we have in a city', 'see when our stores are open'],
  },
  search_articles: {
    clauses: [
      '(see|find out) if we sell "{text}"[ in the {department} department]',
      '(pull|bring) up the article "{text}"[ from the {department} department]',
      'get me the details of the article "{text}"[ in the {department} department]',
      'look through our range for "{text}"[, only in the {department} department]',
      'tell me (about|what we charge for) "{text}"[ in the {department} department]',
      'find "{text}" among the articles we sell[ in the {department} department]',
      'check the[ {department}] range for "{text}"',
      'find "{text}" in our[ {department}] assortment',
    ],
    goals: ['see if we carry something', 'find something that we sell', 'know what we charge for something'],
  },
  check_stock: {
    clauses: [
      '(find out|see) which stores[ in {city}] still have {article}',
      'tell me where[ in {city}] we have {article} in stock',
      'check our stores[ in {city}] for {article}',
      'give me the stock of {article}[ in {city}], store by store',
      'find out which of our shops[ in {city}] have {article} available',
      'get me the stock numbers for {article}[ in {city}]',
      'let me know the stock of {article}[ in {city}]',
      'see what is left of {article}[ in our {city} stores] and what is kept for customers',
    ],
    goals: [
      'know where we still have something',
      'see how much of an article is left',
      'find out which store has something a customer wants',
    ],
  },
  show_store: {
    clauses: [
      '(find out|let me know) how {store} is doing for stock',
      '(bring|pull) up {store} with what is running low there',
      'see what {store} needs and what it is about to get',
      'give me the current status of {store}',
      'look at how well {store} is stocked',
      'tell me what is about to run out at {store} and what is coming in',
      'tell me what {store} has too little of and what deliveries are due there',
    ],
    goals: ['see how a store is doing', 'look at one of our stores', 'check on one of our stores'],
  },
  transfer_stock: {
    clauses: [
      'send {to_store} {quantity} of {article} from {from_store}',
      'get {quantity} of {article} over to {to_store} from {from_store}',
      'shift {quantity} of {article} from {from_store} to {to_store}',
      'take {quantity} of {article} from {from_store} to {to_store}',
      'have {quantity} of {article} sent to {to_store} from {from_store}',
    ],
    goals: [
      'help one store out with stock from another',
      'have something sent over from another store',
      'even out the stock of two stores',
    ],
  },
  reorder_stock: {
    clauses: [
      '(get|have) {packs} packs of {article} delivered from the warehouse to {store}',
      'top up {store} with {packs} packs of {article} from the warehouse',
      'request {packs} packs of {article} from the warehouse for {store}',
      'supply {store} with {packs} packs of {article} from the warehouse',
      'put in an order for {packs} packs of {article} for {store}',
    ],
    goals: ['order more of something for a store', 'get stock from the warehouse', 'restock what a store is short of'],
  },
  receive_shipment: {
    clauses: [
      'accept {shipment}',
      'check in {shipment}',
      'record {shipment} as arrived',
      "add {shipment} to the store's stock",
      'put {shipment} down as delivered',
      'note that {shipment} has arrived',
    ],
    goals: ['take in a delivery', 'record that a delivery has arrived', 'add a delivery to our stock'],
  },
  reserve_article: {
    clauses: [
      'save {quantity} of {article} at {store} for {customer_name}',
      'make {customer_name} a reservation for {quantity} of {article} at {store}',
      'have {quantity} of {article} ready for {customer_name} at {store}',
      'earmark {quantity} of {article} at {store} for {customer_name}',
      'have {store} keep {quantity} of {article} for {customer_name}',
    ],
    goals: ['keep something for a customer', 'put something by for somebody', 'have an article ready for a customer'],
  },
  close_reservation: {
    clauses: [
      '(record|log) {reservation} as {outcome}',
      'set {reservation} to {outcome}',
      'close {reservation} because it was {outcome}',
      'change the status of {reservation} to {outcome}',
      'update {reservation} to {outcome}',
    ],
    goals: [
      'update the status of a reservation',
      'record what happened with a reservation',
      "close a customer's reservation",
    ],
  },
  mark_down_article: {
    clauses: [
      '(reduce|lower the price of) {article} by {percent} percent at {store}',
      'offer {article} at {store} for {percent} percent less',
      'make {article} {percent} percent cheaper at {store}',
      'put {article} on sale at {store}, {percent} percent off',
      'have {store} take {percent} percent off {article}',
      'give {percent} percent off {article} at {store}',
      'put a {percent} percent discount on {article} at {store}',
      'knock {percent} percent off {article} at {store}',
    ],
    goals: ['make something cheaper in a store', 'mark something down', 'reduce the price of an article'],
  },
  count_stock: {
    clauses: [
      'write down that we counted {counted} of {article} at {store}',
      '(set|correct) the stock of {article} at {store} to the {counted} that we counted',
      'tell the system that {store} has {counted} of {article} by our count',
      'update the stock of {article} at {store} to our count of {counted}',
      'register a count of {counted} of {article} at {store}',
    ],
    goals: ['put down what we counted', 'correct the stock of an article', 'report the result of a count'],
  },
}
