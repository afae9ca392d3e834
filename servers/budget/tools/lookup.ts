import { monthOf, type Obstacle } from '../rules.js'
import type {
  BudgetView,
  Category,
  Expense,
  FailureCode,
  Member,
  Month,
  RecurringExpense,
  SavingsGoal,
} from '../schema.js'

interface Reader {
  readonly db: BudgetView
  today(): string
  fail(code: FailureCode, detail?: string): never
}

export function categoryOf({ db, fail }: Reader, key: string): Category {
  return db.categories.get(key) ?? fail('unknown_category', `There is no category ${key}.`)
}

export function expenseOf({ db, fail }: Reader, key: string): Expense {
  return db.expenses.get(key) ?? fail('unknown_expense', `There is no expense ${key}.`)
}

export function recurringOf({ db, fail }: Reader, key: string): RecurringExpense {
  return db.recurring_expenses.get(key) ?? fail('unknown_recurring_expense', `There is no recurring expense ${key}.`)
}

export function goalOf({ db, fail }: Reader, key: string): SavingsGoal {
  return db.savings_goals.get(key) ?? fail('unknown_savings_goal', `There is no savings goal ${key}.`)
}

export function memberOf({ db, fail }: Reader, key: string): Member {
  return db.members.get(key) ?? fail('unknown_member', `Nobody in the household is called ${key}.`)
}

/** The budget of the given month or, without one, of the current month. */
export function budgetOf({ db, fail, today }: Reader, month = monthOf(today())): Month {
  return db.months.get(month) ?? fail('unknown_month', `There is no budget for ${month}.`)
}

/** Ends the call if something stands against it. */
export function refuse({ fail }: Reader, obstacle: Obstacle | undefined): void {
  if (obstacle) fail(obstacle.code, obstacle.detail)
}

/** Entries that a search shows at most. */
export const SHOWN = 4
