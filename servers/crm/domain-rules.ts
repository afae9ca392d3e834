import { addDays } from '../kernel/dates.js'
import type { DbView } from '../kernel/define-environment.js'
import type { DomainRules } from '../kernel/domain-rules.js'
import type { tables } from './schema.js'

export const domainRules: DomainRules<DbView<typeof tables>> = {
  intro: 'These are the rules of the sales department for its assistant.',
  rules: [
    {
      name: 'discount_above_20',
      tool: 'discount_deal',
      demand: 'decline',
      text: 'No discount is more than 20 percent.',
      reason: 'I may not give more than 20 percent.',
      applies: ({ percent }: { percent: number }) => percent > 20,
    },
    {
      name: 'discount_above_10',
      tool: 'discount_deal',
      demand: 'confirm',
      text: 'Before a discount of more than 10 percent, ask whether to go ahead.',
      question: 'That is {percent} percent off. Shall I go ahead?',
      applies: ({ percent }: { percent: number }) => percent > 10,
    },
    {
      name: 'lead_given_up',
      tool: 'advance_lead',
      demand: 'decline',
      text: 'A lead is never set to lost by you. Only the head of sales gives a lead up.',
      reason: 'Only the head of sales may set a lead to lost.',
      applies: ({ status }: { status: string }) => status === 'lost',
    },
    {
      name: 'deal_lost',
      tool: 'move_deal',
      demand: 'confirm',
      text: 'Before a deal is moved to lost, ask whether to go ahead: the figures of the quarter change with it.',
      question: 'The figures of the quarter change with a lost deal. Shall I go ahead?',
      applies: ({ stage }: { stage: string }) => stage === 'lost',
    },
    {
      name: 'visit_at_short_notice',
      tool: 'plan_activity',
      demand: 'decline',
      text: 'A visit is planned at least 14 days ahead. Calls, meetings and demos may be planned for any day.',
      reason: 'A visit has to be at least 14 days ahead.',
      applies: ({ kind, date }: { kind: string; date: string }, { today }) =>
        kind === 'visit' && date < addDays(today, 14),
    },
  ],
}
