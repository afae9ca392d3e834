import { addDays } from '../kernel/dates.js'
import type { DbView } from '../kernel/define-environment.js'
import type { DomainRules } from '../kernel/domain-rules.js'
import type { tables } from './schema.js'

const isFriday = (date: string): boolean => new Date(`${date}T00:00:00Z`).getUTCDay() === 5

export const domainRules: DomainRules<DbView<typeof tables>> = {
  intro: 'These are the rules of the office for whoever keeps its calendars.',
  rules: [
    {
      name: 'early_event',
      tool: 'create_event',
      demand: 'decline',
      text: 'No new event begins before 10:00. The early morning is kept free for everybody.',
      reason: 'No new event may begin before 10:00.',
      applies: ({ start }: { start: string }) => start < '10:00',
    },
    {
      name: 'long_event',
      tool: 'create_event',
      demand: 'confirm',
      text: 'Before an event of more than 60 minutes is created, ask whether it really has to be that long.',
      question: 'That is {duration} minutes. Does it have to be that long, and shall I go ahead?',
      applies: ({ duration }: { duration: number }) => duration > 60,
    },
    {
      name: 'friday_move',
      tool: 'reschedule_event',
      demand: 'decline',
      text: 'No event is moved to a Friday.',
      reason: 'Events are not moved to a Friday.',
      applies: ({ date }: { date: string }) => isFriday(date),
    },
    {
      name: 'soon_cancelled',
      tool: 'cancel_event',
      demand: 'decline',
      text: 'An event of today or tomorrow is not called off by you: the organiser tells the guests in person.',
      reason: 'I may not call off an event of today or tomorrow; the guests have to be told in person.',
      sees: { argument: 'event', fields: ['date'] },
      applies: ({ event }: { event: string }, { db, today }) => (db.events.get(event)?.date ?? '') <= addDays(today, 1),
    },
    {
      name: 'daily_series',
      tool: 'repeat_event',
      demand: 'decline',
      text: 'Events are repeated weekly or every two weeks, never daily.',
      reason: 'Events are never repeated daily here; weekly or every two weeks is possible.',
      applies: ({ frequency }: { frequency: string }) => frequency === 'daily',
    },
    {
      name: 'editor_access',
      tool: 'share_calendar',
      demand: 'confirm',
      text: 'Before somebody is given the right to edit a calendar, ask whether that is really wanted. Viewing needs no question.',
      question: 'They could change everything in it then. Shall I go ahead?',
      applies: ({ access }: { access: string }) => access === 'editor',
    },
  ],
}
