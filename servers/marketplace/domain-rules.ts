import type { DbView } from '../kernel/define-environment.js'
import type { DomainRules } from '../kernel/domain-rules.js'
import type { tables } from './schema.js'

export const domainRules: DomainRules<DbView<typeof tables>> = {
  intro: 'These are the rules that the members of the household gave their assistant.',
  rules: [
    {
      name: 'bid_above_100',
      tool: 'place_bid',
      demand: 'confirm',
      text: 'Before a bid of more than 100, tell the amount and ask whether to go ahead.',
      question: 'A bid of {amount} binds you. Shall I go ahead?',
      applies: ({ amount }: { amount: number }) => amount > 100,
    },
    {
      name: 'offer_above_200',
      tool: 'make_offer',
      demand: 'decline',
      text: 'No more than 200 is offered for what somebody else sells.',
      reason: 'I may not offer more than 200.',
      applies: ({ amount }: { amount: number }) => amount > 200,
    },
    {
      name: 'dear_purchase',
      tool: 'buy_listing',
      demand: 'confirm',
      text: 'Before something is bought for more than 150, ask whether to go ahead.',
      question: 'It costs more than 150. Shall I go ahead?',
      sees: { argument: 'listing', fields: ['price'] },
      applies: ({ listing }: { listing: string }, { db }) => (db.listings.get(listing)?.price ?? 0) > 150,
    },
    {
      name: 'cheap_listing',
      tool: 'create_listing',
      demand: 'decline',
      text: 'No new listing is priced below 30. What did not sell may be listed again for less.',
      reason: 'A new listing may not be priced below 30.',
      applies: ({ price }: { price: number }) => price < 30,
    },
    {
      name: 'one_star',
      tool: 'rate_sale',
      demand: 'decline',
      text: 'Nobody is given 1 star. Write to them first.',
      reason: 'I may not give 1 star; write to them first.',
      applies: ({ stars }: { stars: number }) => stars === 1,
    },
    {
      name: 'refund',
      tool: 'settle_sale',
      demand: 'confirm',
      text: 'Before a sale is settled with a refund, ask whether to go ahead.',
      question: 'The money would go back to the buyer. Shall I go ahead?',
      applies: ({ outcome }: { outcome: string }) => outcome === 'refund',
    },
  ],
}
