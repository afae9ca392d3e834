import { addDays } from '../kernel/dates.js'
import type { DbView } from '../kernel/define-environment.js'
import type { DomainRules } from '../kernel/domain-rules.js'
import type { tables } from './schema.js'

export const domainRules: DomainRules<DbView<typeof tables>> = {
  intro: 'These are the rules of the office for whoever looks after its mail.',
  rules: [
    {
      name: 'long_auto_reply',
      tool: 'set_auto_reply',
      demand: 'decline',
      text: 'An automatic reply runs for 14 days at most, counted from today.',
      reason: 'An automatic reply may run for 14 days at most.',
      applies: ({ until }: { until: string }, { today }) => until > addDays(today, 14),
    },
    {
      name: 'long_snooze',
      tool: 'snooze_email',
      demand: 'decline',
      text: 'No email is snoozed for more than 21 days, counted from today.',
      reason: 'I may not snooze an email for more than 21 days.',
      applies: ({ until }: { until: string }, { today }) => until > addDays(today, 21),
    },
    {
      name: 'to_trash',
      tool: 'move_email',
      demand: 'confirm',
      text: 'Before an email goes to the trash, ask whether to go ahead. Other folders need no question.',
      question: 'It would go to the trash. Shall I go ahead?',
      applies: ({ folder }: { folder: string }) => folder === 'trash',
    },
    {
      name: 'legal_hold',
      tool: 'change_label',
      demand: 'decline',
      text: 'The label legal-hold is neither added nor taken off by you. The legal department does that.',
      reason: 'Only the legal department changes the label legal-hold.',
      applies: ({ label }: { label: string }) => label === 'legal-hold',
    },
  ],
}
