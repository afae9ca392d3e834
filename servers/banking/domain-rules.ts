import type { DbView } from '../kernel/define-environment.js'
import type { DomainRules } from '../kernel/domain-rules.js'
import type { tables } from './schema.js'

export const domainRules: DomainRules<DbView<typeof tables>> = {
  intro: 'These are the rules of the bank for its assistant.',
  rules: [
    {
      name: 'payment_above_1000',
      tool: 'send_payment',
      demand: 'decline',
      text: 'No single payment is more than 1000, in whatever currency. Larger sums are paid at a branch.',
      reason: 'A single payment through me may be 1000 at most; larger sums are paid at a branch.',
      applies: ({ amount }: { amount: number }) => amount > 1000,
    },
    {
      name: 'payment_above_400',
      tool: 'send_payment',
      demand: 'confirm',
      text: 'Before a payment of more than 400, tell the user the sum and ask whether to go ahead.',
      question: 'That is a payment of {amount}. Shall I go ahead?',
      applies: ({ amount }: { amount: number }) => amount > 400,
    },
    {
      name: 'transfer_above_1000',
      tool: 'transfer_money',
      demand: 'confirm',
      text: "Before more than 1000 is moved between the user's own accounts, tell the sum and ask whether to go ahead.",
      question: 'I would move {amount} at once. Shall I go ahead?',
      applies: ({ amount }: { amount: number }) => amount > 1000,
    },
    {
      name: 'card_limit_above_1500',
      tool: 'set_card_limit',
      demand: 'decline',
      text: 'The daily limit of a card is never set above 1500.',
      reason: 'I may not set the daily limit of a card above 1500.',
      applies: ({ limit }: { limit: number }) => limit > 1500,
    },
    {
      name: 'weekly_above_50',
      tool: 'create_standing_order',
      demand: 'decline',
      text: 'A weekly standing order is for 50 at most. Monthly and yearly ones may be for more.',
      reason: 'A weekly standing order may be for 50 at most.',
      applies: ({ amount, frequency }: { amount: number; frequency: string }) => frequency === 'weekly' && amount > 50,
    },
    {
      name: 'small_dispute',
      tool: 'dispute_transaction',
      demand: 'decline',
      text: 'Nothing below 25 is disputed: asking back costs more than that.',
      reason: 'The bank disputes nothing below 25.',
      sees: { argument: 'transaction', fields: ['amount'] },
      applies: ({ transaction }: { transaction: string }, { db }) =>
        (db.transactions.get(transaction)?.amount ?? 0) < 25,
    },
  ],
}
