import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createBaselineCheck, type Example } from '../../../tasks/dataset/index.js'
import { CATALOGUE } from '../../support/catalogue.js'

const test = suite('baselines without a model')

/** An example with the words and tools of its turns, and no more than what matching words looks at. */
const example = (split: Example['split'], turns: readonly (readonly [user: string, ...tools: string[]])[]): Example => {
  const tools = turns.flatMap(([, ...names]) => names)
  const calls = turns.map(([, ...names]) => names.map((name, i) => ({ name, truth: i })))
  return {
    split,
    task: {
      groundTruth: tools.map((name) => ({ name })),
      toolset: ['freeze_card', 'list_cards', 'show_card'].map((tool) => ({ environment: 'banking', tool })),
    },
    exchanges: turns.map(([user], i) => ({ user, calls: calls[i], assistant: 'Done.' })),
  } as unknown as Example
}

test('word matching finds the tools of a held-out task in training words, and not in other words', () => {
  const check = createBaselineCheck(CATALOGUE)
  check.add(
    example('train', [['Stop payments with my plastic. Enumerate the plastic I carry.', 'freeze_card', 'list_cards']]),
  )
  check.add(example('train', [['One clause. Two calls. Three clauses.', 'show_card', 'show_card']]))
  check.add(
    example('held-out', [
      ['Enumerate the plastic I carry', 'list_cards'],
      ['Stop payments with my plastic', 'freeze_card'],
    ]),
  )
  check.add(example('held-out', [['Render the rectangle useless', 'freeze_card']]))
  check.add(example('held-out', [['Enumerate the plastic I carry, then stop payments with my plastic', 'list_cards']]))
  const { heldOut, results } = check.finish()
  assert.is(heldOut, 3)
  const [nearest, named] = results
  assert.is(nearest!.sequences, 1 / 3)
  assert.is(nearest!.clauses, 2 / 3)
  assert.is(named!.sequences, 0)
})

test('tool names and descriptions match requests in the same words', () => {
  const check = createBaselineCheck(CATALOGUE)
  check.add(example('held-out', [['Freeze the card', 'freeze_card']]))
  assert.is(check.finish().results[1]!.sequences, 1)
})

test('the word-count AUC counts ties as halves and needs tasks with and without calls', () => {
  const check = createBaselineCheck(CATALOGUE)
  check.add(example('train', [['One two three'], ['four']]))
  assert.is(check.finish().lengths, undefined)
  check.add(example('validation', [['One two three four five', 'freeze_card']]))
  check.add(example('held-out', [['One two three', 'freeze_card']]))
  assert.equal(check.finish().lengths, { first: 0.75, all: 0.5 })
})

test.run()
