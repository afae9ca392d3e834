import type { DbView } from '../kernel/define-environment.js'
import type { DomainRules } from '../kernel/domain-rules.js'
import type { tables } from './schema.js'

export const domainRules: DomainRules<DbView<typeof tables>> = {
  intro: 'These are the rules of the household for whoever keeps its books.',
  rules: [
    {
      name: 'expense_above_50',
      tool: 'record_expense',
      demand: 'confirm',
      text: 'Before an expense of more than 50 is recorded, tell the amount and ask whether it is right.',
      question: 'That is an expense of {amount}. Is that right, and shall I go ahead?',
      applies: ({ amount }: { amount: number }) => amount > 50,
    },
    {
      name: 'reserve_stays',
      tool: 'move_between_categories',
      demand: 'decline',
      text: 'Nothing is moved from the category Reserve into another category. Some of it may go into a savings goal.',
      reason: 'Nothing may be moved from the reserve into another category.',
      applies: ({ from_category }: { from_category: string }) => from_category === 'reserve',
    },
    {
      name: 'move_above_40',
      tool: 'move_between_categories',
      demand: 'confirm',
      text: 'Before more than 40 is moved from one category to another, ask whether to go ahead.',
      question: 'That moves {amount} from one category to another. Shall I go ahead?',
      applies: ({ amount }: { amount: number }) => amount > 40,
    },
    {
      name: 'savings_above_90',
      tool: 'contribute_to_savings_goal',
      demand: 'decline',
      text: 'At most 90 goes into a savings goal at a time.',
      reason: 'At most 90 may go into a savings goal at a time.',
      applies: ({ amount }: { amount: number }) => amount > 90,
    },
    {
      name: 'large_expense_undone',
      tool: 'undo_expense',
      demand: 'confirm',
      text: 'Before an expense of more than 40 is undone, ask whether to go ahead.',
      question: 'That expense was more than 40. Shall I go ahead and undo it?',
      sees: { argument: 'expense', fields: ['amount'] },
      applies: ({ expense }: { expense: string }, { db }) => (db.expenses.get(expense)?.amount ?? 0) > 40,
    },
  ],
}
