import { envelopeOf, HOUSEHOLD } from './rules.js'
import type { Context, Expense } from './schema.js'

/** Records an expense and counts it in its envelope. */
export function book(
  { db, nextId, today }: Context,
  terms: Pick<Expense, 'description' | 'category' | 'member' | 'amount' | 'month' | 'recurring_expense' | 'split_from'>,
): Expense {
  const { description, member, category, month, amount } = terms
  const { name } = db.members.get(member)!
  const { envelope, spent } = envelopeOf(db, category, month)
  db.envelopes.update(envelope, { spent: spent + amount })
  return db.expenses.insert({
    ...terms,
    expense: nextId('expense'),
    words: `${description} ${name}`.toLowerCase(),
    date: today(),
    total: amount,
  })
}

/** Gives an envelope `sum` more to spend, or takes it away when negative. @returns its new limit */
export function fill({ db }: Context, category: string, month: string, sum: number): number {
  const { envelope, limit } = envelopeOf(db, category, month)
  return db.envelopes.update(envelope, { limit: limit + sum }).limit
}

/** Remembers which expense can be undone: the one just recorded, or none. */
export function rememberLast({ db }: Context, expense: string | null): void {
  db.household.update(HOUSEHOLD, { last_expense: expense })
}
