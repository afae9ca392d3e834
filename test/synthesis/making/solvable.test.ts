import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { JsonObject } from '../../../rollout/reward/index.js'
import { createSeedStateCache, type Environment, type Session, seededRandom } from '../../../servers/kernel/index.js'
import { isSolvable, isStatedBefore } from '../../../tasks/synthesis/making/solvable.js'
import type { Step } from '../../../tasks/synthesis/making/step.js'
import { CATALOGUE } from '../../support/spoken-catalogue.js'

const test = suite('what can be done without a tool')
const seedStates = createSeedStateCache(8)
const open = (environment: Environment): Session => seedStates.open(environment, 4)
const banking = CATALOGUE.get('banking')!
const node = (name: string) => ({ environment: banking, tool: banking.toolsByName.get(name)! })

/** A call of the bank, as it is made in a fresh session. */
function step(name: string, args: JsonObject): Step {
  const result = open(banking).call(name, args)
  assert.ok(result.ok, JSON.stringify(result))
  return { ...node(name), args, output: result.output as JsonObject, bindings: [] }
}

const account = open(banking).db.accounts!.list()[0]!.account as string
const card = open(banking)
  .db.cards!.list()
  .find(({ status }) => status === 'active')!.card as string
const solvable = (steps: readonly Step[], ...offered: readonly string[]): boolean =>
  isSolvable(steps, steps.length - 1, offered.map(node), open, seededRandom(3))

test('is what another look-up tells as well', () => {
  const balance = step('get_balance', { account })
  assert.ok(solvable([balance], 'find_payee', 'list_accounts'))
  assert.not.ok(solvable([balance], 'find_payee', 'list_standing_orders'))
})

test('is not what nothing on offer changes, nor what only the hidden tool itself could do', () => {
  const freeze = step('freeze_card', { card })
  assert.not.ok(solvable([freeze], 'list_cards', 'list_accounts', 'get_balance', 'transfer_money'))
  assert.not.ok(solvable([freeze], 'freeze_card'))
})

test('is not left undone where a result before has told the figure', () => {
  const trading = CATALOGUE.get('trading')!
  const stated = (name: string, output: JsonObject): Step => ({
    environment: trading,
    tool: trading.toolsByName.get(name)!,
    args: {},
    output,
    bindings: [],
  })
  const power = stated('check_buying_power', { cash: 90, buying_power: 51548, sectors: [] })
  assert.ok(isStatedBefore([stated('place_trade_order', { buying_power: 51548 }), power], 1))
  assert.not.ok(isStatedBefore([stated('place_trade_order', { buying_power: 7 }), power], 1))
})

test.run()
