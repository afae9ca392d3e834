import type { DbView } from '../kernel/define-environment.js'
import type { DomainRules } from '../kernel/domain-rules.js'
import type { tables } from './schema.js'

export const domainRules: DomainRules<DbView<typeof tables>> = {
  intro: 'These are the rules of the broker for its assistant.',
  rules: [
    {
      name: 'large_sale',
      tool: 'place_trade_order',
      demand: 'decline',
      text: 'No more than 20 shares are sold with one order. Stops may be for more.',
      reason: 'I may sell 20 shares at most with one order.',
      applies: ({ side, quantity }: { side: string; quantity: number }) => side === 'sell' && quantity > 20,
    },
    {
      name: 'without_limit',
      tool: 'place_trade_order',
      demand: 'confirm',
      text: 'Before an order without a limit is placed, ask whether to go ahead: it is filled at any price.',
      question: 'Without a limit it is filled at any price. Shall I go ahead?',
      applies: ({ limit_price }: { limit_price?: number }) => limit_price === undefined,
    },
    {
      name: 'amended_above_10',
      tool: 'amend_trade_order',
      demand: 'decline',
      text: 'No order that rests is changed to more than 10 shares.',
      reason: 'An order that rests may not be changed to more than 10 shares.',
      applies: ({ quantity }: { quantity?: number }) => (quantity ?? 0) > 10,
    },
    {
      name: 'stop_cancelled',
      tool: 'cancel_trade_order',
      demand: 'decline',
      text: 'Stop orders are not cancelled: they protect what the customer has.',
      reason: 'Stop orders are not cancelled, for they protect what you have.',
      sees: { argument: 'trade_order', fields: ['kind'] },
      applies: ({ trade_order }: { trade_order: string }, { db }) => db.trade_orders.get(trade_order)?.kind === 'stop',
    },
    {
      name: 'large_protection',
      tool: 'protect_position',
      demand: 'confirm',
      text: 'Before a stop for more than 50 shares is set, ask whether to go ahead.',
      question: 'That stop is for {quantity} shares. Shall I go ahead?',
      applies: ({ quantity }: { quantity: number }) => quantity > 50,
    },
  ],
}
