import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { budget } from '../../../servers/budget/index.js'
import { closingObstacle, envelopeOf, leftOf, movable, neededFor } from '../../../servers/budget/rules.js'
import type { BudgetView, Category, Expense, Member, SavingsGoal } from '../../../servers/budget/schema.js'
import { dependencyGraph } from '../../../servers/kernel/dependency-graph.js'
import { generateSeedState, Session } from '../../../servers/kernel/session.js'
import { checkEnvironmentContract } from '../../support/environment-contract.js'
import { succeed } from '../../support/session-calls.js'

const [DECEMBER, JANUARY, FEBRUARY, MARCH] = ['2025-12', '2026-01', '2026-02', '2026-03'] as const

const bookOf = (session: Session) => session.db as unknown as BudgetView
const open = (seed: number) => Session.open(generateSeedState(budget, seed))
const left = (session: Session, category: string, month: string = MARCH) =>
  leftOf(envelopeOf(bookOf(session), category, month))
const category = (session: Session, fits: (row: Category) => boolean) => bookOf(session).categories.find(fits)!
const hard = (session: Session, room = 20) =>
  category(session, (row) => row.kind === 'hard' && left(session, row.category) >= room)
const soft = (session: Session, room = 20) =>
  category(session, (row) => row.kind === 'soft' && left(session, row.category) >= room)
const adult = (session: Session) => bookOf(session).members.find(({ role }) => role === 'adult')!
const teen = (session: Session) => bookOf(session).members.find(({ role }) => role === 'teen')!
const goal = (session: Session, fits: (row: SavingsGoal) => boolean) => bookOf(session).savings_goals.find(fits)!
const bought = (session: Session, month: string, fits: (row: Expense) => boolean = () => true) =>
  bookOf(session).expenses.find(
    (row) => row.month === month && row.recurring_expense === null && row.amount > 4 && fits(row),
  )!

const spend = (member: Member, { category }: Category, amount: number, description = 'Corner Lantern') =>
  ['record_expense', { description, category, amount, member: member.member }] as const
const split = ({ expense }: Expense, { category }: Category, amount: number) =>
  ['split_expense', { expense, category, amount }] as const
const move = (from_category: string, to_category: string, amount: number, month?: string) =>
  ['move_between_categories', { from_category, to_category, amount, ...(month ? { month } : {}) }] as const
const withdraw = ({ savings_goal }: SavingsGoal, amount: number) =>
  ['withdraw_from_savings_goal', { savings_goal, category: 'reserve', amount }] as const
const contribute = ({ savings_goal }: SavingsGoal, amount: number, category = 'reserve') =>
  ['contribute_to_savings_goal', { savings_goal, category, amount }] as const
const close = (month: string) => ['close_month', { month }] as const

/** Pays and covers whatever keeps a month from being closed, except earlier months. */
function tidy(session: Session, month: string): void {
  const db = bookOf(session)
  const take = (to: string, needed: number) => {
    let missing = needed
    for (const { category } of db.categories.list()) {
      const sum = Math.min(missing, Math.max(0, movable(db, category, db.months.get(month)!)))
      if (category === to || sum < 1) continue
      succeed(session, ...move(category, to, sum, month))
      missing -= sum
    }
    assert.is(missing, 0, `${month} has too little to cover ${to}`)
  }
  for (const { category, limit, spent } of db.envelopes.by('month', month))
    if (spent > limit) take(category, spent - limit)
  for (const recurring_expense of db.months.get(month)!.unpaid)
    succeed(session, 'pay_recurring_expense', { recurring_expense, month })
}

checkEnvironmentContract(budget, {
  sampleFloor: 1,
  maxResultChars: 580,
  provoke: {
    unknown_category: () => ['move_between_categories', { from_category: 'yachts', to_category: 'rent', amount: 5 }],
    unknown_expense: () => ['undo_expense', { expense: 'expense-7' }],
    unknown_recurring_expense: () => ['pay_recurring_expense', { recurring_expense: 'yacht-mooring' }],
    unknown_savings_goal: () => [
      'withdraw_from_savings_goal',
      { savings_goal: 'yacht', category: 'reserve', amount: 5 },
    ],
    unknown_member: (s) => [
      'record_expense',
      { description: 'Corner Lantern', category: soft(s).category, amount: 5, member: 'nobody' },
    ],
    unknown_month: () => ['summarise_month', { month: '2019-07' }],
    month_closed: (s) => split(bought(s, DECEMBER), hard(s), 1),
    month_not_over: () => close(MARCH),
    earlier_month_open: (s) => {
      tidy(s, FEBRUARY)
      return close(FEBRUARY)
    },
    recurring_unpaid: (s) => {
      tidy(s, JANUARY)
      succeed(s, ...close(JANUARY))
      return close(FEBRUARY)
    },
    category_overspent: (s) => {
      tidy(s, JANUARY)
      succeed(s, ...close(JANUARY))
      for (const recurring_expense of bookOf(s).months.get(FEBRUARY)!.unpaid)
        succeed(s, 'pay_recurring_expense', { recurring_expense, month: FEBRUARY })
      return close(FEBRUARY)
    },
    limit_exceeded: (s) => spend(adult(s), hard(s), left(s, hard(s).category) + 1),
    soft_limit_exceeded: (s) => {
      const { limit, spent } = envelopeOf(bookOf(s), soft(s).category, MARCH)
      return spend(adult(s), soft(s), Math.floor(limit * 1.2) - spent + 1)
    },
    reserve_not_spendable: (s) =>
      spend(
        adult(s),
        category(s, ({ kind }) => kind === 'reserve'),
        5,
      ),
    not_permitted: (s) =>
      spend(
        teen(s),
        category(s, (row) => !row.teens && row.kind === 'soft'),
        2,
      ),
    allowance_exceeded: (s) => {
      const play = category(s, (row) => row.teens && left(s, row.category) > 110)
      return spend(teen(s), play, teen(s).allowance! + 1)
    },
    duplicate_expense: (s) => {
      succeed(s, ...spend(adult(s), soft(s), 5))
      return spend(adult(s), soft(s), 5, 'corner lantern')
    },
    already_paid: (s) => {
      const { unpaid } = bookOf(s).months.get(MARCH)!
      const paid = bookOf(s).recurring_expenses.find(({ recurring_expense }) => !unpaid.includes(recurring_expense))!
      return ['pay_recurring_expense', { recurring_expense: paid.recurring_expense }]
    },
    same_category: () => move('reserve', 'reserve', 5),
    not_enough_left: (s) => move('reserve', 'rent', left(s, 'reserve') + 1),
    needed_for_recurring: (s) => {
      const db = bookOf(s)
      const owing = category(s, (row) => neededFor(db, row.category, db.months.get(MARCH)!) > 0)
      return move(owing.category, 'reserve', left(s, owing.category))
    },
    split_too_large: (s) => {
      const expense = bought(s, FEBRUARY)
      return split(
        expense,
        category(s, (row) => row.category !== expense.category && row.kind === 'soft'),
        expense.amount,
      )
    },
    not_splittable: (s) => {
      const regular = bookOf(s).expenses.find(
        (row) => row.recurring_expense === 'apartment-rent' && row.month !== DECEMBER,
      )!
      return split(regular, soft(s), 1)
    },
    not_last_expense: (s) => ['undo_expense', { expense: bought(s, JANUARY).expense }],
    over_target: (s) => {
      const near = goal(s, ({ saved, target }) => saved < target)
      return contribute(near, near.target - near.saved + 1)
    },
    not_enough_saved: (s) => {
      const full = goal(s, ({ saved, target }) => saved === target)
      return withdraw(full, full.saved + 1)
    },
    goal_locked: (s) =>
      withdraw(
        goal(s, ({ locked_until }) => locked_until !== null),
        5,
      ),
    withdrawal_used: (s) => {
      const free = goal(s, ({ saved, target }) => saved === target)
      succeed(s, ...withdraw(free, 10))
      return withdraw(free, 10)
    },
  },
})

test('a hard limit stops a purchase that a soft one lets through', () => {
  const session = open(2)
  const fixed = hard(session)
  const refused = session.call(...spend(adult(session), fixed, left(session, fixed.category) + 1))
  assert.is(!refused.ok && refused.code, 'limit_exceeded')
  const loose = soft(session)
  const stated = succeed(session, ...spend(adult(session), loose, left(session, loose.category) + 1))
  assert.is(stated.left, -1)
})

test('money moved into an overspent category makes the month closable, and what is left goes to the next reserve', () => {
  const session = open(3)
  const db = bookOf(session)
  tidy(session, JANUARY)
  assert.is(closingObstacle(db, '2026-03-02', db.months.get(JANUARY)!), undefined)
  const rest = succeed(session, 'summarise_month', { month: JANUARY }).left as number
  const before = left(session, 'reserve', FEBRUARY)
  const stated = succeed(session, ...close(JANUARY))
  assert.is(stated.carried, rest)
  assert.is(left(session, 'reserve', FEBRUARY), before + rest)
  const after = succeed(session, 'summarise_month', { month: JANUARY })
  assert.is(after.status, 'closed')
  assert.is(after.left, 0)
  assert.is(after.budget, after.spent)
  const again = session.call(...close(JANUARY))
  assert.is(!again.ok && again.code, 'month_closed')
})

test('both past months can be tidied and closed, one after the other, in every world', () => {
  for (let seed = 1; seed <= 12; seed++) {
    const session = open(seed)
    for (const month of [JANUARY, FEBRUARY]) {
      tidy(session, month)
      succeed(session, ...close(month))
    }
    assert.equal(session.violations(), [])
  }
})

test('only the last expense can be undone, and only once', () => {
  const session = open(4)
  const { category } = soft(session)
  const room = left(session, category)
  const first = succeed(session, ...spend(adult(session), soft(session), 7))
  const second = succeed(session, ...spend(adult(session), soft(session), 8))
  const early = session.call('undo_expense', { expense: first.expense })
  assert.is(!early.ok && early.code, 'not_last_expense')
  assert.is(succeed(session, 'undo_expense', { expense: second.expense }).left, room - 7)
  const late = session.call('undo_expense', { expense: first.expense })
  assert.is(!late.ok && late.code, 'not_last_expense')
  assert.is(left(session, category), room - 7)
})

test('an undone payment is due again, unless its month was closed meanwhile', () => {
  const session = open(5)
  const recurring_expense = bookOf(session).months.get(FEBRUARY)!.unpaid[0]!
  tidy(session, JANUARY)
  succeed(session, ...close(JANUARY))
  const paid = succeed(session, 'pay_recurring_expense', { recurring_expense, month: FEBRUARY })
  const twice = session.call('pay_recurring_expense', { recurring_expense, month: FEBRUARY })
  assert.is(!twice.ok && twice.code, 'already_paid')
  succeed(session, 'undo_expense', { expense: paid.expense })
  assert.ok(bookOf(session).months.get(FEBRUARY)!.unpaid.includes(recurring_expense))
  tidy(session, FEBRUARY)
  const last = bookOf(session).household.get('home')!.last_expense
  succeed(session, ...close(FEBRUARY))
  const late = session.call('undo_expense', { expense: last })
  assert.is(!late.ok && late.code, 'month_closed')
})

test('a split moves part of an expense to another category, and neither part can be split or undone again', () => {
  const session = open(6)
  const other = (row: Expense) =>
    category(session, ({ category, kind }) => kind === 'soft' && category !== row.category)
  const recorded = succeed(session, ...spend(adult(session), soft(session), 19))
  const whole = bookOf(session).expenses.get(recorded.expense as string)!
  const [here, there] = [left(session, whole.category), left(session, other(whole).category)]
  const part = succeed(session, ...split(whole, other(whole), 6))
  assert.is(part.remaining, 13)
  assert.is(left(session, whole.category), here + 6)
  assert.is(left(session, other(whole).category), there - 6)
  const again = session.call('split_expense', { expense: part.expense, category: whole.category, amount: 2 })
  assert.is(!again.ok && again.code, 'not_splittable')
  for (const expense of [whole.expense, part.expense]) {
    const undone = session.call('undo_expense', { expense })
    assert.is(!undone.ok && undone.code, 'not_last_expense')
  }
})

test("a teenager's purchase cannot be split into a category that only adults may use", () => {
  const session = open(7)
  const play = category(session, (row) => row.teens && left(session, row.category) > 20)
  const child = bookOf(session).members.find(
    ({ role, member }) =>
      role === 'teen' && session.fork().call(...spend(bookOf(session).members.get(member)!, play, 10)).ok,
  )!
  const { expense } = succeed(session, ...spend(child, play, 10))
  const closed = category(session, (row) => !row.teens && row.kind === 'soft')
  const result = session.call(...split(bookOf(session).expenses.get(expense as string)!, closed, 4))
  assert.is(!result.ok && result.code, 'not_permitted')
})

test('a locked goal opens once its target is reached, and is locked again below it', () => {
  const session = open(8)
  const near = goal(session, ({ locked_until, saved, target }) => locked_until !== null && target - saved <= 60)
  const refused = session.call(...withdraw(near, 10))
  assert.is(!refused.ok && refused.code, 'goal_locked')
  assert.is(succeed(session, ...contribute(near, near.target - near.saved)).saved, near.target)
  const stated = succeed(session, ...withdraw(near, 10))
  assert.is(stated.saved, near.target - 10)
  const again = session.call(...withdraw(near, 10))
  assert.is(!again.ok && again.code, 'goal_locked')
})

test('a description usually finds one expense, the name of a member all of theirs', () => {
  let single = 0
  let all = 0
  for (let seed = 1; seed <= 10; seed++) {
    const session = open(seed)
    for (const { description, recurring_expense } of bookOf(session).expenses.list()) {
      if (recurring_expense !== null) continue
      all++
      if (succeed(session, 'search_expenses', { text: description.toUpperCase() }).found === 1) single++
    }
    const { name, member } = adult(session)
    const own = bookOf(session).expenses.by('member', member).length
    assert.ok((succeed(session, 'search_expenses', { text: name }).found as number) >= own)
  }
  assert.ok(single >= 0.9 * all, `${single} of ${all}`)
})

test('every tool is connected to the others', () => {
  const { edges } = dependencyGraph(budget)
  for (const { name } of budget.tools)
    assert.ok(
      edges.some(({ from, to }) => from === name || to === name),
      name,
    )
})

test.run()
