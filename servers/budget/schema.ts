import { z } from 'zod'
import { type DbView, type ObstacleOf, type RowOf, type ToolContext, toolMaker } from '../kernel/define-environment.js'

export const GROUPS = ['home', 'daily', 'family', 'leisure'] as const

/** Whole EUR. */
export const amount = z.int().min(1).max(10_000)
const sum = z.int().min(0)
const date = z.iso.date()

const household = z.object({
  household: z.string(),
  /** The expense that can still be undone. */
  last_expense: z.string().nullable(),
})

const month = z.object({
  /** YYYY-MM. */
  month: z.string().regex(/^\d{4}-\d{2}$/),
  status: z.enum(['open', 'closed']),
  /** Recurring expenses that are not paid for this month yet. */
  unpaid: z.array(z.string()),
})

const category = z.object({
  category: z.string(),
  name: z.string(),
  group: z.enum(GROUPS),
  /** A hard limit holds, a soft one may be overspent a little, and from the reserve nothing is spent at all. */
  kind: z.enum(['hard', 'soft', 'reserve']),
  /** Whether teenagers may spend from it. */
  teens: z.boolean(),
})

/** What one category may spend in one month. */
const envelope = z.object({
  envelope: z.string(),
  category: z.string(),
  month: z.string(),
  limit: sum,
  spent: sum,
})

const expense = z.object({
  expense: z.string(),
  description: z.string(),
  /** Description and name of the member in lower case, for searches. */
  words: z.string(),
  category: z.string(),
  member: z.string(),
  amount,
  /** The month whose budget it counts in. */
  month: z.string(),
  date,
  recurring_expense: z.string().nullable(),
  /** The expense that this one was split from. */
  split_from: z.string().nullable(),
  /** What was paid altogether, parts that were split off included; for such a part its own amount. */
  total: amount,
})

const recurringExpense = z.object({
  recurring_expense: z.string(),
  name: z.string(),
  category: z.string(),
  /** Per month. */
  amount,
  /** Who pays it. */
  member: z.string(),
})

const member = z.object({
  member: z.string(),
  name: z.string(),
  role: z.enum(['adult', 'teen']),
  /** What a teenager may spend in a month; null for adults. */
  allowance: z.int().positive().nullable(),
})

const savingsGoal = z.object({
  savings_goal: z.string(),
  name: z.string(),
  target: amount,
  saved: sum,
  /** Nothing may be withdrawn before this date unless the target is reached; null when there is no lock. */
  locked_until: date.nullable(),
})

const savingsMove = z.object({
  savings_move: z.string(),
  savings_goal: z.string(),
  /** Negative for a withdrawal. */
  amount: z.int(),
  month: z.string(),
})

export const tables = {
  household: { row: household, key: 'household' },
  months: { row: month, key: 'month', missing: 'unknown_month' },
  categories: { row: category, key: 'category', missing: 'unknown_category' },
  envelopes: { row: envelope, key: 'envelope' },
  expenses: { row: expense, key: 'expense', missing: 'unknown_expense' },
  recurring_expenses: { row: recurringExpense, key: 'recurring_expense', missing: 'unknown_recurring_expense' },
  members: { row: member, key: 'member', missing: 'unknown_member' },
  savings_goals: { row: savingsGoal, key: 'savings_goal', missing: 'unknown_savings_goal' },
  savings_moves: { row: savingsMove, key: 'savings_move' },
} as const

export const failures = {
  unknown_category: 'There is no such category.',
  unknown_expense: 'There is no such expense.',
  unknown_recurring_expense: 'There is no such recurring expense.',
  unknown_savings_goal: 'There is no such savings goal.',
  unknown_member: 'There is no such member of the household.',
  unknown_month: 'There is no budget for this month.',
  month_closed: 'The month is closed: nothing in it can be changed.',
  month_not_over: 'Only a month that is over can be closed.',
  earlier_month_open: 'An earlier month must be closed first.',
  recurring_unpaid: 'Not all recurring expenses of the month are paid.',
  category_overspent: 'A category of the month is overspent: move money into it first.',
  limit_exceeded: 'The category has a hard limit and not that much left.',
  soft_limit_exceeded: 'That is more than even a soft limit may be overspent.',
  reserve_not_spendable: 'Nothing is spent from the reserve: move money to another category first.',
  not_permitted: 'Teenagers may not spend from this category.',
  allowance_exceeded: 'That is more than is left of the allowance of this month.',
  duplicate_expense: 'The same expense was recorded today already.',
  already_paid: 'The recurring expense is paid for this month.',
  same_category: 'Both categories are the same.',
  not_enough_left: 'The category does not have that much left.',
  needed_for_recurring: 'The category still needs the money for recurring expenses of the month.',
  split_too_large: 'A part must be smaller than the expense.',
  not_splittable: 'Recurring expenses and parts of a split cannot be split.',
  not_last_expense: 'Only the last expense that was recorded or paid can be undone.',
  over_target: 'That is more than the savings goal still needs.',
  not_enough_saved: 'The savings goal does not hold that much.',
  goal_locked: 'The savings goal is locked until its date or until the target is reached.',
  withdrawal_used: 'A savings goal allows one withdrawal a month.',
} as const

export type BudgetTables = typeof tables
export type FailureCode = keyof typeof failures
export type Context = ToolContext<typeof tables, FailureCode>
export type Obstacle = ObstacleOf<typeof failures>
export type BudgetView = DbView<BudgetTables>
export type Month = RowOf<BudgetTables['months']>
export type Category = RowOf<BudgetTables['categories']>
export type Envelope = RowOf<BudgetTables['envelopes']>
export type Expense = RowOf<BudgetTables['expenses']>
export type RecurringExpense = RowOf<BudgetTables['recurring_expenses']>
export type Member = RowOf<BudgetTables['members']>
export type SavingsGoal = RowOf<BudgetTables['savings_goals']>
export type SavingsMove = RowOf<BudgetTables['savings_moves']>

export const tool = toolMaker(tables, failures)
