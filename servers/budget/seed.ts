import type { SeedContext, SeedRows } from '../kernel/define-environment.js'
import { twoDigitNumbers } from '../kernel/key-numbers.js'
import { ascending } from '../kernel/lists.js'
import type { SeededRandom } from '../kernel/random.js'
import { slug } from '../kernel/text.js'
import { type CategoryKind, DAILY, FAMILY, FIXED, HOME, type Item, LEISURE } from './category-kinds.js'
import { HOUSEHOLD, monthOf, RESERVE } from './rules.js'
import {
  type BudgetTables,
  type Category,
  type Envelope,
  type Expense,
  GROUPS,
  type Member,
  type Month,
  type RecurringExpense,
  type SavingsGoal,
  type SavingsMove,
} from './schema.js'
import * as words from './words.js'

const CATEGORIES_PER_GROUP = 3
const PAST_MONTHS = ['2025-12', '2026-01', '2026-02'] as const
const MOST_RECURRING = 8

/** A household in its fourth month: December is closed, January and February wait to be, March has just begun. */
export function seedBudget({ random, start }: SeedContext): SeedRows<BudgetTables> {
  const today = start.slice(0, 10)
  const current = monthOf(today)
  const kinds = chooseCategories(random)
  const categories = [...kinds.values()].map(({ category }) => category)
  const members = seedMembers(random)
  const recurring_expenses = seedRecurring(random, kinds, members)
  const months = seedMonths(random, current, recurring_expenses)
  const paid = payments(random, months, recurring_expenses, members, today)
  const bought = purchases(random, months, kinds, members, today)
  const numbers = twoDigitNumbers(random, 90)
  const expenses = [...paid, ...bought]
    .sort(ascending('date'))
    .map((row, i): Expense => ({ expense: `expense-${numbers[i]}`, ...row }))
  const { savings_goals, savings_moves } = seedSavings(random)
  return {
    household: [{ household: HOUSEHOLD, last_expense: expenses.at(-1)!.expense }],
    months,
    categories: [
      ...categories,
      { category: RESERVE, name: 'Reserve', group: 'home', kind: 'reserve', teens: false } satisfies Category,
    ],
    envelopes: seedEnvelopes(random, months, categories, recurring_expenses, expenses),
    expenses,
    recurring_expenses,
    members,
    savings_goals,
    savings_moves,
  }
}

type Kinds = ReadonlyMap<string, { readonly category: Category; readonly kind: CategoryKind }>

function chooseCategories(random: SeededRandom): Kinds {
  const chosen = {
    home: [...FIXED, random.pick(HOME)],
    daily: [DAILY[0], ...random.sample(DAILY.slice(1), CATEGORIES_PER_GROUP - 1)],
    family: random.sample(FAMILY, CATEGORIES_PER_GROUP),
    leisure: random.sample(LEISURE, CATEGORIES_PER_GROUP),
  }
  return new Map(
    GROUPS.flatMap((group) =>
      chosen[group].map((kind) => {
        const { name, teens } = kind
        const category = slug(name)
        return [category, { kind, category: { category, name, group, kind: kind.kind, teens } }] as const
      }),
    ),
  )
}

/** Two adults and one or two teenagers. */
function seedMembers(random: SeededRandom): Member[] {
  const adults = random.sample(words.ADULTS, 2)
  const teens = random.sample(words.TEENS, random.int(1, 2))
  return [
    ...adults.map((name): Member => ({ member: name, name, role: 'adult', allowance: null })),
    ...teens.map((name): Member => ({ member: name, name, role: 'teen', allowance: 10 * random.int(5, 9) })),
  ]
}

function seedRecurring(random: SeededRandom, kinds: Kinds, members: readonly Member[]): RecurringExpense[] {
  return [...kinds.values()]
    .flatMap(({ category: { category }, kind }) =>
      kind.regular.map(
        ([name, least, most]): RecurringExpense => ({
          recurring_expense: slug(name),
          name,
          category,
          amount: random.int(least, most),
          member: random.pick(members.slice(0, 2)).member,
        }),
      ),
    )
    .slice(0, MOST_RECURRING)
}

/** January lacks at most one recurring payment and February some; most of March's are still to be paid. */
function seedMonths(random: SeededRandom, current: string, recurring: readonly RecurringExpense[]): Month[] {
  const keys = recurring.map(({ recurring_expense }) => recurring_expense)
  const [december, january, february] = PAST_MONTHS
  const unpaid = (count: number) => random.sample(keys, count).sort()
  return [
    { month: december, status: 'closed', unpaid: [] },
    { month: january, status: 'open', unpaid: unpaid(random.int(0, 1)) },
    { month: february, status: 'open', unpaid: unpaid(random.int(1, 2)) },
    { month: current, status: 'open', unpaid: unpaid(keys.length - 1) },
  ]
}

type Unnumbered = Omit<Expense, 'expense'>

function unnumbered(
  description: string,
  { member, name }: Member,
  terms: Pick<Expense, 'category' | 'amount' | 'month' | 'date' | 'recurring_expense'>,
): Unnumbered {
  const spoken = `${description} ${name}`.toLowerCase()
  return { ...terms, description, words: spoken, member, split_from: null, total: terms.amount }
}

const day = (month: string, number: number): string => `${month}-${String(number).padStart(2, '0')}`

function payments(
  random: SeededRandom,
  months: readonly Month[],
  recurring: readonly RecurringExpense[],
  members: readonly Member[],
  today: string,
): Unnumbered[] {
  return months.flatMap(({ month, unpaid }) =>
    recurring
      .filter(({ recurring_expense }) => !unpaid.includes(recurring_expense))
      .map(({ recurring_expense, name, category, amount, member }) => {
        const payer = members.find((row) => row.member === member)!
        const date = month === monthOf(today) ? day(month, 1) : day(month, random.int(1, 10))
        return unnumbered(name, payer, { category, amount, month, date, recurring_expense })
      }),
  )
}

/** One or two purchases in nearly every category and month; in March, two days old, in every other one. */
function purchases(
  random: SeededRandom,
  months: readonly Month[],
  kinds: Kinds,
  members: readonly Member[],
  today: string,
): Unnumbered[] {
  const used = new Set<string>()
  const pocket = new Map<string, number>()
  return months.flatMap(({ month, status }) =>
    [...kinds.values()].flatMap(({ category, kind }, i) => {
      const now = month === monthOf(today)
      const rare = category.category === 'rent' || category.category === 'utilities'
      const many = rare ? 0 : status === 'closed' ? i % 2 : now ? random.int(0, 1) : random.int(1, 2)
      return Array.from({ length: many }, () => {
        const { name: description, least, most } = newItem(random, kind, used)
        let amount = random.int(least, most)
        let member = random.pick(members)
        const left = (member.allowance ?? 0) - (pocket.get(`${member.member}/${month}`) ?? 0)
        if (member.role === 'teen' && (!category.teens || left < least + 10)) member = members[0]!
        if (member.role === 'teen') {
          amount = Math.min(amount, left - 10)
          pocket.set(`${member.member}/${month}`, member.allowance! - left + amount)
        }
        const date = now ? day(month, random.int(1, 2)) : day(month, random.int(1, 28))
        return unnumbered(description, member, {
          category: category.category,
          amount,
          month,
          date,
          recurring_expense: null,
        })
      })
    }),
  )
}

/** Something that no other expense is for, as long as the category has such. */
function newItem(random: SeededRandom, { items }: CategoryKind, used: Set<string>): Item {
  const unused = items.filter(({ name }) => !used.has(name))
  const item = random.pick(unused.length > 0 ? unused : items)
  used.add(item.name)
  return item
}

/** Limits that fit what was spent: with something left, in open months now and then with a soft one overspent, in closed ones exactly. */
function seedEnvelopes(
  random: SeededRandom,
  months: readonly Month[],
  categories: readonly Category[],
  recurring: readonly RecurringExpense[],
  expenses: readonly Expense[],
): Envelope[] {
  return months.flatMap(({ month, status, unpaid }, age) => {
    const last = age === months.length - 1
    let mayOverspend = status === 'open' && !last && (age === 2 || random.chance(0.5))
    let tights = 3
    const rows = random.shuffle(categories).map(({ category, kind }): Envelope => {
      const spent = expenses.reduce(
        (sum, row) => sum + (row.category === category && row.month === month ? row.amount : 0),
        0,
      )
      const due = recurring
        .filter((row) => row.category === category && unpaid.includes(row.recurring_expense))
        .reduce((sum, { amount }) => sum + amount, 0)
      const regular = recurring.some((row) => row.category === category)
      const envelope = { envelope: `${category}/${month}`, category, month, spent }
      if (status === 'closed') return { ...envelope, limit: spent }
      if (mayOverspend && kind === 'soft' && !regular && spent >= 20) {
        mayOverspend = false
        return { ...envelope, limit: spent - random.int(1, Math.floor(spent / 10)) }
      }
      // In the month that runs, a few categories are nearly used up already.
      const tight = last && spent >= 20 && tights-- > 0
      const slack =
        category === 'rent'
          ? 10 * random.int(0, 3)
          : tight
            ? 2 * random.int(1, 5)
            : last
              ? 10 * random.int(6, 24)
              : 5 * random.int(1, 14)
      return { ...envelope, limit: spent + due + slack }
    })
    const reserve = status === 'closed' ? 0 : last ? 10 * random.int(8, 45) : 5 * random.int(0, 20)
    const kept = { envelope: `${RESERVE}/${month}`, category: RESERVE, month, limit: reserve, spent: 0 }
    return [...categories.map(({ category }) => rows.find((row) => row.category === category)!), kept]
  })
}

/** Four or five goals: one locked, one nearly reached and locked until then, one reached, one withdrawn from this month already. */
function seedSavings(random: SeededRandom): { savings_goals: SavingsGoal[]; savings_moves: SavingsMove[] } {
  const savings_goals: SavingsGoal[] = []
  const savings_moves: SavingsMove[] = []
  const numbers = twoDigitNumbers(random, 30)
  for (const [i, name] of random.sample([...words.GOALS.keys()], random.int(4, 5)).entries()) {
    const target = 100 * random.int(6, 40)
    const savings_goal = slug(name)
    const move = (amount: number, month: string) => {
      savings_moves.push({ savings_move: `saving-${numbers.pop()}`, savings_goal, amount, month })
      return amount
    }
    const wanted = [
      Math.floor(target / 2),
      target - random.int(15, 60),
      target,
      Math.floor(target / 3),
      10 * random.int(8, 40),
    ]
    let rest = wanted[i]!
    let saved = 0
    if (i === 3) saved += move(-10 * random.int(2, 8), '2026-03')
    rest -= saved
    for (const month of PAST_MONTHS.slice(0, 2)) {
      const part = Math.floor(rest / 3)
      saved += move(part, month)
      rest -= part
    }
    saved += move(rest, '2026-02')
    savings_goals.push({
      savings_goal,
      name,
      target,
      saved,
      locked_until: i < 2 ? `2026-${random.pick(['05', '06', '07', '09'])}-01` : null,
    })
  }
  return { savings_goals, savings_moves }
}
