import type { Invariant } from '../kernel/define-environment.js'
import { HOUSEHOLD, leftOf, spentBy, TOLERANCE } from './rules.js'
import type { BudgetTables, BudgetView } from './schema.js'

type BudgetInvariant = Invariant<BudgetTables>

const sum = <R>(rows: readonly R[], value: (row: R) => number): number =>
  rows.reduce((total, row) => total + value(row), 0)

const moneyIsConserved: BudgetInvariant = {
  name: 'limits of all months and savings keep their sum: money is moved, never made',
  check(now, seed) {
    const total = (db: BudgetView) =>
      sum(db.envelopes.list(), ({ limit }) => limit) + sum(db.savings_goals.list(), ({ saved }) => saved)
    return total(now) === total(seed) ? undefined : `${total(seed)} became ${total(now)}`
  },
}

const envelopesCount: BudgetInvariant = {
  name: 'every envelope has spent what its expenses add up to',
  check(now) {
    const wrong = now.envelopes.find(
      ({ category, month, spent }) =>
        spent !== sum(now.expenses.by('category', category), (row) => (row.month === month ? row.amount : 0)),
    )
    return wrong && `${wrong.envelope}: ${wrong.spent}`
  },
}

const limitsHold: BudgetInvariant = {
  name: 'no hard limit is exceeded, no soft one by more than is tolerated, and nothing is spent from the reserve',
  check(now) {
    const wrong = now.envelopes.find(({ category, limit, spent }) => {
      const { kind } = now.categories.get(category)!
      if (kind === 'reserve') return spent > 0
      return kind === 'hard' ? spent > limit : spent * 100 > limit * (100 + TOLERANCE)
    })
    return wrong && `${wrong.envelope}: ${wrong.spent} of ${wrong.limit}`
  },
}

const closedMonthsRest: BudgetInvariant = {
  name: 'a month that was closed at the start is as it was',
  check(now, seed) {
    for (const { month } of seed.months.list(({ status }) => status === 'closed')) {
      const content = (db: BudgetView) =>
        JSON.stringify([db.expenses.by('month', month), db.envelopes.by('month', month)])
      if (now.months.get(month)!.status !== 'closed') return `${month} was opened again`
      if (content(now) !== content(seed)) return `${month} changed`
    }
    return undefined
  },
}

const monthsCloseInOrder: BudgetInvariant = {
  name: 'months close in order, with everything paid and nothing left or overspent',
  check(now) {
    const months = now.months.list()
    const gap = months.findIndex(({ status }) => status === 'open')
    if (months.slice(gap).some(({ status }) => status === 'closed')) return 'a month was closed before an earlier one'
    for (const { month, unpaid } of months.slice(0, gap)) {
      if (unpaid.length > 0) return `${month} is closed without ${unpaid[0]}`
      const odd = now.envelopes.by('month', month).find((row) => leftOf(row) !== 0)
      if (odd) return `${odd.envelope} is closed with ${leftOf(odd)} left`
    }
    return undefined
  },
}

const recurringArePaidOnce: BudgetInvariant = {
  name: 'every recurring expense is either unpaid or paid once in each month',
  check(now) {
    for (const { month, unpaid } of now.months.list()) {
      const paid = now.expenses.by('month', month).flatMap((row) => row.recurring_expense ?? [])
      const wrong = now.recurring_expenses.find(
        ({ recurring_expense: key }) =>
          paid.filter((other) => other === key).length + unpaid.filter((other) => other === key).length !== 1,
      )
      if (wrong) return `${wrong.recurring_expense} in ${month}`
    }
    return undefined
  },
}

const splitsAddUp: BudgetInvariant = {
  name: 'an expense and the parts split from it add up to what was paid',
  check(now) {
    const wrong = now.expenses.find((row) => {
      const parts = now.expenses.by('split_from', row.expense)
      if (
        parts.some(
          ({ month, member, category }) => month !== row.month || member !== row.member || category === row.category,
        )
      )
        return true
      return row.total !== row.amount + sum(parts, ({ amount }) => amount)
    })
    return wrong && `${wrong.expense} of ${wrong.total}`
  },
}

const teensKeepTheRules: BudgetInvariant = {
  name: 'teenagers spend only where they may and within their allowance',
  check(now) {
    for (const { member, allowance } of now.members.list(({ role }) => role === 'teen')) {
      const odd = now.expenses.by('member', member).find(({ category }) => !now.categories.get(category)!.teens)
      if (odd) return `${odd.expense} by ${member}`
      const broke = now.months.find(({ month }) => spentBy(now, member, month) > allowance!)
      if (broke) return `${member} spent ${spentBy(now, member, broke.month)} in ${broke.month}`
    }
    return undefined
  },
}

const savingsAddUp: BudgetInvariant = {
  name: 'a savings goal holds what its movements add up to, never more than its target, with one withdrawal a month',
  check(now) {
    const wrong = now.savings_goals.find(({ savings_goal, saved, target }) => {
      const moves = now.savings_moves.by('savings_goal', savings_goal)
      const withdrawals = moves.filter(({ amount }) => amount < 0).map(({ month }) => month)
      return (
        saved > target ||
        saved !== sum(moves, ({ amount }) => amount) ||
        new Set(withdrawals).size !== withdrawals.length
      )
    })
    return wrong && `${wrong.savings_goal}: ${wrong.saved} of ${wrong.target}`
  },
}

const referencesResolve: BudgetInvariant = {
  name: 'what can be undone exists and has no parts, and recurring payments stand in their own category',
  check(now) {
    const last = now.household.get(HOUSEHOLD)!.last_expense
    if (last !== null && (!now.expenses.has(last) || now.expenses.by('split_from', last).length > 0))
      return `${last} cannot be undone`
    const odd = now.expenses.find(
      ({ recurring_expense, category }) =>
        recurring_expense !== null && now.recurring_expenses.get(recurring_expense)?.category !== category,
    )
    return odd && `${odd.expense} is in ${odd.category}`
  },
}

export const budgetInvariants = [
  moneyIsConserved,
  envelopesCount,
  limitsHold,
  closedMonthsRest,
  monthsCloseInOrder,
  recurringArePaidOnce,
  splitsAddUp,
  teensKeepTheRules,
  savingsAddUp,
  referencesResolve,
]
