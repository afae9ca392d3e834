import type { CallWords } from '../kernel/define-server.js'

/** By tool: what people are after who call it, and what they are told when it is done. */
export const callWords: Readonly<Record<string, CallWords>> = {
  list_categories: {
    goal: 'see how much is left in part of our budget',
    answer:
      'These are the categories for {@group} spending in {month}: {categories*{name} (limit {limit} euros, {left} left)}.',
    said: ['group'],
  },
  move_between_categories: {
    goal: 'move money between two budget categories',
    answer:
      '{name} now has {left} euros left of {limit} for {month}, and {from_left} euros remain in the category that they came from.',
    next: ['pay_recurring_expense', 'close_month'],
    checks: ['list_categories'],
  },
  search_expenses: {
    goal: 'find one of our expenses',
    answer: 'I found {found:expense}[: {expenses*{description}, {amount} euros by {member} on {date}}].',
  },
  record_expense: {
    goal: 'record an expense',
    answer: 'I recorded "{description}" at {amount} euros, which leaves {left} euros in the category {category}.',
    checks: ['list_categories', 'summarise_month'],
  },
  split_expense: {
    goal: 'split an expense between two categories',
    answer:
      '{amount} euros of "{description}" now count in the category {category}, and {remaining} euros stay where they were.',
    checks: ['list_categories'],
  },
  undo_expense: {
    goal: 'take an expense back out of the books',
    answer: 'I took "{description}" out of the books; the category {category} has {left} euros left again.',
    next: ['record_expense'],
    checks: [],
  },
  pay_recurring_expense: {
    goal: 'pay one of our regular bills',
    answer: '{description} is paid for {month}: {amount} euros, which leaves {left} euros in the category {category}.',
    next: ['close_month'],
    checks: ['summarise_month'],
  },
  summarise_month: {
    goal: 'see how our budget did in a month',
    answer:
      '{month} is {status}: {spent} of {budget} euros were spent, so {left} euros are left.[ Overspent: {overspent*{name} by {over}}.][ Still unpaid: {unpaid*{name} ({amount})}.]',
  },
  close_month: {
    goal: 'close a month in the budget',
    answer: '{month} is {status} with {spent} euros spent; {carried} euros were carried over.',
    checks: ['summarise_month'],
  },
  list_savings_goals: {
    goal: 'see how our savings are going',
    answer:
      'You are saving for {goals#goal}: {goals*{name} ({saved} of {target} euros[, locked until {locked_until}])}.',
  },
  contribute_to_savings_goal: {
    goal: 'put money aside for a savings goal',
    answer: '{name} now has {saved} of {target} euros, and {left} euros are left in the category {category}.',
    checks: ['list_savings_goals'],
  },
  withdraw_from_savings_goal: {
    goal: 'take money out of our savings',
    answer: '{name} is down to {saved} of {target} euros, and the category {category} now has {left} euros left.',
    said: ['savings_goal'],
    next: ['record_expense', 'pay_recurring_expense'],
    checks: ['list_savings_goals', 'list_categories'],
  },
}
