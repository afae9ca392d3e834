import { z } from 'zod'
import { choices } from '../../kernel/choose.js'
import { ref } from '../../kernel/fields.js'
import { book, fill, rememberLast } from '../changes.js'
import { budgetOf } from '../lookup.js'
import { closingObstacle, envelopeOf, leftOf, monthObstacle, payObstacle, RESERVE } from '../rules.js'
import { tool } from '../schema.js'

const payRecurringExpense = tool({
  name: 'pay_recurring_expense',
  description:
    'Pay a recurring expense out of its category, once per month; for an earlier month that is still open if one is given.',
  input: z.strictObject({
    recurring_expense: ref('recurring_expense'),
    month: ref('month', 'YYYY-MM, the current month by default').optional(),
  }),
  output: z.object({
    description: z.string(),
    expense: ref('expense'),
    amount: z.int(),
    category: ref('category'),
    left: z.int().describe('What is left in the category.'),
    month: ref('month'),
  }),
  annotations: { readOnly: false },
  establishes: ['expense_recorded', 'budget_changed'],
  sample({ db, random, bound, today }) {
    const current = today().slice(0, 7)
    const due = choices(db.months, bound.month, ({ status }) => status === 'open').flatMap(({ month, unpaid }) =>
      unpaid.map((key) => ({ month, recurring: db.recurring_expenses.get(key)! })),
    )
    const fitting = due.filter(
      ({ month, recurring }) =>
        recurring.recurring_expense === (bound.recurring_expense ?? recurring.recurring_expense) &&
        !payObstacle(db, recurring, month),
    )
    if (fitting.length === 0) return null
    const { month, recurring } = random.pick(fitting)
    const said = bound.month !== undefined || month !== current
    return { recurring_expense: recurring.recurring_expense, ...(said ? { month } : {}) }
  },
  run({ recurring_expense, month: key }, context) {
    const { rowOf, unless, db } = context
    const recurring = rowOf('recurring_expenses', recurring_expense)
    const { month, unpaid } = budgetOf(context, key)
    unless(payObstacle(db, recurring, month))
    const { name: description, category, amount, member } = recurring
    const row = book(context, { description, category, member, amount, month, recurring_expense, split_from: null })
    db.months.update(month, { unpaid: unpaid.filter((other) => other !== recurring_expense) })
    rememberLast(context, row.expense)
    return { ...row, left: leftOf(envelopeOf(db, category, month)) }
  },
})

const summariseMonth = tool({
  name: 'summarise_month',
  description:
    'Sum up the budget of a month: what was planned, spent and is left, which categories are overspent and which recurring expenses are unpaid.',
  input: z.strictObject({ month: ref('month', 'YYYY-MM') }),
  output: z.object({
    month: ref('month'),
    status: z.string(),
    budget: z.int(),
    spent: z.int(),
    left: z.int(),
    overspent: z.array(z.object({ name: z.string(), category: ref('category'), over: z.int() })),
    unpaid_found: z.int(),
    unpaid: z.array(z.object({ name: z.string(), recurring_expense: ref('recurring_expense'), amount: z.int() })),
  }),
  pages: { unpaid: 'long' },
  annotations: { readOnly: true },
  sample({ db, random, bound }) {
    return { month: bound.month ?? random.pick(db.months.list()).month }
  },
  run({ month: key }, context) {
    const { db } = context
    const { month, status, unpaid } = budgetOf(context, key)
    let budget = 0
    let spent = 0
    const overspent: { name: string; category: string; over: number }[] = []
    for (const row of db.envelopes.by('month', month)) {
      budget += row.limit
      spent += row.spent
      if (row.spent > row.limit && overspent.length < 2) {
        const { name, category } = db.categories.get(row.category)!
        overspent.push({ name, category, over: row.spent - row.limit })
      }
    }
    return {
      month,
      status,
      budget,
      spent,
      left: budget - spent,
      overspent,
      unpaid_found: unpaid.length,
      unpaid: unpaid.map((recurring) => db.recurring_expenses.get(recurring)!),
    }
  },
})

const closeMonth = tool({
  name: 'close_month',
  description:
    'Close a month that is over, for good: the earlier ones must be closed, all recurring expenses paid and no category overspent. What is left goes to the reserve of the next month.',
  input: z.strictObject({ month: ref('month', 'YYYY-MM') }),
  output: z.object({
    month: ref('month'),
    status: z.string(),
    spent: z.int(),
    carried: z.int().describe('EUR that went to the reserve of the next month.'),
    category: ref('category', 'The reserve.'),
  }),
  annotations: { readOnly: false, destructive: true },
  establishes: ['budget_changed'],
  sample({ db, random, bound, today }) {
    const ready = choices(
      db.months,
      bound.month,
      (row) => !monthObstacle(db, row.month) && !closingObstacle(db, today(), row),
    )
    return ready.length > 0 ? { month: random.pick(ready).month } : null
  },
  run({ month: key }, context) {
    const { unless, db, fail, today } = context
    const row = budgetOf(context, key)
    unless(monthObstacle(db, key) ?? closingObstacle(db, today(), row))
    let spent = 0
    let carried = 0
    for (const envelope of db.envelopes.by('month', key)) {
      spent += envelope.spent
      const left = leftOf(envelope)
      if (left > 0) fill(context, envelope.category, key, -left)
      carried += left
    }
    const next = db.months.find(({ month }) => month > key) ?? fail('unknown_month', `No budget follows ${key}.`)
    fill(context, RESERVE, next.month, carried)
    return { ...db.months.update(key, { status: 'closed' }), spent, carried, category: RESERVE }
  },
})

export const monthTools = [payRecurringExpense, summariseMonth, closeMonth]
