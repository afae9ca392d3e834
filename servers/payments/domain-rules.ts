import { addDays } from '../kernel/dates.js'
import type { DbView } from '../kernel/define-environment.js'
import type { DomainRules } from '../kernel/domain-rules.js'
import type { tables } from './schema.js'

export const domainRules: DomainRules<DbView<typeof tables>> = {
  intro: 'These are the rules of the firm for whoever does its payments.',
  rules: [
    {
      name: 'refund_above_400',
      tool: 'issue_refund',
      demand: 'decline',
      text: 'No refund is more than 400. The owner issues larger ones.',
      reason: 'I may refund 400 at most; the owner issues larger ones.',
      applies: ({ amount }: { amount: number }) => amount > 400,
    },
    {
      name: 'refund_above_250',
      tool: 'issue_refund',
      demand: 'confirm',
      text: 'Before a refund of more than 250, tell the amount and ask whether to go ahead.',
      question: 'That is a refund of {amount}. Shall I go ahead?',
      applies: ({ amount }: { amount: number }) => amount > 250,
    },
    {
      name: 'early_due',
      tool: 'create_invoice',
      demand: 'decline',
      text: 'Customers have at least 14 days to pay: no invoice is due earlier, counted from today.',
      reason: 'Customers have at least 14 days to pay.',
      applies: ({ due }: { due?: string }, { today }) => due !== undefined && due < addDays(today, 14),
    },
    {
      name: 'payout_above_700',
      tool: 'request_payout',
      demand: 'confirm',
      text: 'Before a payout of more than 700, ask whether to go ahead.',
      question: 'That is a payout of {amount}. Shall I go ahead?',
      applies: ({ amount }: { amount: number }) => amount > 700,
    },
    {
      name: 'charge_above_500',
      tool: 'charge_invoice',
      demand: 'confirm',
      text: 'Before a card is charged with more than 500, tell the amount and ask whether to go ahead.',
      question: 'I would charge {amount}. Shall I go ahead?',
      applies: ({ amount }: { amount: number }) => amount > 500,
    },
  ],
}
