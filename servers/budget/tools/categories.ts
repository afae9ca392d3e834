import { z } from 'zod'
import { choices } from '../../kernel/choose.js'
import { ref } from '../../kernel/fields.js'
import { fill } from '../changes.js'
import { budgetOf } from '../lookup.js'
import { envelopeOf, leftOf, monthOf, RESERVE, takeObstacle } from '../rules.js'
import { DRAWS, isShort, sampleAmount, spareOf } from '../sampling.js'
import { amount, GROUPS, tool } from '../schema.js'

const listCategories = tool({
  name: 'list_categories',
  description:
    'List the categories of a group with their limit and what is left of it in a month, the current one by default. A hard limit holds, a soft one may be overspent by a fifth.',
  input: z.strictObject({
    group: z.enum(GROUPS).describe('Group of categories.'),
    month: ref('month', 'YYYY-MM').optional(),
  }),
  output: z.object({
    month: ref('month'),
    categories: z.array(
      z.object({ name: z.string(), category: ref('category'), kind: z.string(), limit: z.int(), left: z.int() }),
    ),
  }),
  annotations: { readOnly: true },
  needs: ['budget_changed'],
  sample({ random, bound, today }) {
    // The limits of months that are over are seldom of use to anybody.
    const month = bound.month ?? (random.chance(0.08) ? monthOf(today()) : undefined)
    return { group: bound.group ?? random.pick(GROUPS), ...(month === undefined ? {} : { month }) }
  },
  run({ group, month: key }, context) {
    const { db } = context
    const { month } = budgetOf(context, key)
    const categories = db.categories.by('group', group).map(({ name, category, kind }) => {
      const envelope = envelopeOf(db, category, month)
      return { name, category, kind, limit: envelope.limit, left: leftOf(envelope) }
    })
    return { month, categories }
  },
})

const moveBetweenCategories = tool({
  name: 'move_between_categories',
  description:
    'Move budget that is left from one category to another in an open month, the current one by default. Money that unpaid recurring expenses need stays.',
  input: z.strictObject({
    from_category: ref('category', 'Category that gives the money, from list_categories.'),
    to_category: ref('category', 'Category that gets the money, from list_categories.'),
    amount: amount.describe('What is moved, in whole currency units.'),
    month: ref('month', 'YYYY-MM').optional(),
  }),
  output: z.object({
    name: z.string(),
    category: ref('category', 'The category that received the money.'),
    limit: z.int().describe('Its new limit.'),
    left: z.int().describe('What is left of it.'),
    from_left: z.int().describe('What is left in the other one.'),
    month: ref('month'),
  }),
  annotations: { readOnly: false },
  establishes: ['budget_changed'],
  sample({ db, random, bound, today }) {
    // Somebody covers what is overspent, or tops up what is nearly used up.
    const months = choices(db.months, bound.month, ({ status }) => status === 'open')
    const gaps = months.flatMap(({ month }) =>
      db.envelopes
        .by('month', month)
        .filter(
          ({ category }) =>
            category === (bound.to_category ?? category) && category !== RESERVE && isShort(db, category, month),
        ),
    )
    for (let draw = 0; draw < DRAWS && gaps.length > 0; draw++) {
      const gap = random.pick(gaps)
      const month = db.months.get(gap.month)!
      const givers = choices(
        db.categories,
        bound.from_category,
        ({ category }) => spareOf(db, category, month) >= (bound.amount ?? 5) && category !== gap.category,
      )
      if (givers.length === 0) continue
      const from_category = random.pick(givers).category
      const most = spareOf(db, from_category, month)
      const over = gap.spent - gap.limit
      const given = bound.amount ?? (over > 0 && over <= most ? over : sampleAmount(random, Math.min(most, 120)))
      const said = bound.month ?? (gap.month === monthOf(today()) ? undefined : gap.month)
      return { from_category, to_category: gap.category, amount: given, ...(said === undefined ? {} : { month: said }) }
    }
    return null
  },
  run({ from_category, to_category, amount, month: key }, context) {
    const { rowOf, unless, db, fail } = context
    const { month } = budgetOf(context, key)
    const from = rowOf('categories', from_category)
    const to = rowOf('categories', to_category)
    if (from === to) fail('same_category')
    unless(takeObstacle(db, from, month, amount))
    fill(context, from_category, month, -amount)
    const limit = fill(context, to_category, month, amount)
    return {
      name: to.name,
      category: to_category,
      limit,
      left: leftOf(envelopeOf(db, to_category, month)),
      from_left: leftOf(envelopeOf(db, from_category, month)),
      month,
    }
  },
})

export const categoryTools = [listCategories, moveBetweenCategories]
