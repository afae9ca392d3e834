import type { DbView } from '../kernel/define-environment.js'
import type { DomainRules } from '../kernel/domain-rules.js'
import type { tables } from './schema.js'

export const domainRules: DomainRules<DbView<typeof tables>> = {
  intro: 'These are the rules of the chain for the assistant of its stores.',
  rules: [
    {
      name: 'large_transfer',
      tool: 'transfer_stock',
      demand: 'decline',
      text: 'No more than 6 pieces of an article are sent from one store to another at a time.',
      reason: 'No more than 6 pieces may be sent at a time.',
      applies: ({ quantity }: { quantity: number }) => quantity > 6,
    },
    {
      name: 'markdown_above_30',
      tool: 'mark_down_article',
      demand: 'decline',
      text: 'No article is marked down by more than 30 percent.',
      reason: 'I may not mark an article down by more than 30 percent.',
      applies: ({ percent }: { percent: number }) => percent > 30,
    },
    {
      name: 'markdown_above_20',
      tool: 'mark_down_article',
      demand: 'confirm',
      text: 'Before an article is marked down by more than 20 percent, ask whether to go ahead.',
      question: 'That takes {percent} percent off the price. Shall I go ahead?',
      applies: ({ percent }: { percent: number }) => percent > 20,
    },
    {
      name: 'large_reservation',
      tool: 'reserve_article',
      demand: 'decline',
      text: 'No more than 2 pieces of an article are reserved for a customer.',
      reason: 'I may reserve 2 pieces at most.',
      applies: ({ quantity }: { quantity: number }) => quantity > 2,
    },
    {
      name: 'large_order',
      tool: 'reorder_stock',
      demand: 'confirm',
      text: 'Before more than 2 packs are ordered, ask whether there is room for them.',
      question: 'That is {packs} packs. Is there room for them, and shall I go ahead?',
      applies: ({ packs }: { packs: number }) => packs > 2,
    },
  ],
}
