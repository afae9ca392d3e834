import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { JsonObject } from '../../../rollout/reward/index.js'
import { createSeedStateCache, type Environment, type Session } from '../../../servers/kernel/index.js'
import type { Node } from '../../../tasks/synthesis/graph.js'
import { contextOf } from '../../../tasks/synthesis/making/recipe.js'
import { hasNoOtherUse, leadsOnlyBack, reversalsIn } from '../../../tasks/synthesis/making/reversals.js'
import type { Reversal, Step } from '../../../tasks/synthesis/making/step.js'
import { CATALOGUE } from '../../support/spoken-catalogue.js'

const test = suite('what a chain takes back')
const seedStates = createSeedStateCache(8)
const open = (environment: Environment): Session => seedStates.open(environment, 4)

/** Executes calls in one world; a call may take over values of the results before it. */
function played(
  name: string,
  calls: readonly (readonly [tool: string, args: (results: readonly JsonObject[]) => JsonObject])[],
): Step[] {
  const environment = CATALOGUE.get(name)!
  const session = open(environment)
  const outputs: JsonObject[] = []
  return calls.map(([toolName, argsOf]) => {
    const args = argsOf(outputs)
    const result = session.call(toolName, args)
    assert.ok(result.ok, `${toolName} ${JSON.stringify(args)} ${JSON.stringify(result)}`)
    outputs.push(result.output as JsonObject)
    const tool = environment.toolsByName.get(toolName)!
    return { environment, tool, args, output: result.output as JsonObject, bindings: [] }
  })
}

const reversals = (steps: readonly Step[]): Reversal[] => reversalsIn(steps, open)

test('is what was made and is ended, though a row of it stays', () => {
  const listing = { title: 'Red Chair', format: 'fixed_price', price: 40 }
  const steps = played('marketplace', [
    ['create_listing', () => listing],
    ['withdraw_listing', ([made]) => ({ own_listing: made!.listing ?? made!.own_listing! })],
  ])
  assert.equal(reversals(steps), [{ earlier: 0, later: 1 }])
  assert.not.ok(hasNoOtherUse(steps[1]!), 'listings of one’s own can be looked up')
})

test('is what was set and is as before', () => {
  const { card, pin } = open(CATALOGUE.get('banking')!)
    .db.cards!.list()
    .find(({ status }) => status === 'active') as { card: string; pin: string }
  const steps = played('banking', [
    ['freeze_card', () => ({ card })],
    ['unfreeze_card', () => ({ card, pin })],
  ])
  assert.equal(reversals(steps), [{ earlier: 0, later: 1 }])
})

test('is natural later on where a tool is for nothing else, and where what was made leads nowhere else', async () => {
  const { environments, graph } = await contextOf({
    environments: ['marketplace', 'shopping'],
    heldOutEnvironments: [],
    profile: 'paper',
    seed: 1,
  })
  const node = (name: string) => graph.nodes.find(({ tool }) => tool.name === name)!
  const making = node('create_listing')
  assert.not.ok(leadsOnlyBack(making, graph), 'one can look at what one sells')
  const unseen = {
    ...graph,
    fromWithin: (from: Node) => graph.fromWithin(from).filter(({ to }) => to.tool.name !== 'list_market_activity'),
  }
  assert.ok(leadsOnlyBack(making, unseen))
  assert.not.ok(leadsOnlyBack(node('search_listings'), graph))
  const takingOff = environments[1]!.toolsByName.get('remove_coupon')!
  assert.ok(hasNoOtherUse({ environment: environments[1]!, tool: takingOff, args: {}, output: {}, bindings: [] }))
})

test('is nothing where calls build on each other', () => {
  const steps = played('marketplace', [
    ['create_listing', () => ({ title: 'Red Chair', format: 'fixed_price', price: 40 })],
    ['search_listings', () => ({ text: 'Chair' })],
  ])
  assert.equal(reversals(steps), [])
})

test.run()
