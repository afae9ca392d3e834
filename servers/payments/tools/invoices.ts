import { z } from 'zod'
import { choose } from '../../kernel/choose.js'
import { addDays } from '../../kernel/dates.js'
import { common, ref } from '../../kernel/fields.js'
import { mentioning } from '../../kernel/text.js'
import { creditLeft, LIMITS, notify, owedOn, sendingObstacle, shownStatus, voidingObstacle } from '../rules.js'
import { sampleBill } from '../sampling.js'
import { INVOICE_STATUSES, type Invoice, money, type PaymentsView, tool } from '../schema.js'
import { TITLES } from '../words.js'

const invoiceState = { title: z.string(), invoice: ref('invoice'), status: z.string() }

const hasDraft = (db: PaymentsView, customer: string, title: string): boolean =>
  db.invoices.by('customer', customer).some((row) => row.status === 'draft' && row.title === title)

const createInvoice = tool({
  name: 'create_invoice',
  description: `Draft an invoice for a customer who is not blocked. Due in ${LIMITS.dueDays} days unless a date up to ${LIMITS.dueDaysAtMost} days ahead is given. A draft has to be sent before it can be charged.`,
  input: z.strictObject({
    customer: ref('customer'),
    title: z.string().trim().min(3).max(40).describe('What is invoiced.'),
    amount: money.describe('Euros.'),
    due: common('date', z.iso.date().describe('Last day to pay, YYYY-MM-DD.')).optional(),
  }),
  output: z.object({ ...invoiceState, amount: z.int(), due: common('date', z.string()) }),
  annotations: { readOnly: false },
  sample({ db, random, bound, today }) {
    const customer = choose(db.customers, random, bound.customer, ({ status }) => status === 'active')
    const title = bound.title ?? random.pick(TITLES)
    if (!customer || hasDraft(db, customer.customer, title)) return null
    // Mostly small enough to be sent within the customer's credit.
    const left = creditLeft(db, customer)
    const amount = sampleBill(random, left >= 60 ? Math.min(left, 900) : 900)
    const due = random.chance(0.3) ? { due: addDays(today(), random.int(1, 60)) } : {}
    return { amount, ...due, ...bound, customer: customer.customer, title }
  },
  run({ customer, title, amount, due }, { rowOf, db, fail, nextId, today }) {
    const { name, status } = rowOf('customers', customer)
    if (status === 'blocked') fail('customer_blocked', `${name} is blocked: nothing new can be invoiced.`)
    if (hasDraft(db, customer, title)) fail('invoice_exists')
    const date = today()
    if (due !== undefined && (due < date || due > addDays(date, LIMITS.dueDaysAtMost))) fail('due_out_of_range')
    return db.invoices.insert({
      invoice: nextId('invoice'),
      title,
      customer,
      text: `${title} ${name}`.toLowerCase(),
      amount,
      captured: 0,
      refunded: 0,
      status: 'draft',
      due: due ?? addDays(date, LIMITS.dueDays),
    })
  },
})

const sendInvoice = tool({
  name: 'send_invoice',
  description:
    'Send a draft to its customer, which opens it. The open invoices of a customer must stay within its credit.',
  input: z.strictObject({ invoice: ref('invoice') }),
  output: z.object({ ...invoiceState, owed: z.int(), due: common('date', z.string()) }),
  annotations: { readOnly: false },
  establishes: ['notice_sent'],
  sample({ db, random, bound, today }) {
    const fits = (row: Invoice) => sendingObstacle(db, today(), row) === undefined
    const invoice = choose(db.invoices, random, bound.invoice, (row) => row.status === 'draft' && fits(row))
    return invoice ? { invoice: invoice.invoice } : null
  },
  run({ invoice }, { unless, rowOf, db, today }) {
    unless(sendingObstacle(db, today(), rowOf('invoices', invoice)))
    const sent = db.invoices.update(invoice, { status: 'open' })
    notify(db, 'invoice')
    return { ...sent, owed: owedOn(sent) }
  },
})

const searchInvoices = tool({
  name: 'search_invoices',
  description:
    'Search invoices by words of the title or the customer name, by status, or by both. Overdue ones are open past their due date.',
  input: z.strictObject({
    words: z.string().min(2).max(60).describe('Words of the title or the customer name; all must occur.').optional(),
    status: z.enum(INVOICE_STATUSES).describe('Only invoices of this status.').optional(),
  }),
  output: z.object({
    found: z.int(),
    invoices: z.array(z.object({ ...invoiceState, customer: ref('customer'), owed: z.int() })),
  }),
  pages: { invoices: 'long' },
  annotations: { readOnly: true },
  sample({ db, random, bound, today }) {
    const row = random.pick(db.invoices.list())
    const status = shownStatus(row, today())
    if (random.chance(0.15)) return { status, ...bound }
    const words = random.chance(0.7) ? row.title : db.customers.get(row.customer)!.name
    return { words, ...(random.chance(0.3) ? { status } : {}), ...bound }
  },
  run({ words, status }, { db, today }) {
    const date = today()
    const stored = status === 'overdue' ? 'open' : status
    const matches = words === undefined ? () => true : mentioning(words)
    const fits = (row: Invoice) => matches(row.text) && (status === undefined || shownStatus(row, date) === status)
    const found = stored === undefined ? db.invoices.list(fits) : db.invoices.by('status', stored).filter(fits)
    const invoices = found.map((row) => ({
      title: row.title,
      invoice: row.invoice,
      status: shownStatus(row, date),
      customer: row.customer,
      owed: owedOn(row),
    }))
    return { found: found.length, invoices }
  },
})

const voidInvoice = tool({
  name: 'void_invoice',
  description:
    'Make a draft, open or overdue invoice void for good. Whatever was collected on it must be refunded first.',
  input: z.strictObject({ invoice: ref('invoice') }),
  output: z.object(invoiceState),
  annotations: { readOnly: false, destructive: true },
  establishes: ['notice_sent'],
  sample({ db, random, bound }) {
    const invoice = choose(db.invoices, random, bound.invoice, (row) => voidingObstacle(row) === undefined)
    return invoice ? { invoice: invoice.invoice } : null
  },
  run({ invoice }, { unless, rowOf, db }) {
    unless(voidingObstacle(rowOf('invoices', invoice)))
    notify(db, 'invoice')
    return db.invoices.update(invoice, { status: 'void' })
  },
})

export const invoiceTools = [createInvoice, sendInvoice, searchInvoices, voidInvoice]
