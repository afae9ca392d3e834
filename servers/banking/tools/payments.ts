import { z } from 'zod'
import { choose } from '../../kernel/choose.js'
import { ref } from '../../kernel/fields.js'
import { mentions, slug } from '../../kernel/text.js'
import { LIMITS, largestPayment, paymentObstacle } from '../rules.js'
import { sampleAmount, sampleRoundAmount } from '../sampling.js'
import { money, tool } from '../schema.js'
import { BANKS, COMPANIES, FIRST_NAMES, LAST_NAMES, notesFor } from '../words.js'

const findPayee = tool({
  name: 'find_payee',
  description: 'Find payees by name or part of a name.',
  input: z.strictObject({ name: z.string().trim().min(2).max(40).describe('Name or part of it.') }),
  output: z.object({
    found: z.int(),
    payees: z.array(z.object({ name: z.string(), payee: ref('payee'), bank: z.string(), status: z.string() })),
  }),
  pages: { payees: 'short' },
  annotations: { readOnly: true },
  sample({ db, random, bound }) {
    const payee = choose(db.payees, random, undefined)
    if (!payee) return null
    const part = random.pick(payee.name.split(' '))
    const few = db.payees.count((row) => mentions(row.name, part)) <= 2
    return { name: few && random.chance(0.25) ? part : payee.name, ...bound }
  },
  run({ name }, { db }) {
    const payees = db.payees.list((row) => mentions(row.name, name))
    return { found: payees.length, payees }
  },
})

const addPayee = tool({
  name: 'add_payee',
  description: `Add a payee who has an account at the given bank. On the first day at most ${LIMITS.newPayeePerDay} can be paid to a new payee.`,
  input: z.strictObject({
    name: z
      .string()
      .trim()
      .min(2)
      .max(40)
      .regex(/^[A-Za-z][A-Za-z .'-]+$/, 'a name has letters, spaces, points, hyphens and apostrophes')
      .describe('Full name of the person or company.'),
    bank: z.string().trim().min(2).max(40).describe('Name of the bank of the payee.'),
  }),
  output: z.object({ name: z.string(), payee: ref('payee'), bank: z.string(), status: z.string() }),
  annotations: { readOnly: false },
  sample({ db, random, bound }) {
    const names = Array.from({ length: 12 }, () =>
      random.chance(0.1) ? random.pick(COMPANIES) : `${random.pick(FIRST_NAMES)} ${random.pick(LAST_NAMES)}`,
    )
    const name = bound.name ?? names.find((candidate) => !db.payees.has(slug(candidate)))
    return name === undefined || db.payees.has(slug(name)) ? null : { name, bank: random.pick(BANKS), ...bound }
  },
  run({ name, bank }, { db, fail, today }) {
    const known = BANKS.find((candidate) => candidate.toLowerCase() === bank.toLowerCase())
    if (!known) return fail('unknown_bank', `No bank called ${bank} takes part in payments.`)
    const payee = slug(name)
    if (db.payees.has(payee)) fail('payee_exists', `${name} is a payee already.`)
    return db.payees.insert({
      payee,
      name: name.replaceAll(/\s+/g, ' '),
      bank: known,
      status: 'active',
      added: today(),
    })
  },
})

const sendPayment = tool({
  name: 'send_payment',
  description: `Pay a payee from an account, but not from savings. Up to ${LIMITS.instantPayment} is posted at once; more stays pending for the day.`,
  input: z.strictObject({
    account: ref('account'),
    payee: ref('payee'),
    amount: money.describe('Whole units of the currency of the account.'),
    note: z.string().trim().min(1).max(60).describe('What the payee reads about the payment.').optional(),
  }),
  output: z.object({
    name: z.string(),
    transaction: ref('transaction'),
    amount: money,
    status: z.string(),
    balance: z.int(),
  }),
  annotations: { readOnly: false },
  establishes: ['payment_pending'],
  sample({ db, random, bound, today }) {
    const least = bound.amount ?? 5
    const account = choose(
      db.accounts,
      random,
      bound.account,
      (row) => db.payees.find((payee) => largestPayment(db, today(), row, payee) >= least) !== undefined,
    )
    if (!account) return null
    const payee = choose(db.payees, random, bound.payee, (row) => largestPayment(db, today(), account, row) >= least)
    if (!payee) return null
    // Bills are odd sums; people are paid round ones.
    const sampled = COMPANIES.includes(payee.name) ? sampleAmount : sampleRoundAmount
    const amount = bound.amount ?? sampled(random, largestPayment(db, today(), account, payee))
    if (amount === undefined) return null
    // Nobody notes a dinner on what the business pays, or on a sum like that.
    const isPlain = !COMPANIES.includes(payee.name) && (account.kind === 'business' || amount > 500)
    const note = bound.note ?? (!isPlain && random.chance(0.3) ? random.pick(notesFor(payee.name, amount)) : undefined)
    return { account: account.account, payee: payee.payee, amount, ...(note === undefined ? {} : { note }) }
  },
  run(args, { rowOf, unless, db, nextId, today }) {
    const account = rowOf('accounts', args.account)
    const payee = rowOf('payees', args.payee)
    unless(paymentObstacle(db, today(), account, payee, args.amount))
    const { balance } = db.accounts.update(account.account, { balance: account.balance - args.amount })
    const payment = db.transactions.insert({
      transaction: nextId('payment'),
      kind: 'payment',
      name: payee.name,
      account: account.account,
      to_account: null,
      payee: payee.payee,
      card: null,
      amount: args.amount,
      date: today(),
      status: args.amount <= LIMITS.instantPayment ? 'posted' : 'pending',
      note: args.note ?? '',
    })
    return { ...payment, balance }
  },
})

const cancelPayment = tool({
  name: 'cancel_payment',
  description: 'Cancel a payment that is still pending; the money returns to the account.',
  input: z.strictObject({ transaction: ref('transaction') }),
  output: z.object({ name: z.string(), transaction: ref('transaction'), status: z.string(), balance: z.int() }),
  annotations: { readOnly: false, destructive: true },
  needs: ['payment_pending'],
  sample({ db, random, bound }) {
    const payment = choose(
      db.transactions,
      random,
      bound.transaction,
      (row) => row.kind === 'payment' && row.status === 'pending',
    )
    return payment ? { transaction: payment.transaction } : null
  },
  run({ transaction }, { rowOf, db, fail }) {
    const payment = rowOf('transactions', transaction)
    if (payment.kind !== 'payment') fail('not_a_payment', `${transaction} is a ${payment.kind}, not a payment.`)
    if (payment.status !== 'pending') fail('not_pending', `${transaction} is ${payment.status}.`)
    const account = db.accounts.get(payment.account)!
    const { balance } = db.accounts.update(account.account, { balance: account.balance + payment.amount })
    return { ...db.transactions.update(transaction, { status: 'cancelled' }), balance }
  },
})

export const paymentTools = [findPayee, addPayee, sendPayment, cancelPayment]
