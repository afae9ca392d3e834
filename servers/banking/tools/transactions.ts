import { z } from 'zod'
import { choose } from '../../kernel/choose.js'
import { ref } from '../../kernel/fields.js'
import { descending } from '../../kernel/lists.js'
import { mentions } from '../../kernel/text.js'
import { disputeObstacle } from '../rules.js'
import { disputeReasons } from '../sampling.js'
import { DISPUTE_REASONS, TRANSACTION_STATUSES, tool } from '../schema.js'

const searchTransactions = tool({
  name: 'search_transactions',
  description: 'Search purchases and payments by merchant or payee, or part of the name, the newest first.',
  input: z.strictObject({
    name: z.string().trim().min(2).max(40).describe('Merchant or payee.'),
    status: z.enum(TRANSACTION_STATUSES).describe('Only transactions of this status.').optional(),
  }),
  output: z.object({
    found: z.int(),
    transactions: z.array(
      z.object({ name: z.string(), transaction: ref('transaction'), amount: z.int(), status: z.string() }),
    ),
  }),
  pages: { transactions: 'short' },
  annotations: { readOnly: true },
  sample({ db, random, bound }) {
    const row = choose(
      db.transactions,
      random,
      undefined,
      ({ kind, status }) => kind !== 'transfer' && status === (bound.status ?? status),
    )
    if (!row) return null
    return {
      name: row.name,
      ...(row.status !== 'posted' && random.chance(0.5) ? { status: row.status } : {}),
      ...bound,
    }
  },
  run({ name, status }, { db }) {
    const transactions = db.transactions
      .list((row) => row.kind !== 'transfer' && row.status === (status ?? row.status) && mentions(row.name, name))
      .sort(descending('date'))
    return { found: transactions.length, transactions }
  },
})

const disputeTransaction = tool({
  name: 'dispute_transaction',
  description:
    'Dispute a posted purchase or payment. A purchase disputed as fraud also freezes the card it was made with.',
  input: z.strictObject({
    transaction: ref('transaction'),
    reason: z.enum(DISPUTE_REASONS).describe('Why the money should come back.'),
  }),
  output: z.object({
    name: z.string(),
    transaction: ref('transaction'),
    status: z.string(),
    card: ref('card', 'The card that was frozen because of the dispute.').optional(),
  }),
  annotations: { readOnly: false },
  sample({ db, random, bound, today }) {
    const row = choose(
      db.transactions,
      random,
      bound.transaction,
      (candidate) => disputeObstacle(db, today(), candidate) === undefined,
    )
    return row ? { transaction: row.transaction, reason: bound.reason ?? random.pick(disputeReasons(db, row)) } : null
  },
  run({ transaction, reason }, { rowOf, unless, db, today }) {
    const row = rowOf('transactions', transaction)
    unless(disputeObstacle(db, today(), row))
    const disputed = db.transactions.update(transaction, { status: 'disputed' })
    const card = row.card === null ? undefined : db.cards.get(row.card)
    const frozen = reason === 'fraud' && card?.status === 'active'
    if (frozen) db.cards.update(card.card, { status: 'frozen' })
    return { name: row.name, transaction, status: disputed.status, ...(frozen ? { card: card.card } : {}) }
  },
})

export const transactionTools = [searchTransactions, disputeTransaction]
