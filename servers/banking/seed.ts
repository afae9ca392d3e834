import { addDays } from '../kernel/dates.js'
import type { SeedContext, SeedRows } from '../kernel/define-environment.js'
import { twoDigitNumbers } from '../kernel/key-numbers.js'
import { ascending } from '../kernel/lists.js'
import type { SeededRandom } from '../kernel/random.js'
import { slug } from '../kernel/text.js'
import { LIMITS, leaves } from './rules.js'
import { frequenciesFor, sampleRegularAmount } from './sampling.js'
import {
  ACCOUNT_KINDS,
  type Account,
  type BankingTables,
  type Card,
  type Payee,
  type StandingOrder,
  type Transaction,
} from './schema.js'
import * as words from './words.js'

const CURRENCIES = ['EUR', 'EUR', 'EUR', 'USD', 'USD', 'GBP'] as const
const PEOPLE = 34
const MERCHANTS = 48

/** One customer's bank: accounts of four kinds, some of them frozen, closed or used up, with four months of history. */
export function seedBanking({ random, start }: SeedContext): SeedRows<BankingTables> {
  const today = start.slice(0, 10)
  const accounts = seedAccounts(random)
  const payees = seedPayees(random, today)
  const cards = seedCards(random, accounts)
  return {
    accounts,
    payees,
    cards,
    transactions: [
      ...seedPurchases(random, today, cards),
      ...seedPayments(random, today, accounts, payees),
      ...seedTransfers(random, today, accounts),
    ],
    standing_orders: seedStandingOrders(random, today, accounts, payees),
  }
}

/** Keys such as `checking-42`: two digits, so that they never meet the three digits of keys made in a session. */
function shortKeys(random: SeededRandom, prefix: string, count: number): string[] {
  return twoDigitNumbers(random, count).map((number) => `${prefix}-${number}`)
}

function seedAccounts(random: SeededRandom): Account[] {
  const counts = {
    checking: random.int(3, 4),
    savings: 4,
    joint: random.int(1, 2),
    business: random.int(1, 2),
  }
  return ACCOUNT_KINDS.flatMap((kind) => {
    const names = random.sample(words.ACCOUNT_NAMES[kind], counts[kind])
    return shortKeys(random, kind, counts[kind]).map((account, place): Account => {
      const savings = kind === 'savings'
      const floor = kind === 'checking' ? -random.pick([0, 200, 500]) : savings ? random.pick([50, 100, 250]) : 0
      const row: Account = {
        account,
        name: names[place]!,
        kind,
        currency: random.pick(CURRENCIES),
        balance: floor + random.int(40, 4200),
        floor,
        status: 'active',
        daily_limit: random.pick([500, 1000, 1500, 2500, 3000]),
        withdrawals_left: savings ? random.int(1, 4) : null,
      }
      return { ...row, ...oddity(random, kind, place) }
    })
  })
}

/** What every environment has one of: a well-filled EUR account of each kind, another currency, a frozen, a closed and a used-up account. */
function oddity(random: SeededRandom, kind: Account['kind'], place: number): Partial<Account> {
  if (place === 0) return { currency: 'EUR', balance: random.int(42, 120) * 50 + random.int(0, 49), daily_limit: 2000 }
  if (kind === 'checking' && place === 1) return { currency: random.pick(['USD', 'GBP']) }
  if (kind === 'checking' && place === 2) return { status: 'frozen' }
  if (kind === 'savings' && place === 2) return { status: 'closed', balance: 0, floor: 0 }
  if (kind === 'savings' && place === 3) return { currency: 'EUR', withdrawals_left: 0 }
  return {}
}

function twoWordNames(
  random: SeededRandom,
  first: readonly string[],
  second: readonly string[],
  count: number,
): string[] {
  // Half as many first words as names: every name has a near-miss.
  const heads = random.sample(first, Math.ceil(count / 2))
  return random.shuffle(heads.flatMap((head) => random.sample(second, 2).map((tail) => `${head} ${tail}`)))
}

function seedPayees(random: SeededRandom, today: string): Payee[] {
  const firsts = random.sample(words.FIRST_NAMES, PEOPLE - 8)
  const lasts = random.sample(words.LAST_NAMES, PEOPLE - 10)
  const people = new Set<string>()
  for (let i = 0; people.size < PEOPLE; i++)
    people.add(`${firsts[i % firsts.length]} ${i < lasts.length ? lasts[i] : random.pick(lasts)}`)
  const names = random.shuffle([...people, ...random.sample(words.COMPANIES, 7)])
  const blocked = random.sample(names, 3)
  return names.map((name) => ({
    payee: slug(name),
    name,
    bank: random.pick(words.BANKS),
    status: blocked.includes(name) ? 'blocked' : 'active',
    added: addDays(today, -random.int(3, 900)),
  }))
}

function seedCards(random: SeededRandom, accounts: readonly Account[]): Card[] {
  const business = random.shuffle(words.BUSINESS_CARDS)
  const others = random.shuffle(words.PRIVATE_CARDS)
  const keys = Object.fromEntries(words.CARD_BRANDS.map((brand) => [brand, shortKeys(random, brand, 12)]))
  const cards = accounts
    .filter(({ kind, status }) => kind !== 'savings' && status !== 'closed')
    .flatMap(({ account, kind }, i) =>
      Array.from({ length: i === 0 ? 3 : random.int(1, 2) }, (): Card => {
        const ceiling = random.pick([1000, 1500, 2000, 3000])
        return {
          card: keys[random.pick(words.CARD_BRANDS)]!.pop()!,
          name: `${(kind === 'business' ? business : others).pop()} Card`,
          account,
          status: random.chance(0.25) ? 'frozen' : 'active',
          limit: random.int(2, ceiling / 50 - 2) * 50,
          ceiling,
          pin: String(random.int(1001, 9998)),
        }
      }),
    )
  const fixed = ['active', 'frozen', 'lost'] as const
  return cards.map((card, i) => ({ ...card, status: fixed[i] ?? card.status }))
}

function seedPurchases(random: SeededRandom, today: string, cards: readonly Card[]): Transaction[] {
  const merchants = twoWordNames(random, words.MERCHANT_FIRST, words.MERCHANT_SECOND, MERCHANTS)
  const visits = merchants.flatMap((name) => Array<string>(random.pick([1, 1, 1, 1, 2, 3])).fill(name))
  const numbers = random.sample(
    Array.from({ length: 989 }, (_, i) => i + 10),
    visits.length,
  )
  const disputed = random.int(0, 1)
  return visits
    .map((name, i): Transaction => {
      const { card, account } = random.pick(cards)
      const age = i < 6 ? random.int(LIMITS.disputeDays + 1, 120) : random.int(0, 75)
      return {
        transaction: `purchase-${numbers[i]}`,
        kind: 'purchase',
        name,
        account,
        to_account: null,
        payee: null,
        card,
        amount: spentAt(random, name),
        date: addDays(today, -age),
        status: i >= 6 && i < 6 + disputed ? 'disputed' : age < 3 && random.chance(0.6) ? 'pending' : 'posted',
        note: '',
      }
    })
    .sort(byDate)
}

/** A coffee costs less than a bicycle. */
function spentAt(random: SeededRandom, merchant: string): number {
  const isEveryday = words.EVERYDAY_TRADES.some((trade) => merchant.endsWith(trade))
  return isEveryday ? random.int(4, 85) : random.chance(0.5) ? random.int(15, 95) : random.int(20, 120) * 5
}

function seedPayments(
  random: SeededRandom,
  today: string,
  accounts: readonly Account[],
  payees: readonly Payee[],
): Transaction[] {
  const payers = accounts.filter(({ kind, status }) => kind !== 'savings' && status === 'active')
  const payments: Transaction[] = []
  for (const transaction of shortKeys(random, 'payment', 22)) {
    const { account, daily_limit } = random.pick(payers)
    const { payee, name } = random.pick(payees)
    const amount = random.int(3, 90) * 5
    const age = random.chance(0.5) ? random.int(0, 1) : random.int(2, 70)
    const date = addDays(today, -age)
    const sameDay = payments.filter((row) => row.date === date && leaves(row, account))
    if (sameDay.reduce((sum, row) => sum + row.amount, amount) > daily_limit * 0.6) continue
    const status = amount <= LIMITS.instantPayment || age > 1 ? 'posted' : 'pending'
    payments.push({
      transaction,
      kind: 'payment',
      name,
      account,
      to_account: null,
      payee,
      card: null,
      amount,
      date,
      status: age > 1 && random.chance(0.2) ? 'cancelled' : status,
      note: random.pick(words.notesFor(name)),
    })
  }
  return payments.sort(byDate)
}

function seedTransfers(random: SeededRandom, today: string, accounts: readonly Account[]): Transaction[] {
  const open = accounts.filter(({ status }) => status === 'active')
  return shortKeys(random, 'transfer', 6)
    .map((transaction, i): Transaction => {
      const from = open[0]!
      const to = random.pick(
        open.filter(({ account, currency }) => account !== from.account && currency === from.currency),
      )
      return {
        transaction,
        kind: 'transfer',
        name: to.name,
        account: from.account,
        to_account: to.account,
        payee: null,
        card: null,
        amount: random.int(2, 20) * 25,
        // Days apart and none today: the sender's daily limit is kept by construction.
        date: addDays(today, -(4 + 9 * i + random.int(0, 8))),
        status: 'posted',
        note: '',
      }
    })
    .sort(byDate)
}

const byDate = ascending('date')

function seedStandingOrders(
  random: SeededRandom,
  today: string,
  accounts: readonly Account[],
  payees: readonly Payee[],
): StandingOrder[] {
  const payers = accounts.filter(({ kind, status }) => kind !== 'savings' && status === 'active')
  // The first payer has all the standing orders it may have, and a cancelled one.
  const owners = [
    ...Array<Account>(LIMITS.standingOrders + 1).fill(payers[0]!),
    ...payers.slice(1).flatMap((payer) => Array<Account>(random.int(1, 2)).fill(payer)),
  ]
  const keys = shortKeys(random, 'standing', owners.length)
  const receivers = random.sample(
    payees.filter(({ status }) => status === 'active'),
    owners.length,
  )
  return owners.map(({ account }, i) => {
    const { name, payee } = receivers[i]!
    const frequency = random.pick(frequenciesFor(name))
    return {
      standing_order: keys[i]!,
      name,
      account,
      payee,
      amount: sampleRegularAmount(random, frequency, 300),
      frequency,
      next_date: addDays(today, random.int(1, 30)),
      status: i === 0 ? 'cancelled' : 'active',
    }
  })
}
