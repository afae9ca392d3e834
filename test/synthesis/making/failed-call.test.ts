import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { JsonObject } from '../../../rollout/reward/index.js'
import { generateSeedState, hasEffect, Session, seededRandom } from '../../../servers/kernel/index.js'
import { failingVariant, isFulfilled } from '../../../tasks/synthesis/making/failed-call.js'
import type { Open, StatedStep } from '../../../tasks/synthesis/making/step.js'
import { CATALOGUE } from '../../support/spoken-catalogue.js'

const test = suite('a call that fails at first')

const open: Open = (environment) => Session.open(generateSeedState(environment, 4))
const step = (environmentName: string, name: string, args: JsonObject): StatedStep => {
  const environment = CATALOGUE.get(environmentName)!
  const result = open(environment).call(name, args)
  assert.ok(result.ok, JSON.stringify(result))
  return { environment, tool: environment.toolsByName.get(name)!, args, output: {}, bindings: [] }
}
const sales = CATALOGUE.get('crm')!
/** One of the deals that the user may give a discount. */
const deal = open(sales)
  .db.deals!.list()
  .map(({ deal: key }) => key as string)
  .find((key) => open(sales).call('discount_deal', { deal: key, percent: 20 }).ok)!
const discounted = (percent: number) => [step('crm', 'discount_deal', { deal, percent })]

test('asks for too much, and is made good with most of what there is', () => {
  const failed = failingVariant({ steps: discounted(25), open, random: seededRandom(1) }, 0)
  assert.equal([failed?.args.percent, failed?.message], [50, 'No discount is above 30 percent.'])
  assert.is(failingVariant({ steps: discounted(20), open, random: seededRandom(1) }, 0), null)
})

test('asks for no more than a look-up has just told that there is', () => {
  const look = { ...step('crm', 'list_reps', { territory: 'north' }), output: {} }
  const after = (stated: JsonObject) =>
    failingVariant({ steps: [{ ...look, output: stated }, ...discounted(25)], open, random: seededRandom(1) }, 1)
  assert.is(after({ deals: [{ most: 60 }] })?.args.percent, 50)
  assert.is(after({ deals: [{ most: 30 }] }), null)
})

test('is no second one of a kind that comes on top of the first', () => {
  const after = (steps: StatedStep[]) => failingVariant({ steps, open, random: seededRandom(1) }, 0, true)
  assert.is(after(discounted(20))?.args.percent, 40, 'a discount is there once')
  const environment = CATALOGUE.get('banking')!
  const tool = environment.toolsByName.get('transfer_money')!
  const args = open(environment).sampleArguments(tool, seededRandom(2), {}) as JsonObject
  const more = { ...args, amount: 5 * Number(args.amount) }
  const twice = open(environment)
  assert.ok(twice.call(tool.name, args).ok && !twice.call(tool.name, more).ok, 'the second fails')
  assert.is(after([step('banking', tool.name, args)]), null)
  const adds = (environmentName: string, name: string): boolean => {
    const spoken = CATALOGUE.get(environmentName)!
    return hasEffect({ environment: spoken, tool: spoken.toolsByName.get(name)! }, 'adds')
  }
  assert.ok(
    adds('payments', 'charge_invoice') && adds('payments', 'issue_refund') && adds('trading', 'place_trade_order'),
  )
  assert.not.ok(
    adds('iot_devices', 'set_light') || adds('issue_tracker', 'estimate_issue') || adds('crm', 'discount_deal'),
  )
})

test('is none that tells people that it is as they wish', () => {
  const tells = (code: string, message: string, wished: string | number) => isFulfilled({ code, message }, wished)
  assert.ok(tells('same_time', 'The event is already at that time.', '2026-03-02'))
  assert.ok(tells('already_in_mode', 'The home is in this mode already.', 'night'))
  assert.ok(tells('too_many_bags', 'booking-75 has 2 of 3 extra bags.', 2), 'two there are')
  assert.not.ok(tells('too_many_bags', 'booking-75 has 1 of 3 extra bags.', 3))
  assert.not.ok(tells('too_many_urgent', 'The project already has 3 urgent open issues.', 'urgent'))
})

test.run()
