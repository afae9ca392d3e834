import type { DbView } from '../kernel/define-environment.js'
import type { DomainRules } from '../kernel/domain-rules.js'
import type { tables } from './schema.js'

export const domainRules: DomainRules<DbView<typeof tables>> = {
  intro: 'These are the rules of the shop for its assistant.',
  rules: [
    {
      name: 'bad_review',
      tool: 'write_review',
      demand: 'confirm',
      text: 'Before a review with fewer than 3 stars is published, ask whether to go ahead.',
      question: 'It would be published with {stars} of five stars. Shall I go ahead?',
      applies: ({ stars }: { stars: number }) => stars < 3,
    },
    {
      name: 'pay_later',
      tool: 'place_order',
      demand: 'decline',
      text: 'No order is paid with Pay Later. That needs a signature.',
      reason: 'An order may not be paid with Pay Later; that needs a signature.',
      applies: ({ payment_method }: { payment_method: string }) => payment_method === 'pay-later',
    },
    {
      name: 'many_points',
      tool: 'place_order',
      demand: 'decline',
      text: 'No more than 300 points are used for an order.',
      reason: 'I may use 300 points at most for an order.',
      applies: ({ points }: { points?: number }) => (points ?? 0) > 300,
    },
    {
      name: 'dear_order_cancelled',
      tool: 'cancel_order',
      demand: 'confirm',
      text: 'Before an order of more than 150 is cancelled, ask whether to go ahead.',
      question: 'That order is worth more than 150. Shall I go ahead and cancel it?',
      sees: { argument: 'order', fields: ['total'] },
      applies: ({ order }: { order: string }, { db }) => (db.orders.get(order)?.total ?? 0) > 150,
    },
  ],
}
