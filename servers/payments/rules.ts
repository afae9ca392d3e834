import { addDays } from '../kernel/dates.js'
import type { Customer, Invoice, InvoiceStatus, Obstacle, PaymentsDb, PaymentsView, Token, Webhook } from './schema.js'

/** The limits of the payment service: name, value, unit. */
export const LIMITS = {
  /** Age up to which a charge can be refunded. Days. */
  refundDays: 60,
  /** Smallest payout. Euros. */
  payout: 50,
  /** Failed attempts in a row after which a webhook is disabled. */
  webhookFailures: 5,
  /** Retries per webhook and day. */
  retries: 3,
  /** When an invoice is due unless its author says otherwise. Days. */
  dueDays: 14,
  /** The latest due date. Days. */
  dueDaysAtMost: 90,
} as const

/**
 * Returns the amount that the customer still has to pay on an invoice. The customer owes refunds of an open invoice
 * again.
 */
export function owedOn({ status, amount, captured, refunded }: Invoice): number {
  return status === 'open' ? amount - captured + refunded : 0
}

export function shownStatus({ status, due }: Invoice, today: string): InvoiceStatus {
  return status === 'open' && due < today ? 'overdue' : status
}

/** Returns the amount that a customer still has to pay on all invoices. */
export function owedBy(db: PaymentsView, customer: string): number {
  let owed = 0
  for (const invoice of db.invoices.by('customer', customer)) owed += owedOn(invoice)
  return owed
}

/**
 * Returns the amount that the customer's credit still allows to be sent. Open invoices count in full, without a
 * deduction of payments.
 */
export function creditLeft(db: PaymentsView, { customer, credit }: Customer): number {
  let left = credit
  for (const { status, amount } of db.invoices.by('customer', customer)) if (status === 'open') left -= amount
  return left
}

export const isUsable = ({ expires }: Token, today: string): boolean => expires >= today.slice(0, 7)

/** Returns the obstacle to sending a draft, if any. */
export function sendingObstacle(db: PaymentsView, today: string, invoice: Invoice): Obstacle | undefined {
  if (invoice.status !== 'draft')
    return { code: 'not_a_draft', detail: `${invoice.invoice} is ${shownStatus(invoice, today)}.` }
  const customer = db.customers.get(invoice.customer)!
  if (customer.status === 'blocked') return { code: 'customer_blocked' }
  if (invoice.due < today) return { code: 'due_out_of_range', detail: `It was due on ${invoice.due}.` }
  const left = creditLeft(db, customer)
  return invoice.amount > left
    ? { code: 'credit_exceeded', detail: `The credit of ${customer.customer} leaves ${Math.max(0, left)} euros.` }
    : undefined
}

/** Returns the obstacle to charging `amount` for an invoice to a saved card, if any. */
export function chargeObstacle(today: string, invoice: Invoice, token: Token, amount: number): Obstacle | undefined {
  const status = shownStatus(invoice, today)
  if (status !== 'open' && status !== 'overdue')
    return { code: 'invoice_not_open', detail: `${invoice.invoice} is ${status}.` }
  if (token.customer !== invoice.customer) return { code: 'token_mismatch' }
  if (!isUsable(token, today)) return { code: 'token_expired', detail: `${token.token} expired in ${token.expires}.` }
  const owed = owedOn(invoice)
  if (amount > owed) return { code: 'amount_exceeds_owed', detail: `Only ${owed} euros are owed.` }
  if (status === 'overdue' && amount < owed)
    return { code: 'full_amount_required', detail: `The invoice is overdue: collect all ${owed} euros.` }
  return amount > token.limit ? { code: 'charge_declined' } : undefined
}

/** Returns the obstacle to making an invoice void, if any. */
export function voidingObstacle({ invoice, status, captured, refunded }: Invoice): Obstacle | undefined {
  if (status !== 'draft' && status !== 'open') return { code: 'invoice_closed', detail: `${invoice} is ${status}.` }
  const kept = captured - refunded
  return kept > 0 ? { code: 'invoice_partly_paid', detail: `Refund the ${kept} euros collected first.` } : undefined
}

/** Returns the amount that was collected on an invoice recently enough to be refunded and was not refunded yet. */
export function refundable(db: PaymentsView, today: string, invoice: string): number {
  const since = addDays(today, -LIMITS.refundDays)
  let sum = 0
  for (const { date, amount, refunded } of db.charges.by('invoice', invoice))
    if (date >= since) sum += amount - refunded
  return sum
}

/** Returns the obstacle to refunding `amount` on an invoice, if any. */
export function refundObstacle(
  db: PaymentsView,
  today: string,
  { invoice, captured, refunded }: Invoice,
  amount: number,
): Obstacle | undefined {
  if (captured === refunded) return { code: 'nothing_to_refund' }
  const most = refundable(db, today, invoice)
  if (most === 0)
    return { code: 'refund_window_closed', detail: `Refunds end ${LIMITS.refundDays} days after the charge.` }
  if (amount > most) return { code: 'refund_exceeds_captured', detail: `At most ${most} euros can be refunded.` }
  const { available } = db.balance.get('main')!
  return amount > available
    ? { code: 'insufficient_balance', detail: `The balance holds ${available} euros.` }
    : undefined
}

/** Returns the obstacle to a payout, if any. */
export function payoutObstacle(db: PaymentsView, today: string, amount: number): Obstacle | undefined {
  if (amount < LIMITS.payout) return { code: 'payout_too_small', detail: `The least is ${LIMITS.payout} euros.` }
  if (db.payouts.by('date', today).length > 0) return { code: 'payout_made_today' }
  const { available, reserve } = db.balance.get('main')!
  return amount > available - reserve
    ? {
        code: 'reserve_required',
        detail: `The balance is ${available} euros, of which ${reserve} must stay for refunds.`,
      }
    : undefined
}

/** Whether a charge or refund already carries the reference. */
export function isReferenceUsed(db: PaymentsView, reference: string): boolean {
  return db.charges.has(reference) || db.refunds.has(reference)
}

/** One attempt to deliver what is pending at a webhook, `added` new notices included. */
export function attempt(webhook: Webhook, added: number): Partial<Webhook> {
  const pending = webhook.pending + added
  const sent = webhook.sent + added
  if (webhook.down === 0)
    return { sent, delivered: webhook.delivered + pending, pending: 0, failures: 0, status: 'active' }
  const failures = webhook.failures + 1
  return {
    sent,
    pending,
    failures,
    down: webhook.down - 1,
    status: failures >= LIMITS.webhookFailures ? 'disabled' : 'failing',
  }
}

/** Sends a notice to the webhooks of a topic: a disabled one keeps it waiting, for others a delivery is attempted. */
export function notify(db: PaymentsDb, topic: Webhook['topic']): void {
  for (const webhook of db.webhooks.by('topic', topic)) {
    const waits = { sent: webhook.sent + 1, pending: webhook.pending + 1 }
    db.webhooks.update(webhook.webhook, webhook.status === 'disabled' ? waits : attempt(webhook, 1))
  }
}

/** Retries that a webhook has left today. */
export function retriesLeft({ retried, retries }: Webhook, today: string): number {
  return retried === today ? LIMITS.retries - retries : LIMITS.retries
}
