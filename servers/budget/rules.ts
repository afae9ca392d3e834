import type {
  BudgetView,
  Category,
  Envelope,
  Expense,
  Member,
  Month,
  Obstacle,
  RecurringExpense,
  SavingsGoal,
} from './schema.js'

/** How far above its limit a soft category may go. Percent. */
export const TOLERANCE = 20

/** The only row of the table of households. */
export const HOUSEHOLD = 'home'
/** The category that takes up what is left over and from which nothing is spent. */
export const RESERVE = 'reserve'

export const monthOf = (today: string): string => today.slice(0, 7)

export const envelopeOf = (db: BudgetView, category: string, month: string): Envelope =>
  db.envelopes.get(`${category}/${month}`)!

/** Returns the amount left in an envelope, which is below zero when the envelope is overspent. */
export const leftOf = ({ limit, spent }: Envelope): number => limit - spent

export function monthObstacle(db: BudgetView, month: string): Obstacle | undefined {
  const row = db.months.get(month)
  if (!row) return { code: 'unknown_month', detail: `There is no budget for ${month}.` }
  return row.status === 'closed' ? { code: 'month_closed', detail: `${month} is closed.` } : undefined
}

/** Returns the obstacle to spending `sum` from a category in an open month, or undefined if the category allows the expense. */
export function spendingObstacle(db: BudgetView, category: Category, month: string, sum: number): Obstacle | undefined {
  if (category.kind === 'reserve') return { code: 'reserve_not_spendable' }
  const { limit, spent } = envelopeOf(db, category.category, month)
  if (category.kind === 'hard')
    return spent + sum > limit
      ? { code: 'limit_exceeded', detail: `Only ${limit - spent} EUR is left for ${category.name}.` }
      : undefined
  const most = Math.floor((limit * (100 + TOLERANCE)) / 100)
  return spent + sum > most
    ? { code: 'soft_limit_exceeded', detail: `${category.name} may reach ${most} EUR, of which ${spent} is spent.` }
    : undefined
}

/** Returns the amount that a member has spent in the budget of a month. */
export const spentBy = (db: BudgetView, member: string, month: string): number =>
  db.expenses.by('member', member).reduce((sum, row) => sum + (row.month === month ? row.amount : 0), 0)

/** Returns the obstacle to a member's spending `sum` more from a category, or undefined if the member may spend the sum. */
export function memberObstacle(
  db: BudgetView,
  { member, name, role, allowance }: Member,
  category: Category,
  month: string,
  sum: number,
): Obstacle | undefined {
  if (role === 'adult') return undefined
  if (!category.teens) return { code: 'not_permitted', detail: `${name} may not spend from ${category.name}.` }
  const left = allowance! - spentBy(db, member, month)
  return sum > left
    ? { code: 'allowance_exceeded', detail: `${name} has ${left} EUR left of the allowance.` }
    : undefined
}

export interface ExpenseTerms {
  readonly description: string
  readonly category: Category
  readonly amount: number
  readonly member: Member
}

/** Returns the obstacle to recording an expense today, or undefined if the expense can be recorded. */
export function recordObstacle(db: BudgetView, today: string, terms: ExpenseTerms): Obstacle | undefined {
  const { description, category, amount, member } = terms
  const month = monthOf(today)
  const obstacle =
    monthObstacle(db, month) ??
    spendingObstacle(db, category, month, amount) ??
    memberObstacle(db, member, category, month, amount)
  if (obstacle) return obstacle
  const said = description.toLowerCase()
  const twin = db.expenses
    .by('date', today)
    .find(
      (row) => row.amount === amount && row.category === category.category && row.description.toLowerCase() === said,
    )
  return twin && { code: 'duplicate_expense', detail: `It was recorded as ${twin.expense} already.` }
}

/** Returns the obstacle to moving a part of an expense to another category, or undefined if the part can be moved. */
export function splitObstacle(
  db: BudgetView,
  expense: Expense,
  category: Category,
  part: number,
): Obstacle | undefined {
  const { month, recurring_expense, split_from } = expense
  const closed = monthObstacle(db, month)
  if (closed) return closed
  if (recurring_expense !== null || split_from !== null) return { code: 'not_splittable' }
  if (category.category === expense.category)
    return { code: 'same_category', detail: `It is in ${category.name} already.` }
  if (part >= expense.amount) return { code: 'split_too_large', detail: `The expense is ${expense.amount} EUR.` }
  // The member has spent the money already, so only the category's permission counts, not the allowance.
  return (
    spendingObstacle(db, category, month, part) ??
    memberObstacle(db, db.members.get(expense.member)!, category, month, 0)
  )
}

/** Returns the obstacle to paying a recurring expense for a month, or undefined if the expense can be paid. */
export function payObstacle(db: BudgetView, recurring: RecurringExpense, month: string): Obstacle | undefined {
  const closed = monthObstacle(db, month)
  if (closed) return closed
  if (!db.months.get(month)!.unpaid.includes(recurring.recurring_expense))
    return { code: 'already_paid', detail: `${recurring.name} is paid for ${month}.` }
  return spendingObstacle(db, db.categories.get(recurring.category)!, month, recurring.amount)
}

/** Returns the amount that the unpaid recurring expenses of a month will take from a category. */
export const neededFor = (db: BudgetView, category: string, { unpaid }: Month): number =>
  unpaid.reduce((sum, key) => {
    const recurring = db.recurring_expenses.get(key)!
    return sum + (recurring.category === category ? recurring.amount : 0)
  }, 0)

/** Returns the amount that may be taken out of a category in an open month. */
export const movable = (db: BudgetView, category: string, month: Month): number =>
  leftOf(envelopeOf(db, category, month.month)) - neededFor(db, category, month)

/** Returns the obstacle to taking `sum` out of a category, or undefined if the sum can be taken out. */
export function takeObstacle(db: BudgetView, category: Category, month: string, sum: number): Obstacle | undefined {
  const closed = monthObstacle(db, month)
  if (closed) return closed
  const left = leftOf(envelopeOf(db, category.category, month))
  if (sum > left)
    return { code: 'not_enough_left', detail: `${category.name} has ${Math.max(0, left)} EUR left in ${month}.` }
  const free = movable(db, category.category, db.months.get(month)!)
  return sum > free
    ? {
        code: 'needed_for_recurring',
        detail: `Of the ${left} EUR left for ${category.name}, ${left - free} is needed for recurring expenses.`,
      }
    : undefined
}

/** Returns the obstacle to withdrawing `sum` from a savings goal, or undefined if the withdrawal is allowed. */
export function withdrawalObstacle(
  db: BudgetView,
  today: string,
  { savings_goal, saved, target, locked_until }: SavingsGoal,
  sum: number,
): Obstacle | undefined {
  if (locked_until !== null && today < locked_until && saved < target)
    return { code: 'goal_locked', detail: `It is locked until ${locked_until} or until ${target} EUR is saved.` }
  const month = monthOf(today)
  if (db.savings_moves.by('savings_goal', savings_goal).some((row) => row.amount < 0 && row.month === month))
    return { code: 'withdrawal_used' }
  return sum > saved ? { code: 'not_enough_saved', detail: `Only ${saved} EUR is saved.` } : undefined
}

/** Returns the obstacle to closing a month, or undefined if the month can be closed. */
export function closingObstacle(db: BudgetView, today: string, { month, unpaid }: Month): Obstacle | undefined {
  if (month >= monthOf(today)) return { code: 'month_not_over', detail: `${month} is not over yet.` }
  const earlier = db.months.find((row) => row.status === 'open' && row.month < month)
  if (earlier) return { code: 'earlier_month_open', detail: `${earlier.month} must be closed first.` }
  if (unpaid.length > 0) return { code: 'recurring_unpaid', detail: `Not paid for ${month}: ${unpaid.join(', ')}.` }
  const over = db.envelopes.by('month', month).find((row) => row.spent > row.limit)
  return over && { code: 'category_overspent', detail: `${over.category} is overspent in ${month}.` }
}
