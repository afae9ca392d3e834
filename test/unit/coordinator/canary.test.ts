import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { checkPromptCapacity } from '../../../coordinator/settings/first-prompts.js'
import { canariesOf, canaryPrompts } from '../../../coordinator/versions/canary.js'
import { LIMITS } from '../../../proto/index.js'
import { promptOf } from '../../../rollout/episode/index.js'
import { AMPLE, lendingTask, runtimeOf } from '../../support/scripted.js'

const test = suite('canaries')

test('tasks whose prompts are too long for a canary are passed over', () => {
  const long = lendingTask({ turns: ['x'.repeat(LIMITS.canaryTokens.value), 'No.'] })
  const canaries = canaryPrompts([long, lendingTask()], runtimeOf(), AMPLE)
  assert.is(canaries.length, 1)
  assert.ok(canaries[0]!.prompt.length < LIMITS.canaryTokens.value)
})

test('a canary fits a volunteer whose context is exactly one rollout', () => {
  const runtime = runtimeOf()
  const { length } = promptOf(lendingTask(), runtime, AMPLE)
  const maxRolloutTokens = length + 20
  assert.equal(canaryPrompts([lendingTask()], runtime, { ...AMPLE, maxRolloutTokens }), [])
  const [fitting] = canaryPrompts([lendingTask()], runtime, { ...AMPLE, maxRolloutTokens: length + 200 })
  assert.ok(fitting!.prompt.length + fitting!.continuation.length <= length + 200)
})

test('a task anywhere in the data set whose prompt is too long for an answer is found before the run begins', () => {
  const runtime = runtimeOf()
  const tasks = Array.from({ length: 100 }, (_, i) => lendingTask({ turns: [`Lend emma to number ${i}.`, 'No.'] }))
  const limits = { ...AMPLE, maxRolloutTokens: promptOf(tasks[99]!, runtime, AMPLE).length + 1 }
  checkPromptCapacity(tasks, runtime, limits)
  const long = lendingTask({ turns: [`Lend emma to number one hundred.`, 'No.'] })
  assert.throws(() => checkPromptCapacity(tasks.with(70, long), runtime, limits), /maxRolloutTokens is too small/)
  const wide = lendingTask({ toolset: [...long.toolset, { environment: 'library', tool: 'burn_down' }] })
  assert.throws(() => checkPromptCapacity(tasks.with(40, wide), runtime, limits), /maxRolloutTokens is too small/)
})

test('canaries are published with what the trainer computed of them', () => {
  const scored = { prompt: [1, 2], continuation: [3, 4], base: [-1, -2], adapter: [-0.1, -0.2] }
  assert.equal(canariesOf([scored]), [
    { promptTokens: [1, 2], continuationTokens: [3, 4], baseLogprobs: [-1, -2], policyLogprobs: [-0.1, -0.2] },
  ])
  assert.equal(canariesOf([]), [])
})

test.run()
