import type { Customer, Invoice, PaymentsContext, Token, Webhook } from '../schema.js'

/** Most entries that a search lists. */
export const SHOWN = 4

export const customerOf = ({ db, fail }: PaymentsContext, customer: string): Customer =>
  db.customers.get(customer) ?? fail('unknown_customer', `There is no customer ${customer}.`)

export const tokenOf = ({ db, fail }: PaymentsContext, token: string): Token =>
  db.tokens.get(token) ?? fail('unknown_token', `There is no saved card ${token}.`)

export const invoiceOf = ({ db, fail }: PaymentsContext, invoice: string): Invoice =>
  db.invoices.get(invoice) ?? fail('unknown_invoice', `There is no invoice ${invoice}.`)

export const webhookOf = ({ db, fail }: PaymentsContext, webhook: string): Webhook =>
  db.webhooks.get(webhook) ?? fail('unknown_webhook', `There is no webhook ${webhook}.`)
