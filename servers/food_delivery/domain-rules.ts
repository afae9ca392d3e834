import type { DbView } from '../kernel/define-environment.js'
import type { DomainRules } from '../kernel/domain-rules.js'
import type { tables } from './schema.js'

export const domainRules: DomainRules<DbView<typeof tables>> = {
  intro: 'These are the rules of the delivery service for its assistant.',
  rules: [
    {
      name: 'top_up_above_50',
      tool: 'top_up_credit',
      demand: 'decline',
      text: 'Credit is topped up by 50 at most at a time.',
      reason: 'I may top up by 50 at most at a time.',
      applies: ({ amount }: { amount: number }) => amount > 50,
    },
    {
      name: 'many_missing',
      tool: 'report_missing_dish',
      demand: 'decline',
      text: 'When more than 2 of a dish are missing, it is not reported by you: the customer calls the hotline.',
      reason: 'When more than 2 of a dish are missing, the hotline looks after it.',
      applies: ({ quantity }: { quantity: number }) => quantity > 2,
    },
    {
      name: 'bad_rating',
      tool: 'rate_food_order',
      demand: 'confirm',
      text: 'Before fewer than 3 stars are given, ask whether that is really meant.',
      question: 'A rating of {stars} stays for good. Shall I go ahead?',
      applies: ({ stars }: { stars: number }) => stars < 3,
    },
    {
      name: 'dear_order_cancelled',
      tool: 'cancel_food_order',
      demand: 'confirm',
      text: 'Before an order of more than 40 is cancelled, ask whether to go ahead.',
      question: 'That order cost more than 40. Shall I go ahead and cancel it?',
      sees: { argument: 'food_order', fields: ['paid'] },
      applies: ({ food_order }: { food_order: string }, { db }) => (db.food_orders.get(food_order)?.paid ?? 0) > 40,
    },
  ],
}
