import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { PAPER_PROFILE } from '../../../tasks/dataset/index.js'
import { type Node, nodeName, toolGraph } from '../../../tasks/synthesis/graph.js'
import { createTargets } from '../../../tasks/synthesis/production/targets.js'
import { CATALOGUE } from '../../support/spoken-catalogue.js'
import { PLAN } from '../../support/task-plans.js'

const graph = toolGraph(['banking', 'travel_booking'].map((name) => CATALOGUE.get(name)!))
const node = (name: string): Node => graph.nodes.find((one) => nodeName(one) === name)!

test('a chain that was dropped twice is not tried again', () => {
  const targets = createTargets(graph, PAPER_PROFILE, new Set(), 1)
  const chain = 'banking:list_cards>freeze_card'
  const assignment = { ...PLAN, index: 0, round: 0, target: node('banking:freeze_card') }
  targets.note(assignment, null, [{ by: 'no_walk', chain }])
  assert.equal(targets.spent(), [])
  targets.note(assignment, null, [{ by: 'no_walk', chain }])
  assert.equal(targets.spent(), [chain])
})

test('the reason for few examples with a tool names its chains and the objections to its candidates', () => {
  const targets = createTargets(graph, PAPER_PROFILE, new Set(), 1)
  const assignment = { ...PLAN, index: 0, round: 0, target: node('banking:freeze_card') }
  for (const by of ['no_walk', 'errand', 'no_walk'] as const) targets.note(assignment, null, [{ by }])
  const reasons = targets.scarcity()
  assert.match(reasons['banking:freeze_card']!, /^\d+ chains of training; dropped by `no_walk` 2, `errand` 1$/)
  assert.is(reasons['travel_booking:find_connecting_flights'], 'no chain of training runs through the tool')
})

test.run()
