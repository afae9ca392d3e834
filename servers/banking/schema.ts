import { z } from 'zod'
import {
  type Db,
  type DbView,
  type ObstacleOf,
  type RowOf,
  type ToolContext,
  toolMaker,
} from '../kernel/define-environment.js'

export const ACCOUNT_KINDS = ['checking', 'savings', 'joint', 'business'] as const
export const FREQUENCIES = ['weekly', 'monthly', 'yearly'] as const
export const TRANSACTION_STATUSES = ['pending', 'posted', 'cancelled', 'disputed'] as const
export const DISPUTE_REASONS = ['fraud', 'duplicate', 'overcharge', 'undelivered'] as const

/** Whole currency units. */
export const money = z.int().min(1).max(100_000)
const date = z.iso.date()

const account = z.object({
  account: z.string(),
  name: z.string(),
  kind: z.enum(ACCOUNT_KINDS),
  currency: z.enum(['EUR', 'USD', 'GBP']),
  balance: z.int(),
  /** What the balance may not fall below: negative where an overdraft is agreed, positive where a minimum is. */
  floor: z.int(),
  status: z.enum(['active', 'frozen', 'closed']),
  /** What may leave the account in one day. */
  daily_limit: z.int().positive(),
  /** Withdrawals that a savings account still allows this month; null for other kinds. */
  withdrawals_left: z.int().min(0).nullable(),
})

const payee = z.object({
  payee: z.string(),
  name: z.string(),
  bank: z.string(),
  status: z.enum(['active', 'blocked']),
  added: date,
})

const card = z.object({
  card: z.string(),
  name: z.string(),
  account: z.string(),
  status: z.enum(['active', 'frozen', 'lost']),
  /** What the card may spend in one day, up to `ceiling`. */
  limit: z.int().positive(),
  ceiling: z.int().positive(),
  pin: z.string().regex(/^\d{4}$/),
})

const transaction = z.object({
  transaction: z.string(),
  kind: z.enum(['purchase', 'payment', 'transfer']),
  /** Merchant, payee or receiving account, as the customer would name it. */
  name: z.string(),
  account: z.string(),
  to_account: z.string().nullable(),
  payee: z.string().nullable(),
  card: z.string().nullable(),
  amount: money,
  date,
  status: z.enum(TRANSACTION_STATUSES),
  note: z.string(),
})

const standingOrder = z.object({
  standing_order: z.string(),
  /** The payee's name. */
  name: z.string(),
  account: z.string(),
  payee: z.string(),
  amount: money,
  frequency: z.enum(FREQUENCIES),
  next_date: date,
  status: z.enum(['active', 'cancelled']),
})

export const tables = {
  accounts: { row: account, key: 'account', missing: 'unknown_account' },
  payees: { row: payee, key: 'payee', missing: 'unknown_payee' },
  cards: { row: card, key: 'card', missing: 'unknown_card' },
  transactions: { row: transaction, key: 'transaction', missing: 'unknown_transaction' },
  standing_orders: { row: standingOrder, key: 'standing_order', missing: 'unknown_standing_order' },
} as const

export const failures = {
  unknown_account: 'There is no such account.',
  unknown_payee: 'There is no such payee.',
  unknown_card: 'There is no such card.',
  unknown_transaction: 'There is no such transaction.',
  unknown_standing_order: 'There is no such standing order.',
  unknown_bank: 'No bank of that name takes part in payments.',
  account_frozen: 'The account is frozen.',
  account_closed: 'The account is closed.',
  insufficient_funds: 'The account does not have that much available.',
  daily_limit_exceeded: 'That is more than may still leave the account today.',
  savings_cannot_pay: 'Payments cannot be made from a savings account: transfer the money to another account first.',
  withdrawals_used_up: 'The savings account allows no more withdrawals this month.',
  cosigner_required: 'A payment this large from a joint account needs the other holder.',
  same_account: 'Both accounts are the same.',
  currency_mismatch: 'The accounts have different currencies.',
  payee_exists: 'There is already a payee of that name.',
  payee_blocked: 'Payments to this payee are blocked.',
  new_payee_limit: 'A payee added today can receive only a limited amount today.',
  not_a_payment: 'Only payments to payees can be cancelled.',
  not_pending: 'The payment is no longer pending.',
  card_frozen: 'The card is frozen.',
  card_not_frozen: 'The card is not frozen.',
  card_lost: 'The card was reported lost.',
  wrong_pin: 'That is not the PIN of this card.',
  pin_locked: 'After three wrong PINs this card takes none any more; the bank has to reset it.',
  limit_too_high: 'The limit is higher than this card allows.',
  duplicate_standing_order: 'The account already has such a standing order for this payee.',
  too_many_standing_orders: 'The account has as many standing orders as it may have.',
  standing_order_cancelled: 'The standing order was cancelled before.',
  not_disputable: 'Only posted purchases and payments can be disputed.',
  already_disputed: 'The transaction is in dispute already.',
  dispute_too_late: 'The transaction is too old to be disputed.',
  too_many_disputes: 'There are as many open disputes as may be.',
} as const

export type BankingTables = typeof tables
export type FailureCode = keyof typeof failures
export type Context = ToolContext<typeof tables, FailureCode>
export type Obstacle = ObstacleOf<typeof failures>
export type BankingDb = Db<BankingTables>
export type BankingView = DbView<BankingTables>
export type Account = RowOf<BankingTables['accounts']>
export type Payee = RowOf<BankingTables['payees']>
export type Card = RowOf<BankingTables['cards']>
export type Transaction = RowOf<BankingTables['transactions']>
export type StandingOrder = RowOf<BankingTables['standing_orders']>

export const tool = toolMaker(tables, failures)
