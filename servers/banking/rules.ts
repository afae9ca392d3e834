import { addDays } from '../kernel/dates.js'
import type { Account, BankingView, Obstacle, Payee, Transaction } from './schema.js'

/** The bank's limits: name, value, unit. */
export const LIMITS = {
  /** Payments up to this amount are posted at once; larger ones stay pending and can be cancelled. Currency units. */
  instantPayment: 100,
  /** Sum of payments to a payee on the day it was added. Currency units. */
  newPayeePerDay: 250,
  /** Largest payment one holder of a joint account can make alone. Currency units. */
  jointPayment: 1000,
  /** Active standing orders per account. */
  standingOrders: 4,
  /** Open disputes of the customer. */
  openDisputes: 3,
  /** Age up to which a transaction can be disputed. Days. */
  disputeDays: 60,
} as const

/** Returns the amount that could leave the account now, without regard to its daily limit. */
export function available({ status, balance, floor }: Account): number {
  return status === 'active' ? Math.max(0, balance - floor) : 0
}

/** Whether the transaction takes money out of `account` that has not come back. */
export function leaves(transaction: Transaction, account: string): boolean {
  return transaction.account === account && transaction.kind !== 'purchase' && transaction.status !== 'cancelled'
}

/** Returns the amount that may still leave the account on `today` under its daily limit. */
export function leftToday(db: BankingView, today: string, { account, daily_limit }: Account): number {
  const gone = db.transactions.list((row) => row.date === today && leaves(row, account))
  return daily_limit - gone.reduce((sum, { amount }) => sum + amount, 0)
}

/** What a payee added on `today` may still receive; no limit for older payees. */
function leftForPayee(db: BankingView, today: string, { payee, added }: Payee): number {
  if (added !== today) return Number.POSITIVE_INFINITY
  const paid = db.transactions.list((row) => row.payee === payee && row.date === today && row.status !== 'cancelled')
  return LIMITS.newPayeePerDay - paid.reduce((sum, { amount }) => sum + amount, 0)
}

function debitObstacle(db: BankingView, today: string, account: Account, amount: number): Obstacle | undefined {
  if (account.status !== 'active') return { code: account.status === 'closed' ? 'account_closed' : 'account_frozen' }
  if (amount > available(account))
    return { code: 'insufficient_funds', detail: `Only ${available(account)} ${account.currency} is available.` }
  const left = leftToday(db, today, account)
  if (amount > left)
    return {
      code: 'daily_limit_exceeded',
      detail: `Only ${left} ${account.currency} may still leave the account today.`,
    }
  return undefined
}

/** Returns the obstacle to paying `amount` from `account` to `payee`, or undefined if the payment is allowed. */
export function paymentObstacle(
  db: BankingView,
  today: string,
  account: Account,
  payee: Payee,
  amount: number,
): Obstacle | undefined {
  if (account.kind === 'savings') return { code: 'savings_cannot_pay' }
  if (payee.status === 'blocked') return { code: 'payee_blocked' }
  const debit = debitObstacle(db, today, account, amount)
  if (debit) return debit
  if (account.kind === 'joint' && amount > LIMITS.jointPayment)
    return { code: 'cosigner_required', detail: `Above ${LIMITS.jointPayment} the other holder must sign.` }
  const left = leftForPayee(db, today, payee)
  return amount > left
    ? {
        code: 'new_payee_limit',
        detail: `A new payee can receive ${LIMITS.newPayeePerDay} today, of which ${left} is left.`,
      }
    : undefined
}

/** The largest payment nothing stands against; below 1 when none is possible. */
export function largestPayment(db: BankingView, today: string, account: Account, payee: Payee): number {
  if (account.kind === 'savings' || payee.status === 'blocked') return 0
  const alone = account.kind === 'joint' ? LIMITS.jointPayment : Number.POSITIVE_INFINITY
  return Math.min(available(account), leftToday(db, today, account), alone, leftForPayee(db, today, payee))
}

/** Returns the obstacle to moving `amount` between two of the customer's accounts, or undefined if the transfer is allowed. */
export function transferObstacle(
  db: BankingView,
  today: string,
  from: Account,
  to: Account,
  amount: number,
): Obstacle | undefined {
  if (from.account === to.account) return { code: 'same_account' }
  if (to.status === 'closed') return { code: 'account_closed' }
  if (from.currency !== to.currency)
    return {
      code: 'currency_mismatch',
      detail: `${from.account} is in ${from.currency}, ${to.account} in ${to.currency}.`,
    }
  if (from.withdrawals_left === 0) return { code: 'withdrawals_used_up' }
  return debitObstacle(db, today, from, amount)
}

/** Returns the obstacle to a standing order with these terms, or undefined if the order is allowed. */
export function standingOrderObstacle(
  db: BankingView,
  account: Account,
  payee: Payee,
  amount: number,
  frequency: string,
): Obstacle | undefined {
  if (account.kind === 'savings') return { code: 'savings_cannot_pay' }
  if (account.status !== 'active') return { code: account.status === 'closed' ? 'account_closed' : 'account_frozen' }
  if (payee.status === 'blocked') return { code: 'payee_blocked' }
  const running = db.standing_orders.list((row) => row.account === account.account && row.status === 'active')
  if (running.some((row) => row.payee === payee.payee && row.frequency === frequency))
    return { code: 'duplicate_standing_order' }
  if (running.length >= LIMITS.standingOrders) return { code: 'too_many_standing_orders' }
  if (amount > account.daily_limit)
    return {
      code: 'daily_limit_exceeded',
      detail: `No more than ${account.daily_limit} may leave the account in a day.`,
    }
  return undefined
}

/** Returns the obstacle to disputing a transaction, or undefined if the dispute is allowed. */
export function disputeObstacle(db: BankingView, today: string, transaction: Transaction): Obstacle | undefined {
  if (transaction.status === 'disputed') return { code: 'already_disputed' }
  if (transaction.kind === 'transfer' || transaction.status !== 'posted') return { code: 'not_disputable' }
  if (addDays(transaction.date, LIMITS.disputeDays) < today)
    return {
      code: 'dispute_too_late',
      detail: `It dates from ${transaction.date}, more than ${LIMITS.disputeDays} days ago.`,
    }
  if (db.transactions.count((row) => row.status === 'disputed') >= LIMITS.openDisputes)
    return { code: 'too_many_disputes' }
  return undefined
}

/**
 * Returns the date on which a standing order set up on `today` first pays. A weekly order first pays in seven days, a
 * monthly order on the 1st of the next month. A yearly order first pays on the 1st of the same month next year.
 */
export function firstExecution(today: string, frequency: string): string {
  if (frequency === 'weekly') return addDays(today, 7)
  const [year, month] = today.split('-').map(Number) as [number, number]
  if (frequency === 'yearly') return `${year + 1}-${today.slice(5, 7)}-01`
  return month === 12 ? `${year + 1}-01-01` : `${year}-${String(month + 1).padStart(2, '0')}-01`
}
