import { defineEnvironment } from '../kernel/define-environment.js'
import { domainRules } from './domain-rules.js'
import { paymentsInvariants } from './invariants.js'
import { failures, tables } from './schema.js'
import { seedPayments } from './seed.js'
import { customerTools } from './tools/customers.js'
import { invoiceTools } from './tools/invoices.js'
import { moneyTools } from './tools/money.js'
import { webhookTools } from './tools/webhooks.js'

/** A merchant's view: invoices and their life cycle, saved cards, charges and refunds that are safe to repeat, webhooks, payouts. */
export const payments = defineEnvironment({
  name: 'payments',
  title: 'Payments',
  description:
    'Customers with saved cards, invoices, charges, refunds, webhooks and payouts of one merchant, in euros.',
  tables,
  entities: {
    customer: { noun: 'customer', table: 'customers', label: 'name' },
    token: { noun: 'saved card', table: 'tokens', label: 'name' },
    invoice: { noun: 'invoice', table: 'invoices', label: 'title' },
    webhook: { noun: 'webhook', table: 'webhooks', label: 'name' },
  },
  failures,
  tools: [...customerTools, ...invoiceTools, ...moneyTools, ...webhookTools],
  invariants: paymentsInvariants,
  domainRules,
  seed: seedPayments,
})
