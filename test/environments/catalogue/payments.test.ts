import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { generateSeedState, Session } from '../../../servers/kernel/session.js'
import { payments } from '../../../servers/payments/index.js'
import {
  chargeObstacle,
  creditLeft,
  LIMITS,
  owedOn,
  refundable,
  retriesLeft,
  shownStatus,
} from '../../../servers/payments/rules.js'
import type { Customer, Invoice, PaymentsView, Token, Webhook } from '../../../servers/payments/schema.js'
import { checkEnvironmentContract } from '../../support/environment-contract.js'
import { succeed } from '../../support/session-calls.js'

const TODAY = '2026-03-02'

const dbOf = (session: Session) => session.db as unknown as PaymentsView
const open = (seed: number) => Session.open(generateSeedState(payments, seed))
const invoice = (s: Session, fits: (row: Invoice) => boolean) => dbOf(s).invoices.find(fits)!
const customer = (s: Session, fits: (row: Customer) => boolean) => dbOf(s).customers.find(fits)!
const webhook = (s: Session, fits: (row: Webhook) => boolean) => dbOf(s).webhooks.find(fits)!
const balanceOf = (s: Session) => dbOf(s).balance.get('main')!
const statusOf = (row: Invoice) => shownStatus(row, TODAY)
const isActive = (s: Session, row: Invoice) => dbOf(s).customers.get(row.customer)!.status === 'active'

/** A card of the invoice's customer that can be charged everything that is owed. */
const cardFor = (s: Session, row: Invoice): Token =>
  dbOf(s).tokens.find((token) => chargeObstacle(TODAY, row, token, owedOn(row)) === undefined)!
const charge = (row: Invoice, token: Token, amount: number, reference = 'first-one') =>
  ['charge_invoice', { invoice: row.invoice, token: token.token, amount, reference }] as const
const refund = (row: Invoice, amount: number, reference = 'back-1') =>
  ['issue_refund', { invoice: row.invoice, amount, reference }] as const
const draft = (to: Customer, amount: number, more: Record<string, unknown> = {}) =>
  ['create_invoice', { customer: to.customer, title: 'Garden fence', amount, ...more }] as const
const isRefundable = (s: Session) => (row: Invoice) =>
  row.status === 'paid' && refundable(dbOf(s), TODAY, row.invoice) === row.captured && row.captured <= 900

checkEnvironmentContract(payments, {
  sampleFloor: 1,
  provoke: {
    unknown_customer: () => ['create_invoice', { customer: 'nobody-books', title: 'Garden fence', amount: 10 }],
    unknown_token: (s) => [
      'charge_invoice',
      { invoice: invoice(s, ({ status }) => status === 'open').invoice, token: 'visa-7', amount: 1, reference: 'abc' },
    ],
    unknown_invoice: () => ['send_invoice', { invoice: 'invoice-7' }],
    unknown_webhook: () => ['retry_webhook', { webhook: 'moon-base' }],
    customer_blocked: (s) =>
      draft(
        customer(s, ({ status }) => status === 'blocked'),
        10,
      ),
    invoice_exists: (s) => {
      const to = customer(s, ({ status }) => status === 'active')
      succeed(s, ...draft(to, 10))
      return draft(to, 20)
    },
    due_out_of_range: (s) => {
      const to = customer(s, ({ status }) => status === 'active')
      return draft(to, 10, { due: '2026-03-01' })
    },
    not_a_draft: (s) => ['send_invoice', { invoice: invoice(s, ({ status }) => status === 'open').invoice }],
    credit_exceeded: (s) => {
      const to = customer(s, ({ status }) => status === 'active')
      const made = succeed(s, ...draft(to, creditLeft(dbOf(s), to) + 1))
      return ['send_invoice', { invoice: made.invoice }]
    },
    invoice_not_open: (s) => {
      const row = invoice(s, ({ status }) => status === 'draft')
      return charge(row, dbOf(s).tokens.by('customer', row.customer)[0]!, 1)
    },
    token_mismatch: (s) => {
      const row = invoice(s, ({ status }) => status === 'open')
      return charge(row, dbOf(s).tokens.find((token) => token.customer !== row.customer)!, 1)
    },
    token_expired: (s) => {
      const old = dbOf(s).tokens.find((token) => token.expires < '2026-03')!
      const made = succeed(s, ...draft(dbOf(s).customers.get(old.customer)!, 5))
      dbOf(s)
        .invoices.by('customer', old.customer)
        .filter((row) => row.status === 'open')
        .forEach((row, i) => {
          succeed(s, ...charge(row, cardFor(s, row), owedOn(row), `clear-${i}`))
        })
      succeed(s, 'send_invoice', { invoice: made.invoice })
      return charge(dbOf(s).invoices.get(made.invoice as string)!, old, 5)
    },
    charge_declined: (s) => {
      const weak = dbOf(s).tokens.find(
        ({ limit, expires, customer: owner }) =>
          limit === 250 && expires >= '2026-03' && creditLeft(dbOf(s), dbOf(s).customers.get(owner)!) > 250,
      )!
      const made = succeed(s, ...draft(dbOf(s).customers.get(weak.customer)!, 251))
      succeed(s, 'send_invoice', { invoice: made.invoice })
      return charge(dbOf(s).invoices.get(made.invoice as string)!, weak, 251)
    },
    amount_exceeds_owed: (s) => {
      const row = invoice(s, (candidate) => statusOf(candidate) === 'open')
      return charge(row, cardFor(s, row), owedOn(row) + 1)
    },
    full_amount_required: (s) => {
      const row = invoice(s, (candidate) => statusOf(candidate) === 'overdue')
      return charge(row, cardFor(s, row), owedOn(row) - 1)
    },
    reference_reused: (s) => {
      const row = invoice(s, (candidate) => statusOf(candidate) === 'open' && owedOn(candidate) > 20)
      succeed(s, ...charge(row, cardFor(s, row), 10))
      return charge(row, cardFor(s, row), 9)
    },
    invoice_closed: (s) => ['void_invoice', { invoice: invoice(s, ({ status }) => status === 'paid').invoice }],
    invoice_partly_paid: (s) => [
      'void_invoice',
      { invoice: invoice(s, ({ status, captured }) => status === 'open' && captured > 0).invoice },
    ],
    nothing_to_refund: (s) =>
      refund(
        invoice(s, ({ status }) => status === 'refunded'),
        1,
      ),
    refund_window_closed: (s) =>
      refund(
        invoice(s, (row) => row.status === 'paid' && refundable(dbOf(s), TODAY, row.invoice) === 0),
        1,
      ),
    refund_exceeds_captured: (s) => {
      const row = invoice(s, isRefundable(s))
      return refund(row, row.captured + 1)
    },
    insufficient_balance: (s) => {
      const { available, reserve } = balanceOf(s)
      succeed(s, 'request_payout', { amount: available - reserve })
      return refund(
        invoice(s, (row) => isRefundable(s)(row) && row.captured > reserve),
        balanceOf(s).available + 1,
      )
    },
    payout_too_small: () => ['request_payout', { amount: LIMITS.payout - 1 }],
    reserve_required: (s) => ['request_payout', { amount: balanceOf(s).available - balanceOf(s).reserve + 1 }],
    payout_made_today: (s) => {
      succeed(s, 'request_payout', { amount: LIMITS.payout })
      return ['request_payout', { amount: LIMITS.payout }]
    },
    nothing_pending: (s) => ['retry_webhook', { webhook: webhook(s, ({ pending }) => pending === 0).webhook }],
    no_retries_left: (s) => {
      const failing = webhook(s, (row) => row.pending > 0 && row.down >= retriesLeft(row, TODAY))
      for (let left = retriesLeft(failing, TODAY); left > 0; left--)
        succeed(s, 'retry_webhook', { webhook: failing.webhook })
      return ['retry_webhook', { webhook: failing.webhook }]
    },
  },
  provokeSeed: 1,
})

test('an invoice goes from draft to open to paid in two parts, and the balance grows by each', () => {
  const session = open(1)
  const to = customer(session, (row) => row.status === 'active' && creditLeft(dbOf(session), row) >= 100)
  const made = succeed(session, ...draft(to, 100))
  assert.is(made.status, 'draft')
  assert.is(made.due, '2026-03-16')
  assert.is(succeed(session, 'send_invoice', { invoice: made.invoice }).owed, 100)
  const row = dbOf(session).invoices.get(made.invoice as string)!
  const before = balanceOf(session).available
  const half = succeed(session, ...charge(row, cardFor(session, row), 40, 'half-1'))
  assert.equal([half.status, half.owed, half.balance], ['open', 60, before + 40])
  const rest = succeed(session, ...charge(row, cardFor(session, row), 60, 'half-2'))
  assert.equal([rest.status, rest.owed, rest.balance], ['paid', 0, before + 100])
})

test('a charge that is repeated with its reference is made only once', () => {
  const session = open(2)
  const row = invoice(session, (candidate) => statusOf(candidate) === 'open' && owedOn(candidate) > 50)
  const call = charge(row, cardFor(session, row), 20)
  const first = succeed(session, ...call)
  const state = session.stateHash()
  assert.equal(succeed(session, ...call), first)
  assert.is(session.stateHash(), state)
})

test('a charge that is repeated without a reference is another one', () => {
  const session = open(2)
  const row = invoice(session, (candidate) => statusOf(candidate) === 'open' && owedOn(candidate) > 50)
  const [tool, { reference: _, ...args }] = charge(row, cardFor(session, row), 20)
  const first = succeed(session, tool, args)
  assert.is(succeed(session, tool, args).owed, (first.owed as number) - 20)
})

test('a reference of a charge cannot be used for a refund, nor one of a refund for a charge', () => {
  const session = open(2)
  const row = invoice(session, (candidate) => statusOf(candidate) === 'open' && owedOn(candidate) > 50)
  const paid = invoice(session, isRefundable(session))
  succeed(session, ...charge(row, cardFor(session, row), 20, 'same-1'))
  succeed(session, ...refund(paid, 1, 'same-2'))
  for (const [tool, args] of [refund(paid, 1, 'same-1'), charge(row, cardFor(session, row), 20, 'same-2')]) {
    const result = session.call(tool, args)
    assert.is(result.ok ? 'made' : result.code, 'reference_reused')
  }
})

test('a paid invoice refunded in parts is refunded in full at the end and never more', () => {
  const session = open(4)
  const row = invoice(session, (candidate) => isRefundable(session)(candidate) && candidate.captured > 2)
  const part = succeed(session, ...refund(row, row.captured - 1))
  assert.equal([part.status, part.refunded], ['paid', row.captured - 1])
  const all = succeed(session, ...refund(row, 1, 'back-2'))
  assert.equal([all.status, all.refunded], ['refunded', row.captured])
  const more = session.call(...refund(row, 1, 'back-3'))
  assert.is(more.ok ? 'refunded' : more.code, 'nothing_to_refund')
})

test('a partly paid invoice is owed in full again after a refund, and can then be made void', () => {
  const session = open(5)
  const isPartly = (row: Invoice) => row.status === 'open' && row.captured > 0 && row.due >= TODAY
  const row = invoice(session, (candidate) => isPartly(candidate) && candidate.captured <= 800)
  const stated = succeed(session, ...refund(row, row.captured))
  assert.equal([stated.status, stated.owed], ['open', undefined])
  assert.is(owedOn(dbOf(session).invoices.get(row.invoice)!), row.amount)
  assert.is(succeed(session, 'void_invoice', { invoice: row.invoice }).status, 'void')
  assert.equal(session.violations(), [])
})

test('a payment frees the credit that the next invoice needs', () => {
  const session = open(6)
  const row = invoice(
    session,
    (candidate) => candidate.status === 'open' && isActive(session, candidate) && candidate.amount > 60,
  )
  const to = dbOf(session).customers.get(row.customer)!
  const made = succeed(session, ...draft(to, creditLeft(dbOf(session), to) + 10))
  const refused = session.call('send_invoice', { invoice: made.invoice })
  assert.is(refused.ok ? 'sent' : refused.code, 'credit_exceeded')
  succeed(session, ...charge(row, cardFor(session, row), owedOn(row)))
  assert.is(succeed(session, 'send_invoice', { invoice: made.invoice }).status, 'open')
})

test('an expired card is not offered', () => {
  const session = open(7)
  const old = dbOf(session).tokens.find((token) => token.expires < '2026-03')!
  const owner = dbOf(session).customers.get(old.customer)!
  const [found] = succeed(session, 'find_customer', { name: owner.name }).customers as { cards: { token: string }[] }[]
  assert.ok(found!.cards.length > 0)
  assert.not.ok(found!.cards.some(({ token }) => token === old.token))
})

test('charges that cannot be announced pile up until the webhook is disabled, and a retry that succeeds clears them', () => {
  let disabled = 0
  for (let seed = 1; seed <= 12; seed++) {
    const session = open(seed)
    const row = invoice(session, (candidate) => statusOf(candidate) === 'open' && owedOn(candidate) > 30)
    const token = cardFor(session, row)
    const hooks = () => dbOf(session).webhooks.list(({ topic }) => topic === 'charge')
    const before = hooks()
    for (let i = 1; i <= 4; i++) succeed(session, ...charge(row, token, 2, `drip-${i}`))
    for (const [i, hook] of hooks().entries()) {
      assert.is(hook.sent, before[i]!.sent + 4)
      if (before[i]!.status === 'disabled') assert.is(hook.pending, before[i]!.pending + 4)
      else if (hook.status === 'active') assert.is(hook.pending, 0)
      if (hook.status !== 'disabled' || hook.down > 0 || retriesLeft(hook, TODAY) === 0) continue
      disabled++
      const stated = succeed(session, 'retry_webhook', { webhook: hook.webhook })
      assert.equal([stated.status, stated.delivered, stated.pending], ['active', hook.pending, 0])
    }
  }
  assert.ok(disabled > 0)
})

test('a webhook that cannot be reached is disabled by the fifth failure in a row', () => {
  for (let seed = 1; seed <= 60; seed++) {
    const session = open(seed)
    const shaky = webhook(session, ({ failures, down }) => failures === LIMITS.webhookFailures - 1 && down > 0)
    if (!shaky) continue
    const stated = succeed(session, 'retry_webhook', { webhook: shaky.webhook })
    assert.equal([stated.status, stated.delivered, stated.pending], ['disabled', 0, shaky.pending])
    return
  }
  assert.unreachable('no seed has such a webhook')
})

test('an invoice title usually finds one invoice, and the status narrows what a customer has', () => {
  let single = 0
  let titles = 0
  for (let seed = 1; seed <= 5; seed++) {
    const session = open(seed)
    for (const row of dbOf(session).invoices.list()) {
      titles++
      if (succeed(session, 'search_invoices', { words: row.title }).found === 1) single++
      const { name } = dbOf(session).customers.get(row.customer)!
      const found = succeed(session, 'search_invoices', { words: name, status: statusOf(row) })
      assert.ok((found.invoices as { invoice: string }[]).some((entry) => entry.invoice === row.invoice))
    }
  }
  assert.ok(single >= 0.95 * titles, `${single} of ${titles}`)
  const overdue = succeed(open(1), 'search_invoices', { status: 'overdue' })
  assert.is(overdue.found, 8)
})

test.run()
