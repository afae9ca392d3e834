import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { seededRandom } from '../../../servers/kernel/index.js'
import { nodeName } from '../../../servers/kernel/tool-graph.js'
import type { Recovery } from '../../../tasks/dataset/example.js'
import { scriptConversation } from '../../../tasks/synthesis/making/conversation-script.js'
import { canCarry, fieldsToLeaveOut, type Shape } from '../../../tasks/synthesis/making/conversation-shape.js'
import { drawPlans } from '../../../tasks/synthesis/making/plan.js'
import { contextOf } from '../../../tasks/synthesis/making/recipe.js'
import type { Chain } from '../../../tasks/synthesis/making/split.js'
import { takeSteps } from '../../../tasks/synthesis/making/take-steps.js'
import { settingFor } from '../../support/task-plans.js'

const test = suite('the shape of a conversation')
const context = await contextOf({
  environments: ['banking', 'calendar', 'vehicle'],
  heldOutEnvironments: [],
  profile: 'paper',
  seed: 5,
})
const { profile, graph } = context
const ENVIRONMENT_SEED = 20
const RECOVERIES: readonly (Recovery | null)[] = [null, null, 'corrected', 'gave-up']

const chainOf = (...names: string[]): Chain => names.map((name) => graph.nodes.find((node) => nodeName(node) === name)!)

test('is carried by every chain that a conversation was made of', () => {
  const random = seededRandom(11)
  let scripts = 0
  for (const [index, plan] of drawPlans('multi-turn', 160, profile, 0, random).entries()) {
    const target = random.pick(graph.nodes)
    const setting = settingFor(context, target, { plan, index, environmentSeed: ENVIRONMENT_SEED })
    const taken = takeSteps({ around: target, length: plan.calls }, setting)
    if (typeof taken === 'string') continue
    for (const recovery of RECOVERIES) {
      const shape: Shape = { ...plan, recovery, information: recovery === 'corrected' ? 'complete' : plan.information }
      if (!scriptConversation(taken, shape, profile, random)) continue
      scripts++
      assert.ok(canCarry(taken.chain, shape), `${taken.chain.map(nodeName)} ${JSON.stringify(shape)}`)
    }
  }
  assert.ok(scripts > 40, `${scripts} conversations`)
})

test('leaves out neither what is searched for nor what its world counts to the wish', () => {
  const fields = (name: string): readonly string[] => fieldsToLeaveOut(chainOf(name)[0]!)
  assert.equal(fields('banking:find_payee'), [])
  assert.equal(fields('banking:list_accounts'), [])
  assert.equal(fields('banking:set_card_limit'), ['limit'])
  assert.equal(fields('calendar:create_event'), ['title', 'date', 'start', 'duration'])
})

test('is turned away where the tools alone show that nothing will come of it', () => {
  const plain: Shape = { requests: 1, information: 'complete', recovery: null }
  const freeze = chainOf('banking:list_cards', 'banking:freeze_card')
  assert.ok(canCarry(freeze, plain))
  assert.ok(canCarry(freeze, { ...plain, information: 'minimal' }), 'somebody wants to freeze a card')
  assert.not.ok(canCarry(freeze, { ...plain, requests: 3 }), 'two calls are no three requests')
  const two = chainOf('banking:freeze_card', 'banking:list_cards')
  assert.not.ok(
    canCarry(two, { ...plain, information: 'minimal' }),
    'what is done first is not for the look-up after it',
  )
  const settings = chainOf('vehicle:stop_engine', 'vehicle:list_drivers')
  assert.not.ok(canCarry(settings, { ...plain, recovery: 'gave-up' }), 'there is no number to get wrong')
  assert.not.ok(canCarry(settings, { ...plain, information: 'missing' }), 'there is nothing to leave out')
})

test.run()
