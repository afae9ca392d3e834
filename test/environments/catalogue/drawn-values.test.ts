import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { banking } from '../../../servers/banking/index.js'
import type { BankingView } from '../../../servers/banking/schema.js'
import { COMPANIES } from '../../../servers/banking/words.js'
import { budget } from '../../../servers/budget/index.js'
import { envelopeOf, leftOf, monthOf } from '../../../servers/budget/rules.js'
import type { BudgetView } from '../../../servers/budget/schema.js'
import { crm } from '../../../servers/crm/index.js'
import { isMine, me } from '../../../servers/crm/rules.js'
import { type CrmView, STAGES } from '../../../servers/crm/schema.js'
import { NOTES_OF } from '../../../servers/crm/words.js'
import { filesystem } from '../../../servers/filesystem/index.js'
import { iotDevices } from '../../../servers/iot_devices/index.js'
import type { IotView } from '../../../servers/iot_devices/schema.js'
import { type Environment, generateSeedState, Session, seededRandom } from '../../../servers/kernel/index.js'
import { payments } from '../../../servers/payments/index.js'
import type { PaymentsView } from '../../../servers/payments/schema.js'
import { trading } from '../../../servers/trading/index.js'
import type { TradingView } from '../../../servers/trading/schema.js'

const ENVIRONMENTS = 12
const DRAWS = 12

type Args = Record<string, unknown>

/** Looks at many draws of a tool in several worlds, of which there must be some. */
function everyDraw<View>(environment: Environment, tool: string, look: (args: Args, db: View, today: string) => void) {
  let drawn = 0
  for (let seed = 0; seed < ENVIRONMENTS; seed++) {
    const session = Session.open(generateSeedState(environment, seed))
    const random = seededRandom(seed)
    for (let draw = 0; draw < DRAWS; draw++) {
      const args = session.sampleArguments(environment.toolsByName.get(tool)!, random, {})
      if (!args) continue
      drawn++
      look(args, session.db as unknown as View, session.now().slice(0, 10))
    }
  }
  assert.ok(drawn > ENVIRONMENTS, `${tool} was drawn ${drawn} times`)
}

test('only one who was charged twice disputes a duplicate, and only for goods does somebody wait', () => {
  everyDraw<BankingView>(banking, 'dispute_transaction', ({ transaction, reason }, db) => {
    const row = db.transactions.get(transaction as string)!
    if (reason === 'duplicate')
      assert.ok(
        db.transactions.count(({ name, account }) => name === row.name && account === row.account) > 1,
        row.name,
      )
    if (reason === 'undelivered') assert.not.match(row.name, /Diner|Taxi|Coffee|Salon|Cinema|Hotel/)
  })
})

test('people are paid every week or month, never once a year', () => {
  everyDraw<BankingView>(banking, 'create_standing_order', ({ payee, frequency }, db) => {
    if (frequency === 'yearly') assert.ok(COMPANIES.includes(db.payees.get(payee as string)!.name))
  })
})

test('budget is moved to a category where hardly anything is left, out of one that is not overspent', () => {
  everyDraw<BudgetView>(budget, 'move_between_categories', (args, db, today) => {
    const month = (args.month as string | undefined) ?? monthOf(today)
    const to = envelopeOf(db, args.to_category as string, month)
    assert.ok(leftOf(to) < 20 || leftOf(to) * 5 <= to.limit, `${to.envelope} has ${leftOf(to)} of ${to.limit}`)
    const from = envelopeOf(db, args.from_category as string, month)
    assert.ok((args.amount as number) * 2 <= leftOf(from), `${args.amount} of the ${leftOf(from)} of ${from.envelope}`)
  })
})

test('a company is given away by who owns it, to somebody else', () => {
  everyDraw<CrmView>(crm, 'hand_over_company', ({ company, rep }, db) => {
    assert.ok(isMine(db, db.companies.get(company as string)!))
    assert.is.not(rep, me(db).rep)
  })
})

test('deals go forward or are lost', () => {
  everyDraw<CrmView>(crm, 'move_deal', ({ deal, stage }, db) => {
    const from = db.deals.get(deal as string)!.stage
    assert.ok(STAGES.indexOf(stage as (typeof STAGES)[number]) > STAGES.indexOf(from), `${from} to ${stage}`)
  })
})

test('what is noted of a call fits how it went', () => {
  everyDraw<CrmView>(crm, 'complete_activity', ({ outcome, note }) => {
    if (note !== undefined)
      assert.ok(
        (NOTES_OF[outcome as keyof typeof NOTES_OF] as readonly string[]).includes(note as string),
        `${outcome}: ${note}`,
      )
  })
})

test('a refund is of a paid invoice, and a reference tells which', () => {
  everyDraw<PaymentsView>(payments, 'issue_refund', ({ invoice, reference }, db) => {
    const { status, title } = db.invoices.get(invoice as string)!
    assert.is(status, 'paid')
    const marked = `refund-${title.split(' ')[0]!.toLowerCase()}`
    assert.ok(reference === undefined || (reference as string).startsWith(marked), `${reference} for ${title}`)
  })
})

test('nobody bids above the last price or offers below it', () => {
  everyDraw<TradingView>(trading, 'place_trade_order', ({ instrument, side, limit_price }, db) => {
    if (limit_price === undefined) return
    const { last } = db.instruments.get(instrument as string)!
    assert.ok(side === 'buy' ? (limit_price as number) <= last : (limit_price as number) >= last)
  })
})

test('a highest price is only named by who does not know yet what to buy', () => {
  everyDraw<TradingView>(trading, 'search_instruments', ({ query, max_price }, db) => {
    if (max_price !== undefined) assert.not(db.instruments.find(({ name }) => name === query))
  })
})

test('a light gets a brightness that only one that can be dimmed has, and a blind or window moves', () => {
  everyDraw<IotView>(iotDevices, 'set_light', ({ light, brightness }, db) => {
    const { low, high, name } = db.devices.get(light as string)!
    assert.ok(low !== high && ![0, 100].includes(brightness as number), `${name} to ${brightness}`)
  })
  everyDraw<IotView>(iotDevices, 'move_cover', ({ cover, position }, db) => {
    assert.is.not(position, db.devices.get(cover as string)!.level)
  })
})

test('mostly it is broken links that are looked for', () => {
  const states: unknown[] = []
  everyDraw(filesystem, 'find_links', ({ state }) => states.push(state))
  assert.ok(states.filter((state) => state === 'broken').length * 2 > states.length)
  assert.ok(states.includes('working'))
})

test.run()
