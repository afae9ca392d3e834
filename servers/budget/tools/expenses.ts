import { z } from 'zod'
import { choices, pickFrom } from '../../kernel/choose.js'
import { common, ref } from '../../kernel/fields.js'
import { mentioning } from '../../kernel/text.js'
import { itemsOf, sharersOf } from '../category-kinds.js'
import { book, rememberLast } from '../changes.js'
import { envelopeOf, HOUSEHOLD, leftOf, monthObstacle, monthOf, recordObstacle, splitObstacle } from '../rules.js'
import { DRAWS, isShort } from '../sampling.js'
import { amount, tool } from '../schema.js'

/** What is not worth splitting is below this. */
const SPLIT_FROM = 12

const searchExpenses = tool({
  name: 'search_expenses',
  description: 'Search expenses by words of the description or the name of the member, the newest first.',
  input: z.strictObject({
    text: z.string().trim().min(2).max(40).describe('All words must occur.'),
    month: ref('month', 'YYYY-MM').optional(),
  }),
  output: z.object({
    found: z.int(),
    expenses: z.array(
      z.object({
        description: z.string(),
        expense: ref('expense'),
        amount: z.int(),
        category: ref('category'),
        member: z.string(),
        date: common('date', z.string()),
      }),
    ),
  }),
  pages: { expenses: 'long' },
  annotations: { readOnly: true },
  needs: ['expense_recorded'],
  sample({ db, random, bound }) {
    const rows = db.expenses.list((row) => row.month === (bound.month ?? row.month))
    if (rows.length === 0) return null
    const { description, month } = random.pick(rows)
    const [longest] = description.split(' ').sort((a, b) => b.length - a.length)
    const text = random.pick([description, description, longest!.toLowerCase()])
    return { text, ...(bound.month !== undefined || random.chance(0.3) ? { month } : {}), ...bound }
  },
  run({ text, month }, { rowOf, db }) {
    if (month !== undefined) rowOf('months', month)
    const matches = mentioning(text)
    const said = (row: { readonly words: string }) => matches(row.words)
    const found = month === undefined ? db.expenses.list(said) : db.expenses.by('month', month).filter(said)
    return { found: found.length, expenses: found.toReversed() }
  },
})

const recordExpense = tool({
  name: 'record_expense',
  description:
    'Record what a member of the household spent today. Teenagers may spend only from some categories and within their allowance.',
  input: z.strictObject({
    description: z.string().trim().min(2).max(40).describe('What was bought.'),
    category: ref('category'),
    amount: amount.describe('What was spent, in whole currency units.'),
    member: z.string().trim().min(2).max(20).describe('Who spent it: the first name.'),
  }),
  output: z.object({
    description: z.string(),
    expense: ref('expense'),
    category: ref('category'),
    amount: z.int(),
    left: z.int().describe('What is left in the category; negative when it is overspent.'),
  }),
  annotations: { readOnly: false },
  establishes: ['expense_recorded', 'budget_changed'],
  sample({ db, random, bound, today }) {
    const categories = choices(db.categories, bound.category, ({ kind }) => kind !== 'reserve')
    const members = choices(db.members, bound.member, () => true)
    for (let draw = 0; draw < DRAWS && categories.length > 0 && members.length > 0; draw++) {
      const category = random.pick(categories)
      const member = random.pick(members)
      const { limit, spent } = envelopeOf(db, category.category, monthOf(today()))
      // Now and then somebody goes a little over a soft limit.
      const isOver = category.kind === 'soft' && random.chance(0.05)
      const most = Math.max(1, (isOver ? Math.floor(limit * 1.1) : limit) - spent)
      const item = random.pick(itemsOf(category.name))
      if (item.least > most) continue
      const sum = bound.amount ?? random.int(item.least, Math.min(item.most, most))
      const description = bound.description ?? item.name
      if (recordObstacle(db, today(), { description, category, amount: sum, member })) continue
      return { description, category: category.category, amount: sum, member: member.member }
    }
    return null
  },
  run(args, context) {
    const { rowOf, unless, db, today } = context
    const { description, amount } = args
    const category = rowOf('categories', args.category)
    const member = rowOf('members', args.member)
    unless(recordObstacle(db, today(), { description, category, amount, member }))
    const month = monthOf(today())
    const row = book(context, { ...args, month, recurring_expense: null, split_from: null })
    rememberLast(context, row.expense)
    return { ...row, left: leftOf(envelopeOf(db, category.category, month)) }
  },
})

const splitExpense = tool({
  name: 'split_expense',
  description:
    'Move part of an expense to another category, as an expense of its own. Its month must be open; recurring payments and parts cannot be split.',
  input: z.strictObject({
    expense: ref('expense'),
    category: ref('category', 'The category of the part.'),
    amount: amount.describe('Of the part; less than the expense.'),
  }),
  output: z.object({
    description: z.string(),
    expense: ref('expense', 'The new part.'),
    category: ref('category'),
    amount: z.int(),
    remaining: z.int().describe('What remains of the expense that was split.'),
  }),
  annotations: { readOnly: false },
  establishes: ['budget_changed'],
  sample({ db, random, bound }) {
    const expenses = choices(
      db.expenses,
      bound.expense,
      (row) => row.amount >= SPLIT_FROM && row.split_from === null && sharersOf(row.description).length > 0,
    )
    for (let draw = 0; draw < DRAWS && expenses.length > 0; draw++) {
      const expense = random.pick(expenses)
      const category = pickFrom(
        random,
        // Nobody moves an expense to where nothing is left for it.
        choices(
          db.categories,
          bound.category,
          ({ category, name }) =>
            sharersOf(expense.description).includes(name) && !isShort(db, category, expense.month),
        ),
      )
      const part = bound.amount ?? random.int(Math.ceil(expense.amount / 5), Math.floor(expense.amount / 2))
      if (!category || splitObstacle(db, expense, category, part)) continue
      return { expense: expense.expense, category: category.category, amount: part }
    }
    return null
  },
  run({ expense: key, category: to, amount }, context) {
    const { rowOf, unless, db } = context
    const expense = rowOf('expenses', key)
    const category = rowOf('categories', to)
    unless(splitObstacle(db, expense, category, amount))
    const { envelope, spent } = envelopeOf(db, expense.category, expense.month)
    db.envelopes.update(envelope, { spent: spent - amount })
    const remaining = db.expenses.update(key, { amount: expense.amount - amount }).amount
    const { description, member, month } = expense
    const part = { description, category: to, member, amount, month, recurring_expense: null, split_from: key }
    if (db.household.get(HOUSEHOLD)!.last_expense === key) rememberLast(context, null)
    return { ...book(context, part), remaining }
  },
})

const undoExpense = tool({
  name: 'undo_expense',
  description:
    'Undo the last expense that was recorded or the last recurring expense that was paid, once, as long as its month is open and it has not been split.',
  input: z.strictObject({ expense: ref('expense') }),
  output: z.object({
    description: z.string(),
    expense: ref('expense', 'It no longer exists.'),
    category: ref('category'),
    left: z.int().describe('What is left in the category now.'),
  }),
  annotations: { readOnly: false, destructive: true },
  establishes: ['budget_changed'],
  sample({ db, bound }) {
    const last = db.household.get(HOUSEHOLD)!.last_expense
    if (last === null || (bound.expense ?? last) !== last) return null
    return monthObstacle(db, db.expenses.get(last)!.month) ? null : { expense: last }
  },
  run({ expense: key }, context) {
    const { rowOf, unless, db, fail } = context
    const expense = rowOf('expenses', key)
    const { category, month, recurring_expense, amount, description } = expense
    if (db.household.get(HOUSEHOLD)!.last_expense !== key) fail('not_last_expense', `${key} is not the last expense.`)
    unless(monthObstacle(db, month))
    db.expenses.remove(key)
    const { envelope, spent } = envelopeOf(db, category, month)
    const after = db.envelopes.update(envelope, { spent: spent - amount })
    if (recurring_expense !== null) {
      const unpaid = [...db.months.get(month)!.unpaid, recurring_expense].sort()
      db.months.update(month, { unpaid })
    }
    rememberLast(context, null)
    return { description, expense: key, category, left: leftOf(after) }
  },
})

export const expenseTools = [searchExpenses, recordExpense, splitExpense, undoExpense]
