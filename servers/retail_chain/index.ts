import { defineEnvironment } from '../kernel/define-environment.js'
import { domainRules } from './domain-rules.js'
import { retailInvariants } from './invariants.js'
import { failures, tables } from './schema.js'
import { seedRetailChain } from './seed.js'
import { counterTools } from './tools/counter.js'
import { findingTools } from './tools/finding.js'
import { movementTools } from './tools/movement.js'
import { shelfTools } from './tools/shelf.js'

/** The stores of one chain, run by its staff: what each has, what travels between them, what is kept for customers and at which price. */
export const retailChain = defineEnvironment({
  name: 'retail_chain',
  title: 'Retail chain',
  description: 'Stores of a chain in several cities: stock, shipments, reorders, reservations, markdowns and counts.',
  tables,
  entities: {
    store: { noun: 'store', table: 'stores', label: 'name' },
    article: { noun: 'article', table: 'articles', label: 'title', compared: { price: 'lowest' } },
    shipment: { noun: 'shipment', table: 'shipments', label: 'title', compared: { due: 'either' } },
    reservation: { noun: 'reservation', table: 'reservations', label: 'customer_name' },
  },
  failures,
  tools: [...findingTools, ...movementTools, ...counterTools, ...shelfTools],
  invariants: retailInvariants,
  domainRules,
  seed: seedRetailChain,
})
