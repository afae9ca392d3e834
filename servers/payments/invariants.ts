import type { Invariant } from '../kernel/define-environment.js'
import { LIMITS } from './rules.js'
import type { Invoice, PaymentsTables, PaymentsView } from './schema.js'

type PaymentsInvariant = Invariant<PaymentsTables>

const sumOf = (rows: readonly { readonly amount: number }[]): number =>
  rows.reduce((sum, { amount }) => sum + amount, 0)

const moneyIsConserved: PaymentsInvariant = {
  name: 'the balance is what was charged less what was refunded and paid out',
  check(db) {
    const { available } = db.balance.get('main')!
    const due = sumOf(db.charges.list()) - sumOf(db.refunds.list()) - sumOf(db.payouts.list())
    return available === due ? undefined : `${available} instead of ${due}`
  },
}

const invoicesAgreeWithRecords: PaymentsInvariant = {
  name: 'what an invoice says was captured and refunded is the sum of its charges and refunds',
  check(db) {
    const wrong = db.invoices.find(({ invoice, captured, refunded }) => {
      const charges = db.charges.by('invoice', invoice)
      const returned = charges.reduce((sum, charge) => sum + charge.refunded, 0)
      return (
        captured !== sumOf(charges) || refunded !== returned || refunded !== sumOf(db.refunds.by('invoice', invoice))
      )
    })
    return wrong?.invoice
  },
}

const statusesFitTheMoney: PaymentsInvariant = {
  name: 'the status of an invoice fits what was captured and refunded',
  check(db) {
    const kept = ({ captured, refunded }: Invoice) => captured - refunded
    const fits: Record<Invoice['status'], (row: Invoice) => boolean> = {
      draft: ({ captured }) => captured === 0,
      open: (row) => kept(row) >= 0 && kept(row) < row.amount,
      paid: (row) => kept(row) > 0 && kept(row) <= row.amount,
      refunded: (row) => kept(row) === 0 && row.captured > 0,
      void: (row) => kept(row) === 0,
    }
    const wrong = db.invoices.find((row) => !fits[row.status](row))
    return wrong && `${wrong.invoice} is ${wrong.status} with ${kept(wrong)} of ${wrong.amount}`
  },
}

const chargesAreNotOverdrawn: PaymentsInvariant = {
  name: 'no charge is refunded beyond its amount, and none above the limit of its card',
  check(db) {
    const wrong = db.charges.find(
      ({ token, amount, refunded }) => refunded > amount || amount > db.tokens.get(token)!.limit,
    )
    return wrong?.reference
  },
}

const oldChargesStay: PaymentsInvariant = {
  name: 'what was charged before stays as it was, but for refunds, which never shrink',
  check(db, seed) {
    const wrong = seed.charges.find((old) => {
      const now = db.charges.get(old.reference)
      return !now || now.amount !== old.amount || now.token !== old.token || now.refunded < old.refunded
    })
    return wrong?.reference
  },
}

const ORDER: Record<Invoice['status'], number> = { draft: 0, open: 1, paid: 2, refunded: 3, void: 3 }

const lifeMovesForward: PaymentsInvariant = {
  name: 'an invoice never goes back in its life cycle, and paid ones are not made void',
  check(db, seed) {
    const wrong = seed.invoices.find(({ invoice, status }) => {
      const now = db.invoices.get(invoice)?.status
      if (now === undefined || ORDER[now] < ORDER[status]) return true
      return now !== status && (status === 'refunded' || status === 'void' || (status === 'paid' && now === 'void'))
    })
    return wrong?.invoice
  },
}

const creditHolds: PaymentsInvariant = {
  name: 'the open invoices of a customer stay within its credit',
  check(db) {
    const wrong = db.customers.find(({ customer, credit }) => {
      const open = db.invoices.by('customer', customer).filter(({ status }) => status === 'open')
      return sumOf(open) > credit
    })
    return wrong?.customer
  },
}

const cardsPayForTheirOwner: PaymentsInvariant = {
  name: 'every charge was made to a card of the customer who owed it',
  check(db) {
    const owner = (db: PaymentsView, invoice: string) => db.invoices.get(invoice)?.customer
    const wrong = db.charges.find(({ invoice, token }) => owner(db, invoice) !== db.tokens.get(token)?.customer)
    return wrong?.reference
  },
}

const referencesAreUnique: PaymentsInvariant = {
  name: 'no charge and refund share a reference',
  check: (db) => db.refunds.find(({ reference }) => db.charges.has(reference))?.reference,
}

const noticesAddUp: PaymentsInvariant = {
  name: 'what was sent to a webhook was delivered or is pending, and it is disabled after too many failures',
  check(db) {
    const wrong = db.webhooks.find(
      ({ sent, delivered, pending, failures, status }) =>
        sent !== delivered + pending ||
        (failures === 0) !== (pending === 0) ||
        (status === 'disabled') !== failures >= LIMITS.webhookFailures,
    )
    return wrong?.webhook
  },
}

const onePayoutADay: PaymentsInvariant = {
  name: 'there is at most one payout a day',
  check(db) {
    const payouts = db.payouts.list()
    return new Set(payouts.map(({ date }) => date)).size === payouts.length ? undefined : 'two on one day'
  },
}

export const paymentsInvariants = [
  moneyIsConserved,
  invoicesAgreeWithRecords,
  statusesFitTheMoney,
  chargesAreNotOverdrawn,
  oldChargesStay,
  lifeMovesForward,
  creditHolds,
  cardsPayForTheirOwner,
  referencesAreUnique,
  noticesAddUp,
  onePayoutADay,
]
