import { defineEnvironment } from '../kernel/define-environment.js'
import { domainRules } from './domain-rules.js'
import { bankingInvariants } from './invariants.js'
import { failures, tables } from './schema.js'
import { seedBanking } from './seed.js'
import { accountTools } from './tools/accounts.js'
import { cardTools } from './tools/cards.js'
import { paymentTools } from './tools/payments.js'
import { standingOrderTools } from './tools/standing-orders.js'
import { transactionTools } from './tools/transactions.js'

/** One customer's bank: accounts with floors and daily limits, payees, payments that stay pending, cards, standing orders, disputes. */
export const banking = defineEnvironment({
  name: 'banking',
  title: 'Banking',
  description: 'Accounts, transfers, payments, cards, standing orders and transactions of one bank customer.',
  tables,
  entities: {
    account: { noun: 'account', table: 'accounts', label: 'name' },
    payee: { noun: 'payee', table: 'payees', label: 'name' },
    card: { noun: 'card', table: 'cards', label: 'name' },
    transaction: { noun: 'transaction', table: 'transactions', label: 'name', compared: { amount: 'either' } },
    standing_order: { noun: 'standing order', table: 'standing_orders', label: 'name', compared: { amount: 'either' } },
  },
  failures,
  lockout: { attempts: 3, wrong: 'wrong_pin', locked: 'pin_locked' },
  tools: [...accountTools, ...paymentTools, ...transactionTools, ...cardTools, ...standingOrderTools],
  invariants: bankingInvariants,
  domainRules,
  seed: seedBanking,
})
