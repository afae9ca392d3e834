import type { CallWords } from '../kernel/define-environment.js'

/** By tool: what people are after who call it, and what they are told when it is done. */
export const callWords: Readonly<Record<string, CallWords>> = {
  find_customer: {
    goal: 'look up a customer',
    answer:
      'I found {found:customer}[: {customers*{name} ({status}[, owes {owes:euro}][, saved cards: {cards*{name}}])}].',
    wishes: ['find a person', 'find a company'],
  },
  create_invoice: {
    goal: 'write an invoice for a customer',
    answer: 'The invoice "{title}" of {amount} euros is saved as a {status}, due on {due}.',
    next: ['send_invoice'],
    checks: [],
  },
  send_invoice: {
    goal: 'send an invoice',
    answer: 'The invoice "{title}" is out: {owed} euros, due on {due}.',
    checks: [],
  },
  search_invoices: {
    goal: 'find an invoice',
    answer: 'I found {found:invoice}[: {invoices*{title} for {customer} ({status}[, {owed:euro} owed])}].',
    wishes: ['list payments'],
  },
  void_invoice: { goal: 'void an invoice', answer: 'The invoice "{title}" is {status}.', checks: [] },
  charge_invoice: {
    goal: "charge an invoice to a customer's card",
    answer: 'The invoice "{title}" is {status}[, with {owed:euro} still owed]. Your balance is {balance} euros.',
    next: ['request_payout'],
    checks: ['find_customer'],
  },
  issue_refund: {
    goal: 'give a customer some money back',
    answer: 'I refunded {@amount} euros on "{title}"; the invoice is {status}. Your balance is {balance} euros.',
    checks: [],
  },
  request_payout: {
    goal: 'pay out some of my balance',
    answer: '{amount} euros are on their way to your bank, and {balance} euros stay in the balance.',
    checks: [],
  },
  list_webhooks: {
    goal: 'see how the webhooks are doing',
    answer:
      'There {found=is|are} {found:webhook}[: {webhooks*{name} for {topic} events ({status}[, {pending:notice} waiting])}].',
  },
  retry_webhook: {
    goal: 'retry a webhook',
    answer:
      '{name} is {status}: {delivered:notice} delivered[, {pending} still waiting], and {retries_left:retry} left for today.',
    said: ['webhook'],
    checks: ['list_webhooks'],
  },
}
