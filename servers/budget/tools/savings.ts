import { z } from 'zod'
import { choices, pickFrom } from '../../kernel/choose.js'
import { common, ref } from '../../kernel/fields.js'
import { fill } from '../changes.js'
import { envelopeOf, leftOf, monthObstacle, monthOf, takeObstacle, withdrawalObstacle } from '../rules.js'
import { isShort, sampleAmount, spareOf } from '../sampling.js'
import { amount, type Context, type SavingsGoal, tool } from '../schema.js'
import { GOALS } from '../words.js'

const isUseOf = (goal: string, category: string): boolean => {
  const uses = GOALS.get(goal)
  return uses === undefined || uses.length === 0 || uses.includes(category)
}

const listSavingsGoals = tool({
  name: 'list_savings_goals',
  description: 'List the savings goals of the household: what is saved, the target, and until when they are locked.',
  input: z.strictObject({}),
  output: z.object({
    goals: z.array(
      z.object({
        name: z.string(),
        savings_goal: ref('savings_goal'),
        saved: z.int(),
        target: z.int(),
        locked_until: common('date', z.string()).optional(),
      }),
    ),
  }),
  annotations: { readOnly: true },
  needs: ['savings_changed'],
  sample: () => ({}),
  run(_, { db }) {
    return { goals: db.savings_goals.list().map((row) => ({ ...row, locked_until: row.locked_until ?? undefined })) }
  },
})

/** What both directions tell. */
const moved = z.object({
  name: z.string(),
  savings_goal: ref('savings_goal'),
  saved: z.int(),
  target: z.int(),
  category: ref('category'),
  left: z.int().describe('What is left in the category.'),
})

/** Moves `sum` from an envelope of the current month to a goal, or back when negative, and tells how both stand. */
function transfer(context: Context, goal: SavingsGoal, category: string, sum: number) {
  const { db, nextId, today } = context
  const month = monthOf(today())
  fill(context, category, month, -sum)
  const { savings_goal } = goal
  db.savings_moves.insert({ savings_move: nextId('saving'), savings_goal, amount: sum, month })
  const after = db.savings_goals.update(savings_goal, { saved: goal.saved + sum })
  return { ...after, category, left: leftOf(envelopeOf(db, category, month)) }
}

/** Less is not put aside, or taken out. */
const LEAST = 10

const contribute = tool({
  name: 'contribute_to_savings_goal',
  description: 'Put budget that is left in a category this month into a savings goal, up to its target.',
  input: z.strictObject({
    savings_goal: ref('savings_goal'),
    category: ref('category', 'Where the money comes from.'),
    amount: amount.describe('What is put in, in whole currency units.'),
  }),
  output: moved,
  annotations: { readOnly: false },
  establishes: ['savings_changed', 'budget_changed'],
  sample({ db, random, bound, today }) {
    const month = db.months.get(monthOf(today()))!
    const least = bound.amount ?? LEAST
    const goals = choices(db.savings_goals, bound.savings_goal, ({ saved, target }) => target - saved >= least)
    const givers = choices(db.categories, bound.category, ({ category }) => spareOf(db, category, month) >= least)
    if (goals.length === 0 || givers.length === 0) return null
    const { savings_goal, saved, target } = random.pick(goals)
    const { category } = random.pick(givers)
    const most = Math.min(target - saved, spareOf(db, category, month))
    // What little is missing is given in full.
    const isLast = most === target - saved && most < 100
    return { savings_goal, category, amount: bound.amount ?? (isLast ? most : sampleAmount(random, most)) }
  },
  run({ savings_goal, category: key, amount }, context) {
    const { rowOf, unless, db, fail, today } = context
    const goal = rowOf('savings_goals', savings_goal)
    const category = rowOf('categories', key)
    const missing = goal.target - goal.saved
    if (amount > missing) fail('over_target', `${goal.name} needs only ${missing} EUR more.`)
    unless(takeObstacle(db, category, monthOf(today()), amount))
    return transfer(context, goal, key, amount)
  },
})

const withdraw = tool({
  name: 'withdraw_from_savings_goal',
  description:
    'Take money out of a savings goal into a category of this month: once a month per goal, and not while the goal is locked, unless its target is reached.',
  input: z.strictObject({
    savings_goal: ref('savings_goal'),
    category: ref('category', 'Where the money goes.'),
    amount: amount.describe('What is taken out, in whole currency units.'),
  }),
  output: moved,
  annotations: { readOnly: false },
  establishes: ['savings_changed', 'budget_changed'],
  sample({ db, random, bound, today }) {
    const goals = choices(
      db.savings_goals,
      bound.savings_goal,
      (row) => !withdrawalObstacle(db, today(), row, bound.amount ?? 3 * LEAST),
    )
    // Where hardly anything is left, of what was saved for it.
    const month = monthOf(today())
    const uses = goals.flatMap(({ savings_goal, name, saved }) =>
      choices(
        db.categories,
        bound.category,
        (row) => row.kind !== 'reserve' && isUseOf(name, row.name) && isShort(db, row.category, month),
      ).map(({ category }) => ({ savings_goal, category, saved })),
    )
    const use = pickFrom(random, uses)
    if (!use) return null
    const { savings_goal, category, saved } = use
    return {
      savings_goal,
      category,
      amount: bound.amount ?? sampleAmount(random, Math.max(1, Math.min(Math.floor(saved / 3), 150))),
    }
  },
  run({ savings_goal, category: key, amount }, context) {
    const { rowOf, unless, db, today } = context
    const goal = rowOf('savings_goals', savings_goal)
    rowOf('categories', key)
    unless(withdrawalObstacle(db, today(), goal, amount) ?? monthObstacle(db, monthOf(today())))
    return transfer(context, goal, key, -amount)
  },
})

export const savingsTools = [listSavingsGoals, contribute, withdraw]
