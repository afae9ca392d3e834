import { defineEnvironment } from '../kernel/define-environment.js'
import { domainRules } from './domain-rules.js'
import { budgetInvariants } from './invariants.js'
import { failures, tables } from './schema.js'
import { seedBudget } from './seed.js'
import { categoryTools } from './tools/categories.js'
import { expenseTools } from './tools/expenses.js'
import { monthTools } from './tools/months.js'
import { savingsTools } from './tools/savings.js'

/** A household's budget: envelopes with hard and soft limits, months that close for good, allowances, savings goals with locks. */
export const budget = defineEnvironment({
  name: 'budget',
  title: 'Household budget',
  description:
    'Categories with monthly limits, expenses, recurring expenses and savings goals of one household, in EUR.',
  tables,
  entities: {
    category: { noun: 'category', table: 'categories', label: 'name' },
    expense: {
      noun: 'expense',
      table: 'expenses',
      label: 'description',
      compared: { amount: 'either', date: 'either' },
    },
    recurring_expense: { noun: 'bill', table: 'recurring_expenses', label: 'name', compared: { amount: 'either' } },
    savings_goal: { noun: 'savings goal', table: 'savings_goals', label: 'name' },
    month: { noun: 'month', table: 'months', sayable: true },
  },
  failures,
  tools: [...categoryTools, ...expenseTools, ...monthTools, ...savingsTools],
  invariants: budgetInvariants,
  domainRules,
  seed: seedBudget,
})
