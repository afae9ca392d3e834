import { z } from 'zod'
import {
  type Db,
  type DbView,
  type ObstacleOf,
  type RowOf,
  type ToolContext,
  toolMaker,
} from '../kernel/define-environment.js'

export const INVOICE_STATUSES = ['draft', 'open', 'overdue', 'paid', 'refunded', 'void'] as const
export const TOPICS = ['invoice', 'charge', 'refund', 'payout'] as const
export const WEBHOOK_STATUSES = ['active', 'failing', 'disabled'] as const

/** Whole euros. */
export const money = z.int().min(1).max(50_000)
const sum = z.int().min(0)
const date = z.iso.date()
/** The merchant's own word for a charge or refund, by which a repetition is recognised. */
export const reference = z
  .string()
  .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'a reference has lower-case letters, digits and hyphens')
  .min(3)
  .max(30)

const customer = z.object({
  customer: z.string(),
  name: z.string(),
  /** The name in lower case, for searches. */
  text: z.string(),
  status: z.enum(['active', 'blocked']),
  /** What the amounts of all open invoices may come to. */
  credit: sum,
})

const token = z.object({
  token: z.string(),
  /** As people call it: `Visa 482`. */
  name: z.string(),
  customer: z.string(),
  /** The most that the card's bank allows in one charge. */
  limit: z.int().positive(),
  /** Last month in which the card can be charged, YYYY-MM. */
  expires: z.string().regex(/^\d{4}-\d{2}$/),
})

const invoice = z.object({
  invoice: z.string(),
  title: z.string(),
  customer: z.string(),
  /** Title and customer's name in lower case, for searches. */
  text: z.string(),
  amount: money,
  captured: sum,
  refunded: sum,
  /** An open invoice whose due date has passed is shown as overdue. */
  status: z.enum(['draft', 'open', 'paid', 'refunded', 'void']),
  due: date,
})

const charge = z.object({
  reference: z.string(),
  invoice: z.string(),
  token: z.string(),
  amount: money,
  refunded: sum,
  date,
})

const refund = z.object({ reference: z.string(), invoice: z.string(), amount: money, date })

const webhook = z.object({
  webhook: z.string(),
  name: z.string(),
  topic: z.enum(TOPICS),
  status: z.enum(WEBHOOK_STATUSES),
  /** Attempts that have failed since the last one that succeeded. */
  failures: sum,
  /** Attempts that will fail before the endpoint is reachable again. */
  down: sum,
  sent: sum,
  delivered: sum,
  pending: sum,
  retried: date.nullable(),
  /** Retries on the day `retried`. */
  retries: sum,
})

const payout = z.object({ payout: z.string(), amount: money, date })

const balance = z.object({
  balance: z.literal('main'),
  available: sum,
  /** What a payout must leave, for refunds. */
  reserve: sum,
})

export const tables = {
  customers: { row: customer, key: 'customer', missing: 'unknown_customer' },
  tokens: { row: token, key: 'token', missing: 'unknown_token' },
  invoices: { row: invoice, key: 'invoice', missing: 'unknown_invoice' },
  charges: { row: charge, key: 'reference' },
  refunds: { row: refund, key: 'reference' },
  webhooks: { row: webhook, key: 'webhook', missing: 'unknown_webhook' },
  payouts: { row: payout, key: 'payout' },
  balance: { row: balance, key: 'balance' },
} as const

export const failures = {
  unknown_customer: 'There is no such customer.',
  unknown_token: 'There is no such saved card.',
  unknown_invoice: 'There is no such invoice.',
  unknown_webhook: 'There is no such webhook.',
  customer_blocked: 'The customer is blocked: nothing new can be invoiced.',
  invoice_exists: 'The customer already has a draft of that title.',
  due_out_of_range: 'The due date must be today or up to 90 days ahead.',
  not_a_draft: 'The invoice was sent before.',
  credit_exceeded: 'Together with the other open invoices that is more than the credit of this customer.',
  invoice_not_open: 'Only an open or overdue invoice can be charged.',
  token_mismatch: 'The saved card belongs to another customer.',
  token_expired: 'The saved card has expired.',
  charge_declined: 'The bank of the card declined a charge of this size.',
  amount_exceeds_owed: 'That is more than is owed on the invoice.',
  full_amount_required: 'An overdue invoice takes no partial payment.',
  reference_reused: 'The reference was used for something else before.',
  invoice_closed: 'The invoice is paid, refunded or void already.',
  invoice_partly_paid: 'Money was collected on the invoice: refund it before it is made void.',
  nothing_to_refund: 'Nothing that was collected on the invoice is left to refund.',
  refund_window_closed: 'What was collected on the invoice is too old to be refunded.',
  refund_exceeds_captured: 'That is more than can be refunded.',
  insufficient_balance: 'The balance does not hold that much.',
  payout_too_small: 'The payout is too small.',
  reserve_required: 'The payout would not leave the reserve.',
  payout_made_today: 'There was a payout today already.',
  nothing_pending: 'Nothing waits to be delivered to this webhook.',
  no_retries_left: 'The webhook was retried as often as is allowed in one day.',
} as const

export type PaymentsTables = typeof tables
export type FailureCode = keyof typeof failures
export type Obstacle = ObstacleOf<typeof failures>
export type InvoiceStatus = (typeof INVOICE_STATUSES)[number]
export type PaymentsDb = Db<PaymentsTables>
export type PaymentsView = DbView<PaymentsTables>
export type Context = ToolContext<PaymentsTables, FailureCode>
export type Customer = RowOf<PaymentsTables['customers']>
export type Token = RowOf<PaymentsTables['tokens']>
export type Invoice = RowOf<PaymentsTables['invoices']>
export type Charge = RowOf<PaymentsTables['charges']>
export type Refund = RowOf<PaymentsTables['refunds']>
export type Webhook = RowOf<PaymentsTables['webhooks']>
export type Payout = RowOf<PaymentsTables['payouts']>

export const tool = toolMaker(tables, failures)
