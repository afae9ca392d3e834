import { z } from 'zod'
import { choose, pickFrom } from '../../kernel/choose.js'
import { ref } from '../../kernel/fields.js'
import { firstExecution, LIMITS, standingOrderObstacle } from '../rules.js'
import { frequenciesFor, sampleRegularAmount } from '../sampling.js'
import { FREQUENCIES, money, tool } from '../schema.js'

const createStandingOrder = tool({
  name: 'create_standing_order',
  description: `Pay a payee regularly from an account, but not from savings. An account has at most ${LIMITS.standingOrders} active standing orders.`,
  input: z.strictObject({
    account: ref('account'),
    payee: ref('payee'),
    amount: money.describe('Paid each time, in whole currency units.'),
    frequency: z.enum(FREQUENCIES).describe('How often it is paid.'),
  }),
  output: z.object({
    name: z.string(),
    standing_order: ref('standing_order'),
    amount: money,
    frequency: z.string(),
    next_date: z.string(),
  }),
  annotations: { readOnly: false },
  sample({ db, random, bound }) {
    const receiver =
      bound.payee === undefined
        ? pickFrom(
            random,
            db.payees.list(({ status }) => status === 'active'),
          )
        : db.payees.get(bound.payee)
    if (!receiver) return null
    const frequency = bound.frequency ?? random.pick(frequenciesFor(receiver.name))
    const least = bound.amount ?? 5
    const account = choose(
      db.accounts,
      random,
      bound.account,
      (row) => !standingOrderObstacle(db, row, receiver, least, frequency),
    )
    if (!account) return null
    const amount = bound.amount ?? sampleRegularAmount(random, frequency, account.daily_limit)
    return { account: account.account, payee: receiver.payee, amount, frequency }
  },
  run(args, { rowOf, unless, db, nextId, today }) {
    const account = rowOf('accounts', args.account)
    const payee = rowOf('payees', args.payee)
    unless(standingOrderObstacle(db, account, payee, args.amount, args.frequency))
    return db.standing_orders.insert({
      standing_order: nextId('standing'),
      name: payee.name,
      account: account.account,
      payee: payee.payee,
      amount: args.amount,
      frequency: args.frequency,
      next_date: firstExecution(today(), args.frequency),
      status: 'active',
    })
  },
})

const listStandingOrders = tool({
  name: 'list_standing_orders',
  description: 'List the active standing orders of an account.',
  input: z.strictObject({ account: ref('account') }),
  output: z.object({
    found: z.int(),
    standing_orders: z.array(
      z.object({ name: z.string(), standing_order: ref('standing_order'), amount: z.int(), frequency: z.string() }),
    ),
  }),
  pages: { standing_orders: 'short' },
  annotations: { readOnly: true },
  sample({ db, random, bound }) {
    const running = new Set(db.standing_orders.list(({ status }) => status === 'active').map((row) => row.account))
    const account = choose(db.accounts, random, bound.account, (row) => running.has(row.account))
    return account ? { account: account.account } : null
  },
  run({ account }, context) {
    context.rowOf('accounts', account)
    const orders = context.db.standing_orders.list((row) => row.account === account && row.status === 'active')
    return { found: orders.length, standing_orders: orders }
  },
})

const cancelStandingOrder = tool({
  name: 'cancel_standing_order',
  description: 'End a standing order: nothing more is paid under it.',
  input: z.strictObject({ standing_order: ref('standing_order') }),
  output: z.object({ name: z.string(), standing_order: ref('standing_order'), status: z.string() }),
  annotations: { readOnly: false, destructive: true },
  sample({ db, random, bound }) {
    const order = choose(db.standing_orders, random, bound.standing_order, ({ status }) => status === 'active')
    return order ? { standing_order: order.standing_order } : null
  },
  run({ standing_order }, { rowOf, db, fail }) {
    const order = rowOf('standing_orders', standing_order)
    if (order.status === 'cancelled') fail('standing_order_cancelled')
    return db.standing_orders.update(standing_order, { status: 'cancelled' })
  },
})

export const standingOrderTools = [createStandingOrder, listStandingOrders, cancelStandingOrder]
