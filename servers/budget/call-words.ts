import type { CallWords } from '../kernel/define-environment.js'

/** By tool: what people are after who call it, and what they are told when it is done. */
export const callWords: Readonly<Record<string, CallWords>> = {
  list_categories: {
    goal: 'see how much is left in part of our budget',
    answer:
      'These are the categories for {@group} spending in {month}: {categories*{name} (limit {limit} {limit=euro|euros}, {left} left)}.',
    said: ['group'],
    wishes: ['see what money is there'],
  },
  move_between_categories: {
    goal: 'move money between two budget categories',
    answer:
      '{name} now has {left} {left=euro|euros} left of {limit} for {month}, and {from_left} {from_left=euro|euros} remain in the category that they came from.',
    next: ['pay_recurring_expense', 'close_month'],
    checks: ['list_categories'],
  },
  search_expenses: {
    goal: 'find one of our expenses',
    answer: 'I found {found:expense}[: {expenses*{description}, {amount} {amount=euro|euros} by {member} on {date}}].',
    wishes: ['list payments'],
  },
  record_expense: {
    goal: 'record an expense',
    answer:
      'I recorded "{description}" at {amount} {amount=euro|euros}, which leaves {left} {left=euro|euros} in the category {category}.',
    checks: ['list_categories', 'summarise_month'],
  },
  split_expense: {
    goal: 'split an expense between two categories',
    answer:
      '{amount} {amount=euro|euros} of "{description}" now count in the category {category}, and {remaining} {remaining=euro|euros} stay where they were.',
    checks: ['list_categories'],
  },
  undo_expense: {
    goal: 'take an expense back out of the books',
    answer: 'I took "{description}" out of the books; the category {category} has {left} {left=euro|euros} left again.',
    next: ['record_expense'],
    checks: [],
  },
  pay_recurring_expense: {
    goal: 'pay one of our regular bills',
    answer:
      '{description} is paid for {month}: {amount} {amount=euro|euros}, which leaves {left} {left=euro|euros} in the category {category}.',
    next: ['close_month'],
    checks: ['summarise_month'],
    wishes: ['pay somebody'],
  },
  summarise_month: {
    goal: 'see how our budget did in a month',
    answer:
      '{month} is {status}: {spent} of {budget} {budget=euro|euros} were spent, so {left} {left=euro is|euros are} left.[ Overspent: {overspent*{name} by {over}}.][ Still unpaid: {unpaid*{name} ({amount})}.]',
  },
  close_month: {
    goal: 'close a month in the budget',
    answer:
      '{month} is {status} with {spent} {spent=euro|euros} spent; {carried} {carried=euro|euros} were carried over.',
    checks: ['summarise_month'],
  },
  list_savings_goals: {
    goal: 'see how our savings are going',
    answer:
      'You are saving for {goals#goal}: {goals*{name} ({saved} of {target} {target=euro|euros}[, locked until {locked_until}])}.',
  },
  contribute_to_savings_goal: {
    goal: 'put money aside for a savings goal',
    answer:
      '{name} now has {saved} of {target} {target=euro|euros}, and {left} {left=euro|euros} are left in the category {category}.',
    checks: ['list_savings_goals'],
  },
  withdraw_from_savings_goal: {
    goal: 'take money out of our savings',
    answer:
      '{name} is down to {saved} of {target} {target=euro|euros}, and the category {category} now has {left} {left=euro|euros} left.',
    said: ['savings_goal'],
    next: ['record_expense', 'pay_recurring_expense'],
    checks: ['list_savings_goals', 'list_categories'],
  },
}
