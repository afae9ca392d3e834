import type { CallWords } from '../kernel/define-server.js'

/** By tool: what people are after who call it, and what they are told when it is done. */
export const callWords: Readonly<Record<string, CallWords>> = {
  find_customer: {
    goal: 'look up a customer',
    answer: 'I found {found:customer}[: {customers*{name}, {status}, owes {owes} euros}].',
  },
  create_invoice: {
    goal: 'make an invoice',
    answer: 'The invoice "{title}" over {amount} euros is saved as {status}, due on {due}.',
    next: ['send_invoice'],
  },
  send_invoice: {
    goal: 'send an invoice',
    answer: 'The invoice "{title}" is out ({status}): {owed} euros, due on {due}.',
    next: ['charge_invoice'],
  },
  search_invoices: {
    goal: 'find an invoice',
    answer: 'I found {found:invoice}[: {invoices*{title} of {customer} ({status}, {owed} euros owed)}].',
  },
  void_invoice: { goal: 'void an invoice', answer: 'The invoice "{title}" is {status}.' },
  charge_invoice: {
    goal: 'charge an invoice to a card',
    answer: 'The invoice "{title}" is {status} now; {owed} euros are still owed and your balance is {balance} euros.',
    next: ['request_payout'],
  },
  issue_refund: {
    goal: 'refund a customer',
    answer: 'I refunded {refunded} euros of "{title}", which is {status} now. Your balance is {balance} euros.',
  },
  request_payout: {
    goal: 'pay out some of my balance',
    answer: '{amount} euros are on their way to your bank, and {balance} euros stay in the balance.',
  },
  list_webhooks: {
    goal: 'see how the webhooks are doing',
    answer:
      'There {found=is|are} {found:webhook}[: {webhooks*{name} for {topic} events ({status}, {pending} waiting)}].',
  },
  retry_webhook: {
    goal: 'retry a webhook',
    answer: '{name} is {status}: {delivered:notice} delivered, {pending} still waiting, {retries_left:retry} left.',
  },
}
