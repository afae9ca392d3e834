import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { banking } from '../../../servers/banking/index.js'
import { available, firstExecution, LIMITS, leftToday } from '../../../servers/banking/rules.js'
import type { Account, BankingView, Card, Payee, Transaction } from '../../../servers/banking/schema.js'
import { generateSeedState, Session } from '../../../servers/kernel/session.js'
import { mentions } from '../../../servers/kernel/text.js'
import { checkEnvironmentContract } from '../../support/environment-contract.js'
import { succeed } from '../../support/session-calls.js'

const TODAY = '2026-03-02'

const bankOf = (session: Session) => session.db as unknown as BankingView
const open = (seed: number) => Session.open(generateSeedState(banking, seed))
const account = (session: Session, fits: (row: Account) => boolean) => bankOf(session).accounts.find(fits)!
const card = (session: Session, fits: (row: Card) => boolean) => bankOf(session).cards.find(fits)!
const payee = (session: Session, fits: (row: Payee) => boolean = () => true) =>
  bankOf(session).payees.find((row) => row.status === 'active' && fits(row))!
const transaction = (session: Session, fits: (row: Transaction) => boolean) => bankOf(session).transactions.find(fits)!
const payer = (session: Session) => account(session, (row) => row.kind === 'checking' && row.status === 'active')

const pay = (from: Account, to: Payee, amount: number) =>
  ['send_payment', { account: from.account, payee: to.payee, amount }] as const
const move = (from: Account, to: Account, amount: number) =>
  ['transfer_money', { from_account: from.account, to_account: to.account, amount }] as const
const order = (from: Account, to: Payee, frequency = 'monthly') =>
  ['create_standing_order', { account: from.account, payee: to.payee, amount: 50, frequency }] as const
const isRecent = ({ kind, status, date }: Transaction) =>
  kind === 'purchase' && status === 'posted' && date > '2026-01-10'
const dispute = (row: Transaction) =>
  ['dispute_transaction', { transaction: row.transaction, reason: 'duplicate' }] as const

checkEnvironmentContract(banking, {
  sampleFloor: 1,
  provoke: {
    unknown_account: () => ['get_balance', { account: 'checking-7' }],
    unknown_payee: (s) => ['send_payment', { account: payer(s).account, payee: 'nobody-known', amount: 10 }],
    unknown_card: () => ['freeze_card', { card: 'visa-7' }],
    unknown_transaction: () => ['cancel_payment', { transaction: 'payment-7' }],
    unknown_standing_order: () => ['cancel_standing_order', { standing_order: 'standing-7' }],
    unknown_bank: () => ['add_payee', { name: 'Nils Unheard', bank: 'Mattress' }],
    account_frozen: (s) =>
      pay(
        account(s, (row) => row.status === 'frozen' && row.balance > 5),
        payee(s),
        5,
      ),
    account_closed: (s) =>
      move(
        payer(s),
        account(s, (row) => row.status === 'closed'),
        5,
      ),
    insufficient_funds: (s) => pay(payer(s), payee(s), available(payer(s)) + 1),
    daily_limit_exceeded: (s) => {
      const rich = account(s, (row) => available(row) > leftToday(bankOf(s), TODAY, row) && row.kind === 'business')
      return pay(rich, payee(s), leftToday(bankOf(s), TODAY, rich) + 1)
    },
    savings_cannot_pay: (s) =>
      pay(
        account(s, (row) => row.kind === 'savings' && row.status === 'active'),
        payee(s),
        5,
      ),
    withdrawals_used_up: (s) =>
      move(
        account(s, (row) => row.withdrawals_left === 0),
        payer(s),
        5,
      ),
    cosigner_required: (s) => {
      const shared = (row: Account) => row.kind === 'joint' && leftToday(bankOf(s), TODAY, row) > LIMITS.jointPayment
      return pay(
        account(s, (row) => shared(row) && available(row) > LIMITS.jointPayment),
        payee(s),
        LIMITS.jointPayment + 1,
      )
    },
    same_account: (s) => move(payer(s), payer(s), 5),
    currency_mismatch: (s) => {
      const { currency } = payer(s)
      return move(
        payer(s),
        account(s, (row) => row.currency !== currency && row.status === 'active'),
        5,
      )
    },
    payee_exists: (s) => ['add_payee', { name: payee(s).name.toUpperCase(), bank: 'Summit' }],
    payee_blocked: (s) => pay(payer(s), bankOf(s).payees.find((row) => row.status === 'blocked')!, 5),
    new_payee_limit: (s) => {
      succeed(s, 'add_payee', { name: 'Nils Unheard', bank: 'Summit' })
      const added = payee(s, (row) => row.payee === 'nils-unheard')
      succeed(s, ...pay(payer(s), added, LIMITS.newPayeePerDay - 20))
      return pay(payer(s), added, 21)
    },
    not_a_payment: (s) => [
      'cancel_payment',
      { transaction: transaction(s, (row) => row.kind === 'purchase').transaction },
    ],
    not_pending: (s) => {
      const sent = succeed(s, ...pay(payer(s), payee(s), LIMITS.instantPayment))
      return ['cancel_payment', { transaction: sent.transaction }]
    },
    card_frozen: (s) => ['set_card_limit', { card: card(s, (row) => row.status === 'frozen').card, limit: 200 }],
    card_not_frozen: (s) => {
      const { card: key, pin } = card(s, (row) => row.status === 'active')
      return ['unfreeze_card', { card: key, pin }]
    },
    card_lost: (s) => {
      const { card: key } = card(s, (row) => row.status === 'active')
      succeed(s, 'report_card_lost', { card: key })
      return ['freeze_card', { card: key }]
    },
    wrong_pin: (s) => {
      const { card: key, pin } = card(s, (row) => row.status === 'frozen')
      return ['unfreeze_card', { card: key, pin: pin === '1234' ? '4321' : '1234' }]
    },
    pin_locked: (s) => {
      const { card: key, pin } = card(s, (row) => row.status === 'frozen')
      for (let i = 0; i < 3; i++) s.call('unfreeze_card', { card: key, pin: pin === '1234' ? '4321' : '1234' })
      return ['unfreeze_card', { card: key, pin }]
    },
    limit_too_high: (s) => {
      const { card: key, ceiling } = card(s, (row) => row.status === 'active')
      return ['set_card_limit', { card: key, limit: ceiling + 1 }]
    },
    duplicate_standing_order: (s) => {
      const from = account(s, (row) => row.kind === 'joint')
      const to = payee(s, (row) => !bankOf(s).standing_orders.find((other) => other.payee === row.payee))
      succeed(s, ...order(from, to))
      return order(from, to)
    },
    too_many_standing_orders: (s) => {
      const isNew = (row: Payee) => !bankOf(s).standing_orders.find((other) => other.payee === row.payee)
      return order(payer(s), payee(s, isNew))
    },
    standing_order_cancelled: (s) => {
      const { standing_order } = bankOf(s).standing_orders.find((row) => row.status === 'active')!
      succeed(s, 'cancel_standing_order', { standing_order })
      return ['cancel_standing_order', { standing_order }]
    },
    not_disputable: (s) => dispute(transaction(s, (row) => row.kind === 'transfer')),
    already_disputed: (s) => {
      const row = transaction(s, isRecent)
      succeed(s, ...dispute(row))
      return dispute(row)
    },
    dispute_too_late: (s) => dispute(transaction(s, (row) => row.kind === 'purchase' && row.date < '2025-12-31')),
    too_many_disputes: (s) => {
      while (bankOf(s).transactions.count((row) => row.status === 'disputed') < LIMITS.openDisputes)
        succeed(s, ...dispute(transaction(s, isRecent)))
      return dispute(transaction(s, isRecent))
    },
  },
})

test('a cancelled payment comes back, and with it what may still leave the account today', () => {
  const session = open(3)
  const from = payer(session)
  const before = leftToday(bankOf(session), TODAY, from)
  const sent = succeed(session, ...pay(from, payee(session), 180))
  assert.is(sent.status, 'pending')
  assert.is(sent.balance, from.balance - 180)
  assert.is(leftToday(bankOf(session), TODAY, from), before - 180)
  const back = succeed(session, 'cancel_payment', { transaction: sent.transaction })
  assert.equal(back, { name: sent.name, transaction: sent.transaction, status: 'cancelled', balance: from.balance })
  assert.is(leftToday(bankOf(session), TODAY, from), before)
})

test('a lost card is replaced by a frozen one that only its new PIN wakes', () => {
  const session = open(4)
  const lost = card(session, (row) => row.status === 'active')
  const issued = succeed(session, 'report_card_lost', { card: lost.card })
  assert.is.not(issued.card, lost.card)
  assert.is(issued.name, lost.name)
  const listed = succeed(session, 'list_cards', { account: lost.account }).cards as { card: string }[]
  assert.ok(listed.some((row) => row.card === issued.card))
  assert.not.ok(listed.some((row) => row.card === lost.card))
  const woken = succeed(session, 'unfreeze_card', { card: issued.card, pin: issued.pin })
  assert.is(woken.status, 'active')
})

test('a purchase disputed as fraud freezes its card, one disputed for another reason does not', () => {
  const session = open(5)
  const active = (row: Transaction) => bankOf(session).cards.get(row.card ?? '')?.status === 'active'
  const row = transaction(session, (candidate) => isRecent(candidate) && active(candidate))
  const other = session.fork()
  const stated = succeed(session, 'dispute_transaction', { transaction: row.transaction, reason: 'fraud' })
  assert.is(stated.card, row.card)
  assert.is(bankOf(session).cards.get(row.card!)?.status, 'frozen')
  assert.is(
    succeed(other, 'dispute_transaction', { transaction: row.transaction, reason: 'overcharge' }).card,
    undefined,
  )
  assert.is(bankOf(other).cards.get(row.card!)?.status, 'active')
})

test('a transfer out of savings uses up one withdrawal and keeps the minimum', () => {
  const session = open(6)
  const savings = account(session, (row) => row.kind === 'savings' && (row.withdrawals_left ?? 0) > 0)
  const to = account(session, (row) => row.kind === 'checking' && row.currency === savings.currency)
  const stated = succeed(session, ...move(savings, to, 40))
  assert.is(stated.from_balance, savings.balance - 40)
  assert.is(stated.to_balance, to.balance + 40)
  assert.is(bankOf(session).accounts.get(savings.account)?.withdrawals_left, savings.withdrawals_left! - 1)
  const rest = available(bankOf(session).accounts.get(savings.account)!)
  assert.is(rest, (stated.from_balance as number) - savings.floor)
})

test('a full name or a merchant usually finds exactly one entry', () => {
  let names = 0
  let single = 0
  for (let seed = 1; seed <= 10; seed++) {
    const session = open(seed)
    for (const { name } of bankOf(session).payees.list()) {
      assert.ok((succeed(session, 'find_payee', { name }).found as number) >= 1)
      names++
      if (succeed(session, 'find_payee', { name }).found === 1) single++
    }
  }
  assert.ok(single >= 0.97 * names, `${single} of ${names}`)
})

test('search takes words in any case and order, and lists at most five of what it found', () => {
  assert.ok(mentions('Ana Lima', 'LIMA ana'))
  assert.not.ok(mentions('Ana Lima', 'ana lopez'))
  const session = open(2)
  const found = succeed(session, 'search_transactions', { name: 'er' })
  assert.ok((found.found as number) > 5)
  assert.is((found.transactions as unknown[]).length, 5)
  assert.equal(succeed(session, 'search_transactions', { name: 'no such shop' }), { found: 0, transactions: [] })
})

test('the first execution of a standing order lies one period ahead', () => {
  assert.is(firstExecution('2026-03-02', 'weekly'), '2026-03-09')
  assert.is(firstExecution('2026-01-31', 'monthly'), '2026-02-01')
  assert.is(firstExecution('2026-12-15', 'monthly'), '2027-01-01')
  assert.is(firstExecution('2024-02-29', 'yearly'), '2025-02-01')
})

test.run()
