import { defineEnvironment } from '../kernel/define-environment.js'
import { domainRules } from './domain-rules.js'
import { marketInvariants } from './invariants.js'
import { failures, tables } from './schema.js'
import { seedMarketplace } from './seed.js'
import { buyingTools } from './tools/buying.js'
import { lookingTools } from './tools/looking.js'
import { sellingTools } from './tools/selling.js'
import { settlingTools } from './tools/settling.js'

/** A second-hand market seen by one member, who buys and sells: auctions, fixed prices, offers, escrow, disputes, ratings. */
export const marketplace = defineEnvironment({
  name: 'marketplace',
  title: 'Marketplace',
  description: 'Second-hand listings, auctions, offers and sales of one member of a marketplace.',
  tables,
  entities: {
    listing: { noun: 'listing', table: 'listings', label: 'title', compared: { price: 'lowest' } },
    own_listing: { noun: 'listing', table: 'listings', label: 'title', compared: { amount: 'either' } },
    offer: { noun: 'offer', table: 'offers', label: 'title' },
    sale: { noun: 'order', table: 'sales', label: 'title' },
  },
  failures,
  tools: [...lookingTools, ...buyingTools, ...sellingTools, ...settlingTools],
  invariants: marketInvariants,
  domainRules,
  seed: seedMarketplace,
})
