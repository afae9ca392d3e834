import { addDays } from '../kernel/dates.js'
import type { SeedContext, SeedRows } from '../kernel/define-environment.js'
import { twoDigitNumbers } from '../kernel/key-numbers.js'
import { ascending } from '../kernel/lists.js'
import type { SeededRandom } from '../kernel/random.js'
import { slug } from '../kernel/text.js'
import { LIMITS } from './rules.js'
import {
  type Charge,
  type Customer,
  type Invoice,
  type PaymentsTables,
  type Payout,
  type Refund,
  TOPICS,
  type Token,
  type Webhook,
} from './schema.js'
import * as words from './words.js'

const CUSTOMERS = 34
const BLOCKED = 3
const WEBHOOKS = 8

/** What invoices of an environment are like, with how many there are of each. */
const INVOICE_MIX = {
  draft: 10,
  staleDraft: 1,
  blockedDraft: 1,
  open: 11,
  partlyPaid: 7,
  overdue: 8,
  paid: 18,
  paidTwice: 5,
  paidLongAgo: 5,
  refunded: 3,
  void: 4,
} as const
type Shape = keyof typeof INVOICE_MIX

/** A studio with 34 customers, some 70 invoices in every state, half a year of charges and eight webhooks. */
export function seedPayments({ random, start }: SeedContext): SeedRows<PaymentsTables> {
  const today = start.slice(0, 10)
  const names = firmNames(random)
  const tokens = seedTokens(random, names.map(slug), today)
  const blocked = new Set(names.slice(0, BLOCKED).map(slug))
  const { invoices, charges, refunds } = seedInvoices(random, today, names, blocked, tokens)
  const customers = random.shuffle(names).map((name): Customer => {
    const customer = slug(name)
    const open = invoices.filter((row) => row.customer === customer && row.status === 'open')
    const used = open.reduce((sum, { amount }) => sum + amount, 0)
    return {
      customer,
      name,
      text: name.toLowerCase(),
      status: blocked.has(customer) ? 'blocked' : 'active',
      credit: Math.ceil(used / 100) * 100 + random.pick([100, 500, 1500, 3000, 6000]),
    }
  })
  const kept = sumOf(charges) - sumOf(refunds)
  const available = Math.min(kept - 300, random.int(900, 2600))
  return {
    customers,
    tokens: random.shuffle(tokens),
    invoices,
    charges,
    refunds,
    webhooks: seedWebhooks(random, today),
    payouts: seedPayouts(random, today, kept - available),
    balance: [{ balance: 'main', available, reserve: random.int(3, 8) * 50 }],
  }
}

const sumOf = (rows: readonly { readonly amount: number }[]): number =>
  rows.reduce((sum, { amount }) => sum + amount, 0)

/** Half as many first words as names: nearly every customer has a namesake in another trade. */
function firmNames(random: SeededRandom): string[] {
  const heads = random.sample(words.FIRM_NAMES, CUSTOMERS / 2)
  return random.shuffle(heads.flatMap((head) => random.sample(words.TRADES, 2).map((trade) => `${head} ${trade}`)))
}

/** One or two saved cards per customer. The first can always be charged; of the others some have expired. */
function seedTokens(random: SeededRandom, customers: readonly string[], today: string): Token[] {
  const numbers = random.sample(
    Array.from({ length: 900 }, (_, i) => i + 100),
    2 * customers.length,
  )
  return customers.flatMap((customer, i) =>
    Array.from({ length: i % 3 === 0 ? 2 : 1 }, (_, place): Token => {
      const expired = place === 1 && (i === 0 || random.chance(0.5))
      const name = `${random.pick(words.CARD_BRANDS)} ${numbers[2 * i + place]}`
      return {
        token: slug(name),
        name,
        customer,
        limit: place === 1 ? 250 : random.pick([800, 1500, 2500, 4000]),
        expires: addDays(today, expired ? -random.int(35, 500) : random.int(1, 1000)).slice(0, 7),
      }
    }),
  )
}

function seedInvoices(
  random: SeededRandom,
  today: string,
  names: readonly string[],
  blocked: ReadonlySet<string>,
  tokens: readonly Token[],
): { invoices: Invoice[]; charges: Charge[]; refunds: Refund[] } {
  const shapes = Object.entries(INVOICE_MIX).flatMap(([shape, count]) => Array<Shape>(count).fill(shape as Shape))
  const numbers = twoDigitNumbers(random, shapes.length)
  const titles = random.sample(words.TITLES, shapes.length)
  const active = names.filter((name) => !blocked.has(slug(name)))
  const main = new Map([...tokens].reverse().map((token) => [token.customer, token]))
  const charges: Charge[] = []
  const refunds: Refund[] = []
  const references = random.sample(
    words.REFERENCE_WORDS.flatMap((word) => Array.from({ length: 9 }, (_, i) => `${word}-${i + 1}`)),
    2 * shapes.length,
  )
  const invoices = shapes.map((shape, i): Invoice => {
    const name = shape === 'blockedDraft' ? names[0]! : active[i % active.length]!
    const customer = slug(name)
    const { token, limit } = main.get(customer)!
    const amount = random.chance(0.5) ? 10 * random.int(4, 78) : random.int(45, 780)
    const age = shape === 'paidLongAgo' ? random.int(LIMITS.refundDays + 1, 170) : random.int(2, LIMITS.refundDays - 6)
    const invoice = `invoice-${numbers[i]}`
    let captured = 0
    const collect = (part: number, daysAgo: number, refunded = 0): void => {
      captured += part
      const date = addDays(today, -daysAgo)
      charges.push({ reference: references.pop()!, invoice, token, amount: part, refunded, date })
    }
    if (amount > limit) throw new Error(`an invoice of ${amount} for a card up to ${limit}`)
    if (shape === 'partlyPaid') collect(Math.ceil((amount * random.int(2, 7)) / 10), age)
    if (shape === 'paidTwice') {
      collect(Math.ceil(amount / 2), age + 4)
      collect(amount - Math.ceil(amount / 2), age)
    }
    if (shape === 'paid' || shape === 'paidLongAgo') collect(amount, age)
    if (shape === 'refunded') {
      collect(amount, age, amount)
      refunds.push({ reference: references.pop()!, invoice, amount, date: addDays(today, -1) })
    }
    const title = titles[i]!
    return {
      invoice,
      title,
      customer,
      text: `${title} ${name}`.toLowerCase(),
      amount,
      captured,
      refunded: shape === 'refunded' ? amount : 0,
      status: statusOf(shape),
      due: addDays(today, dueIn(shape, random, age)),
    }
  })
  return { invoices: random.shuffle(invoices), charges: charges.sort(byDate), refunds }
}

function statusOf(shape: Shape): Invoice['status'] {
  if (shape === 'refunded' || shape === 'void') return shape
  if (shape.startsWith('paid')) return 'paid'
  return shape.endsWith('raft') ? 'draft' : 'open'
}

/** Days from today to the due date. */
function dueIn(shape: Shape, random: SeededRandom, age: number): number {
  if (shape === 'overdue' || shape === 'staleDraft') return -random.int(1, 30)
  if (shape === 'open' || shape === 'partlyPaid') return random.int(0, 40)
  return shape.endsWith('raft') ? random.int(5, 60) : random.int(-3, 10) - age
}

const byDate = ascending('date')

/** Two webhooks per topic. Of each environment's eight, three have failed, one of them for longer than a day's retries, and one is disabled. */
function seedWebhooks(random: SeededRandom, today: string): Webhook[] {
  const names = random.sample(words.WEBHOOK_NAMES, WEBHOOKS)
  const failing = (down: number) => ({ failures: random.int(1, LIMITS.webhookFailures - 1), down })
  const troubles = random.shuffle([
    failing(LIMITS.retries),
    failing(random.int(0, 2)),
    { failures: LIMITS.webhookFailures, down: random.int(0, 2) },
    ...Array.from({ length: WEBHOOKS - 3 }, () => ({ failures: 0, down: random.pick([0, 0, 0, 2]) })),
  ])
  return names.map((name, i) => {
    const { failures, down } = troubles[i]!
    const pending = failures === 0 ? 0 : random.int(failures, 9)
    const delivered = random.int(20, 400)
    return {
      webhook: slug(name),
      name,
      topic: TOPICS[i % TOPICS.length]!,
      status: failures === 0 ? 'active' : failures < LIMITS.webhookFailures ? 'failing' : 'disabled',
      failures,
      down,
      sent: delivered + pending,
      delivered,
      pending,
      retried: random.chance(0.3) ? addDays(today, -random.int(0, 3)) : null,
      retries: random.int(1, LIMITS.retries - 1),
    }
  })
}

/** Past payouts that come to `total`, none of them today. */
function seedPayouts(random: SeededRandom, today: string, total: number): Payout[] {
  const share = Math.floor(total / 3)
  return [share, share, total - 2 * share].map((amount, i) => ({
    payout: `payout-${10 + 7 * i + random.int(0, 6)}`,
    amount,
    date: addDays(today, -(75 - 30 * i + random.int(0, 9))),
  }))
}
