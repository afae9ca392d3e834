import { isWorkday } from '../kernel/dates.js'
import type { DbView } from '../kernel/define-environment.js'
import type { DomainRules } from '../kernel/domain-rules.js'
import type { tables } from './schema.js'

export const domainRules: DomainRules<DbView<typeof tables>> = {
  intro: 'These are the rules of the company for whoever runs its meetings.',
  rules: [
    {
      name: 'outside_hours',
      tool: 'schedule_meeting',
      demand: 'decline',
      text: 'No meeting begins before 09:00, nor at 17:00 or later.',
      reason: 'A meeting may not begin before 09:00, nor at 17:00 or later.',
      applies: ({ start }: { start: string }) => start < '09:00' || start >= '17:00',
    },
    {
      name: 'weekend',
      tool: 'schedule_meeting',
      demand: 'decline',
      text: 'No meeting is on a Saturday or Sunday.',
      reason: 'No meeting may be on a Saturday or Sunday.',
      applies: ({ date }: { date: string }) => !isWorkday(date),
    },
    {
      name: 'long_meeting',
      tool: 'schedule_meeting',
      demand: 'confirm',
      text: 'Before a meeting of more than 60 minutes is scheduled, ask whether it really has to be that long.',
      question: 'That is {minutes} minutes. Does it have to be that long, and shall I go ahead?',
      applies: ({ minutes }: { minutes: number }) => minutes > 60,
    },
    {
      name: 'removed',
      tool: 'manage_participant',
      demand: 'confirm',
      text: 'Before somebody is removed from a meeting, ask whether to go ahead.',
      question: 'They could not come back by themselves. Shall I go ahead?',
      applies: ({ action }: { action: string }) => action === 'remove',
    },
    {
      name: 'promoted',
      tool: 'manage_participant',
      demand: 'decline',
      text: 'Nobody is promoted to a host by you.',
      reason: 'I may not promote anybody.',
      applies: ({ action }: { action: string }) => action === 'promote',
    },
  ],
}
