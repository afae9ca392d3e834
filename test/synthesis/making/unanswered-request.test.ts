import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { contextOf } from '../../../tasks/synthesis/making/recipe.js'
import { TODAY } from '../../../tasks/synthesis/making/today.js'
import { continueUnanswered } from '../../../tasks/synthesis/making/unanswered-request.js'
import { settingFor } from '../../support/task-plans.js'

const test = suite('going on in vain')
const context = await contextOf({ environments: ['banking'], heldOutEnvironments: [], profile: 'paper', seed: 9 })
const target = context.graph.nodes[0]!

/** Turns of many conversations that only insist, and all later ones. */
function laterTurns(isExpected: boolean): { insisting: number; all: number } {
  let [insisting, all] = [0, 0]
  for (let index = 0; index < 100; index++) {
    const setting = settingFor(context, target, { plan: { kind: 'abstention', requests: 2 + (index % 2) }, index })
    const { random } = setting
    const moment = { persona: context.drawPersona(random), today: TODAY, dated: true, random }
    const asked = { user: 'Freeze my card and book a table.' }
    const gone = continueUnanswered(asked, { ...setting, moment }, () => asked, isExpected)
    assert.ok(typeof gone !== 'string')
    all += gone.turns.length - 1
    insisting += gone.turns.filter(({ request }) => request === undefined).length
  }
  return { insisting, all }
}

test('now and then insists on what was asked for, be it one thing or two', () => {
  const { insisting, all } = laterTurns(true)
  assert.ok(insisting > all / 8 && insisting < all / 2, `${insisting} of ${all}`)
})

test('never insists on what no assistant could be expected to do', () => {
  assert.is(laterTurns(false).insisting, 0)
})

test.run()
