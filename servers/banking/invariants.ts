import type { Invariant } from '../kernel/define-environment.js'
import { LIMITS, leaves } from './rules.js'
import type { BankingTables, BankingView, Transaction } from './schema.js'

type BankingInvariant = Invariant<BankingTables>

/** What the recorded payments and transfers have added to (or taken from) an account. */
function booked(db: BankingView, account: string): number {
  return db.transactions
    .list()
    .reduce(
      (sum, row) => sum - (leaves(row, account) ? row.amount : 0) + (row.to_account === account ? row.amount : 0),
      0,
    )
}

const balancesAreBooked: BankingInvariant = {
  name: 'every balance has moved by exactly what its transactions say',
  check(now, seed) {
    const wrong = now.accounts.find(
      ({ account, balance }) =>
        balance - booked(now, account) !== (seed.accounts.get(account)?.balance ?? 0) - booked(seed, account),
    )
    return wrong && `${wrong.account} has ${wrong.balance}`
  },
}

const moneyIsConserved: BankingInvariant = {
  name: 'in each currency, what the accounts hold and what went to payees stays the same in sum',
  check(now, seed) {
    const total = (db: BankingView, currency: string) =>
      db.accounts
        .list((row) => row.currency === currency)
        .reduce((sum, { account, balance }) => {
          const paid = db.transactions.list((row) => row.kind === 'payment' && leaves(row, account))
          return paid.reduce((part, { amount }) => part + amount, sum + balance)
        }, 0)
    return ['EUR', 'USD', 'GBP']
      .filter((currency) => total(now, currency) !== total(seed, currency))
      .map((currency) => `${currency}: ${total(seed, currency)} became ${total(now, currency)}`)[0]
  },
}

const floorsHold: BankingInvariant = {
  name: 'no balance is below its floor',
  check(now) {
    const low = now.accounts.find(({ balance, floor }) => balance < floor)
    return low && `${low.account}: ${low.balance} < ${low.floor}`
  },
}

const dailyLimitsHold: BankingInvariant = {
  name: 'no account sends more in a day than its daily limit',
  check(now) {
    for (const { account, daily_limit } of now.accounts.list()) {
      const days = new Map<string, number>()
      for (const { date, amount } of now.transactions.list((row) => leaves(row, account)))
        days.set(date, (days.get(date) ?? 0) + amount)
      for (const [date, sum] of days) if (sum > daily_limit) return `${account} sent ${sum} on ${date}`
    }
    return undefined
  },
}

const shutAccountsRest: BankingInvariant = {
  name: 'nothing leaves a frozen account and a closed one does not change',
  check(now, seed) {
    const sent = (db: BankingView, account: string) => db.transactions.count((row) => leaves(row, account))
    const moved = now.accounts.find(({ account, status, balance }) => {
      const before = seed.accounts.get(account)!
      if (status === 'closed') return balance !== before.balance
      return status === 'frozen' && sent(now, account) > sent(seed, account)
    })
    return moved && `${moved.status} account ${moved.account} changed`
  },
}

const cardsAreInBounds: BankingInvariant = {
  name: 'a lost card stays lost and no card may spend more than its ceiling',
  check(now, seed) {
    const found = seed.cards.find(({ card, status }) => status === 'lost' && now.cards.get(card)?.status !== 'lost')
    if (found) return `${found.card} came back`
    const high = now.cards.find(({ limit, ceiling }) => limit > ceiling)
    return high && `${high.card} may spend ${high.limit}`
  },
}

const quotasHold: BankingInvariant = {
  name: 'standing orders per account and open disputes stay within their quotas',
  check(now) {
    const disputes = now.transactions.count(({ status }) => status === 'disputed')
    if (disputes > LIMITS.openDisputes) return `${disputes} open disputes`
    const crowded = now.accounts.find(
      ({ account }) =>
        now.standing_orders.count((row) => row.account === account && row.status === 'active') > LIMITS.standingOrders,
    )
    return crowded && `${crowded.account} has too many standing orders`
  },
}

const referencesResolve: BankingInvariant = {
  name: 'every account, card and payee that is referred to exists',
  check(now) {
    const dangling = ({ account, to_account, payee, card }: Transaction) =>
      !now.accounts.has(account) ||
      (to_account !== null && !now.accounts.has(to_account)) ||
      (payee !== null && !now.payees.has(payee)) ||
      (card !== null && !now.cards.has(card))
    const row =
      now.transactions.find(dangling)?.transaction ??
      now.cards.find(({ account }) => !now.accounts.has(account))?.card ??
      now.standing_orders.find(({ account, payee }) => !now.accounts.has(account) || !now.payees.has(payee))
        ?.standing_order
    return row && `${row} refers to something that does not exist`
  },
}

export const bankingInvariants = [
  balancesAreBooked,
  moneyIsConserved,
  floorsHold,
  dailyLimitsHold,
  shutAccountsRest,
  cardsAreInBounds,
  quotasHold,
  referencesResolve,
]
