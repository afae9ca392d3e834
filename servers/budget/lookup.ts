import { monthOf } from './rules.js'
import type { Context, Month } from './schema.js'

/** The budget of the given month or, without one, of the current month. */
export function budgetOf({ rowOf, today }: Context, month = monthOf(today())): Month {
  return rowOf('months', month)
}
