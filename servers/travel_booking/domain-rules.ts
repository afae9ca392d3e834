import type { DbView } from '../kernel/define-environment.js'
import type { DomainRules } from '../kernel/domain-rules.js'
import type { tables } from './schema.js'

export const domainRules: DomainRules<DbView<typeof tables>> = {
  intro: 'These are the rules of the travel office for its assistant.',
  rules: [
    {
      name: 'business_fare',
      tool: 'book_flight',
      demand: 'decline',
      text: 'No flight is booked with the fare business.',
      reason: 'Flights are not booked with the fare business here.',
      applies: ({ fare }: { fare: string }) => fare === 'business',
    },
    {
      name: 'basic_fare',
      tool: 'book_flight',
      demand: 'confirm',
      text: 'Before a flight is booked with the fare basic, ask whether to go ahead.',
      question: 'The fare basic leaves little room for changes. Shall I go ahead?',
      applies: ({ fare }: { fare: string }) => fare === 'basic',
    },
    {
      name: 'many_bags',
      tool: 'add_baggage',
      demand: 'decline',
      text: 'No more than 2 bags are added to a booking at a time.',
      reason: 'I may add 2 bags at most.',
      applies: ({ bags }: { bags: number }) => bags > 2,
    },
    {
      name: 'board_budget',
      tool: 'pay_booking',
      demand: 'decline',
      text: 'Nothing is paid from the budget Board Travel. The board books by itself.',
      reason: 'Nothing may be paid from the budget Board Travel; the board books by itself.',
      applies: ({ budget }: { budget: string }) => budget === 'board-travel',
    },
    {
      name: 'front_rows',
      tool: 'choose_seat',
      demand: 'decline',
      text: 'No seat in rows 1 to 5 is chosen. They are kept for families.',
      reason: 'The rows 1 to 5 are kept for families.',
      applies: ({ seat }: { seat: string }) => Number.parseInt(seat, 10) < 6,
    },
  ],
}
