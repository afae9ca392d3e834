import { z } from 'zod'
import { choose } from '../../kernel/choose.js'
import { addDays } from '../../kernel/dates.js'
import { ref, sensitive } from '../../kernel/fields.js'
import {
  chargeObstacle,
  isReferenceUsed,
  isUsable,
  LIMITS,
  notify,
  owedOn,
  payoutObstacle,
  refundable,
  refundObstacle,
  shownStatus,
} from '../rules.js'
import { newReference, samplePart } from '../sampling.js'
import { type Context, type Invoice, money, type PaymentsView, type Refund, reference, tool } from '../schema.js'

const REPEATABLE = 'Repeating a call with the same reference changes nothing; without one, each call is another'
/** How often somebody gives a mark of their own. */
const MARKED = 0.15
const outcome = { title: z.string(), invoice: ref('invoice'), status: z.string() }

function summary({ db }: Context, key: string, date: string) {
  const invoice = db.invoices.get(key)!
  return {
    title: invoice.title,
    invoice: key,
    status: shownStatus(invoice, date),
    owed: owedOn(invoice),
    balance: db.balance.get('main')!.available,
  }
}

/** The amounts, from the least to the most, that can be charged for an invoice to a card; nothing when none can. */
function chargeable(invoice: Invoice, limit: number, today: string): readonly [number, number] | undefined {
  const owed = owedOn(invoice)
  const least = invoice.due < today ? owed : 1
  const most = Math.min(owed, limit)
  return owed > 0 && most >= least ? [least, most] : undefined
}

function chargeablePair(db: PaymentsView, today: string, invoice: Invoice, token?: string) {
  if (owedOn(invoice) === 0) return []
  return db.tokens
    .by('customer', invoice.customer)
    .filter((row) => (token ?? row.token) === row.token && isUsable(row, today))
    .flatMap((row) => {
      const range = chargeable(invoice, row.limit, today)
      return range ? [{ token: row.token, range }] : []
    })
}

const chargeInvoice = tool({
  name: 'charge_invoice',
  description: `Collect euros on an open invoice from a saved card of its customer, in parts if it is not overdue. ${REPEATABLE}; with other arguments a used reference is refused.`,
  input: z.strictObject({
    invoice: ref('invoice'),
    token: sensitive(ref('token', 'Token of the saved card.')),
    amount: money.describe('Euros.'),
    reference: reference
      .describe('Your own mark of this charge, such as may-rent: the same mark never charges twice.')
      .optional(),
  }),
  output: z.object({ ...outcome, owed: z.int(), balance: z.int() }),
  annotations: { readOnly: false },
  establishes: ['money_captured', 'notice_sent'],
  sample({ db, random, bound, today }) {
    const date = today()
    const invoice = choose(
      db.invoices,
      random,
      bound.invoice,
      (row) => chargeablePair(db, date, row, bound.token).length > 0,
    )
    if (!invoice) return null
    const { token, range } = random.pick(chargeablePair(db, date, invoice, bound.token))
    const [least, most] = range
    const amount = least === most || random.chance(0.7) ? most : samplePart(random, most)
    const marked = random.chance(MARKED) ? { reference: newReference(db, invoice.title) } : {}
    return { amount, ...marked, ...bound, invoice: invoice.invoice, token }
  },
  run({ invoice, token, amount, reference: given }, context) {
    const { rowOf, unless, db, fail, today, nextId } = context
    const reference = given ?? nextId('charge')
    const charged = rowOf('invoices', invoice)
    const card = rowOf('tokens', token)
    const date = today()
    const before = db.charges.get(reference)
    if (before?.invoice === invoice && before.token === token && before.amount === amount)
      return summary(context, invoice, date)
    if (isReferenceUsed(db, reference)) fail('reference_reused')
    unless(chargeObstacle(date, charged, card, amount))
    db.charges.insert({ reference, invoice, token, amount, refunded: 0, date })
    const captured = charged.captured + amount
    const paid = captured - charged.refunded === charged.amount
    db.invoices.update(invoice, { captured, status: paid ? 'paid' : 'open' })
    db.balance.update('main', { available: db.balance.get('main')!.available + amount })
    notify(db, 'charge')
    return summary(context, invoice, date)
  },
})

const issueRefund = tool({
  name: 'issue_refund',
  description: `Give back euros collected on an invoice in the last ${LIMITS.refundDays} days, out of the balance. ${REPEATABLE}; with other arguments a used reference is refused.`,
  input: z.strictObject({
    invoice: ref('invoice'),
    amount: money.describe('Euros.'),
    reference: reference
      .describe('Your own mark of this refund, such as return-17: the same mark never refunds twice.')
      .optional(),
  }),
  output: z.object({ ...outcome, refunded: z.int().describe('In all, on this invoice.'), balance: z.int() }),
  annotations: { readOnly: false },
  establishes: ['notice_sent'],
  sample({ db, random, bound, today }) {
    const { available } = db.balance.get('main')!
    // What is still being paid is not given back.
    const most = (row: Invoice) =>
      row.status !== 'paid' || row.captured === row.refunded
        ? 0
        : Math.min(available, refundable(db, today(), row.invoice))
    const invoice = choose(db.invoices, random, bound.invoice, (row) => most(row) > 0)
    if (!invoice) return null
    const amount = random.chance(0.7) ? most(invoice) : samplePart(random, most(invoice))
    const marked = random.chance(MARKED) ? { reference: newReference(db, `refund ${invoice.title}`) } : {}
    return { amount, ...marked, ...bound, invoice: invoice.invoice }
  },
  run({ invoice, amount, reference: given }, context) {
    const { rowOf, unless, db, fail, today, nextId } = context
    const paid = rowOf('invoices', invoice)
    const reference = given ?? nextId('refund')
    const date = today()
    const before = db.refunds.get(reference)
    if (before?.invoice !== invoice || before.amount !== amount) {
      if (isReferenceUsed(db, reference)) fail('reference_reused')
      unless(refundObstacle(db, date, paid, amount))
      refund(context, paid, { reference, invoice, amount, date })
    }
    return { ...summary(context, invoice, date), refunded: db.invoices.get(invoice)!.refunded }
  },
})

/** Takes a refund out of the charges that are recent enough, the earliest first. */
function refund({ db }: Context, invoice: Invoice, made: Refund): void {
  const { amount, date } = made
  const since = addDays(date, -LIMITS.refundDays)
  let left = amount
  for (const charge of db.charges.by('invoice', made.invoice)) {
    const part = charge.date < since ? 0 : Math.min(left, charge.amount - charge.refunded)
    if (part > 0) db.charges.update(charge.reference, { refunded: charge.refunded + part })
    left -= part
  }
  db.refunds.insert(made)
  const refunded = invoice.refunded + amount
  const status = invoice.status === 'paid' && refunded === invoice.captured ? 'refunded' : invoice.status
  db.invoices.update(made.invoice, { refunded, status })
  db.balance.update('main', { available: db.balance.get('main')!.available - amount })
  notify(db, 'refund')
}

const requestPayout = tool({
  name: 'request_payout',
  description: `Pay out euros from the balance to the merchant's bank, at least ${LIMITS.payout} and once a day. A reserve must stay in the balance.`,
  input: z.strictObject({ amount: money.describe('Euros.') }),
  output: z.object({ payout: z.string(), amount: z.int(), balance: z.int() }),
  annotations: { readOnly: false },
  needs: ['money_captured'],
  establishes: ['notice_sent'],
  sample({ db, random, bound, today }) {
    const { available, reserve } = db.balance.get('main')!
    const most = available - reserve
    if (payoutObstacle(db, today(), Math.max(most, LIMITS.payout))) return null
    const steps = Math.floor(most / LIMITS.payout)
    return { amount: LIMITS.payout * random.int(Math.ceil(steps / 4), steps), ...bound }
  },
  run({ amount }, { unless, db, nextId, today }) {
    const date = today()
    unless(payoutObstacle(db, date, amount))
    const { payout } = db.payouts.insert({ payout: nextId('payout'), amount, date })
    const { available } = db.balance.update('main', { available: db.balance.get('main')!.available - amount })
    notify(db, 'payout')
    return { payout, amount, balance: available }
  },
})

export const moneyTools = [chargeInvoice, issueRefund, requestPayout]
