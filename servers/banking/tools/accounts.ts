import { z } from 'zod'
import { choose } from '../../kernel/choose.js'
import { ref } from '../../kernel/fields.js'
import { available, leftToday, transferObstacle } from '../rules.js'
import { sampleRoundAmount } from '../sampling.js'
import { ACCOUNT_KINDS, money, tool } from '../schema.js'

const listAccounts = tool({
  name: 'list_accounts',
  description: 'List the accounts of one kind with their status.',
  input: z.strictObject({ kind: z.enum(ACCOUNT_KINDS).describe('Kind of account.') }),
  output: z.object({
    found: z.int(),
    accounts: z.array(
      z.object({ name: z.string(), account: ref('account'), currency: z.string(), status: z.string() }),
    ),
  }),
  pages: { accounts: 'short' },
  annotations: { readOnly: true },
  sample: ({ random, bound }) => ({ kind: random.pick(ACCOUNT_KINDS), ...bound }),
  run({ kind }, { db }) {
    const accounts = db.accounts.list((row) => row.kind === kind)
    return { found: accounts.length, accounts }
  },
})

const getBalance = tool({
  name: 'get_balance',
  description: 'Show the balance of an account and how much of it is available now.',
  input: z.strictObject({ account: ref('account') }),
  output: z.object({
    name: z.string(),
    account: ref('account'),
    balance: z.int(),
    available: z.int(),
    currency: z.string(),
  }),
  annotations: { readOnly: true },
  sample({ db, random, bound }) {
    const account = choose(db.accounts, random, bound.account)
    return account ? { account: account.account } : null
  },
  run({ account }, context) {
    const row = context.rowOf('accounts', account)
    return { ...row, available: available(row) }
  },
})

const transferMoney = tool({
  name: 'transfer_money',
  description:
    'Move money between two of your own accounts at once. Both must have the same currency; savings accounts allow few withdrawals a month.',
  input: z.strictObject({
    from_account: ref('account', 'Account that the money leaves, from list_accounts.'),
    to_account: ref('account', 'Account that the money goes to, from list_accounts.'),
    amount: money.describe('Whole units of the currency of both accounts.'),
  }),
  output: z.object({
    // Not a reference: a transfer can be neither cancelled nor disputed, so nothing takes its key.
    transfer: z.string(),
    amount: money,
    status: z.string(),
    from_balance: z.int(),
    to_balance: z.int(),
  }),
  annotations: { readOnly: false },
  sample({ db, random, bound, today }) {
    const from = choose(
      db.accounts,
      random,
      bound.from_account,
      (row) =>
        row.withdrawals_left !== 0 &&
        Math.min(available(row), leftToday(db, today(), row)) >= (bound.amount ?? 5) &&
        db.accounts.find(
          (to) => to.status === 'active' && !transferObstacle(db, today(), row, to, bound.amount ?? 5),
        ) !== undefined,
    )
    if (!from) return null
    const to = choose(
      db.accounts,
      random,
      bound.to_account,
      // Nobody fills what they cannot use.
      (row) => row.status === 'active' && !transferObstacle(db, today(), from, row, bound.amount ?? 5),
    )
    if (!to) return null
    const amount = bound.amount ?? sampleRoundAmount(random, Math.min(available(from), leftToday(db, today(), from)))
    return amount === undefined ? null : { from_account: from.account, to_account: to.account, amount }
  },
  run({ from_account, to_account, amount }, { rowOf, unless, db, nextId, today }) {
    const from = rowOf('accounts', from_account)
    const to = rowOf('accounts', to_account)
    unless(transferObstacle(db, today(), from, to, amount))
    const { balance: from_balance } = db.accounts.update(from_account, {
      balance: from.balance - amount,
      withdrawals_left: from.withdrawals_left === null ? null : from.withdrawals_left - 1,
    })
    const { balance: to_balance } = db.accounts.update(to_account, { balance: to.balance + amount })
    const { transaction, status } = db.transactions.insert({
      transaction: nextId('transfer'),
      kind: 'transfer',
      name: to.name,
      account: from_account,
      to_account,
      payee: null,
      card: null,
      amount,
      date: today(),
      status: 'posted',
      note: '',
    })
    return { transfer: transaction, amount, status, from_balance, to_balance }
  },
})

export const accountTools = [listAccounts, getBalance, transferMoney]
