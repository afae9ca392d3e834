import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { checkPromptRoom } from '../../../coordinator/settings/first-prompts.js'
import { canariesOf, canaryPrompts } from '../../../coordinator/versions/canary.js'
import { draws } from '../../../engine/sampler-draws.js'
import { promptOf } from '../../../episode/index.js'
import { LIMITS } from '../../../proto/index.js'
import { AMPLE, lendingTask, stageOf } from '../../support/scripted.js'

const test = suite('canaries and their draws')

test('the trainer is offered seeds over their whole range, each with the number it draws first', () => {
  const [canary, ...others] = canaryPrompts(
    [lendingTask(), lendingTask({ turns: ['Lend emma.', 'No.'] })],
    stageOf(),
    AMPLE,
  )
  assert.is(others.length, 1)
  const seeds = canary!.draws.map(({ seed }) => seed)
  assert.is(new Set(seeds).size, seeds.length)
  assert.ok(seeds.every((seed) => Number.isInteger(seed) && seed >= 0 && seed <= 2 ** 32 - 2))
  assert.ok(seeds.filter((seed) => seed >= 2 ** 31).length > seeds.length / 3)
  for (const { seed, u } of canary!.draws) assert.is(u, draws(seed, 1)[0])
})

test('tasks whose prompts are too long for a canary are passed over', () => {
  const long = lendingTask({ turns: ['x'.repeat(LIMITS.canaryTokens.value), 'No.'] })
  const canaries = canaryPrompts([long, lendingTask()], stageOf(), AMPLE)
  assert.is(canaries.length, 1)
  assert.ok(canaries[0]!.prompt.length < LIMITS.canaryTokens.value)
})

test('a canary fits a volunteer who has room for a rollout and for no token more', () => {
  const stage = stageOf()
  const { length } = promptOf(lendingTask(), stage, AMPLE)
  const maxRolloutTokens = length + 20
  assert.equal(canaryPrompts([lendingTask()], stage, { ...AMPLE, maxRolloutTokens }), [])
  const [fitting] = canaryPrompts([lendingTask()], stage, { ...AMPLE, maxRolloutTokens: length + 200 })
  assert.ok(fitting!.prompt.length + fitting!.continuation.length <= length + 200)
})

test('a task anywhere in the data set whose prompt leaves no room for an answer is found before the run begins', () => {
  const stage = stageOf()
  const tasks = Array.from({ length: 100 }, (_, i) => lendingTask({ turns: [`Lend emma to number ${i}.`, 'No.'] }))
  const limits = { ...AMPLE, maxRolloutTokens: promptOf(tasks[99]!, stage, AMPLE).length + 1 }
  checkPromptRoom(tasks, stage, limits)
  const long = lendingTask({ turns: [`Lend emma to number one hundred.`, 'No.'] })
  assert.throws(() => checkPromptRoom(tasks.with(70, long), stage, limits), /maxRolloutTokens is too small/)
  const wide = lendingTask({ toolset: [...long.toolset, { server: 'library', tool: 'burn_down' }] })
  assert.throws(() => checkPromptRoom(tasks.with(40, wide), stage, limits), /maxRolloutTokens is too small/)
})

const canary = (evidence: number, after: number, tokens: { seed: number; token: number }[]) => ({
  prompt: [1, 2],
  continuation: [3, 4, 5],
  base: [-1, -2, -3],
  adapter: [-0.1, -0.2, -0.3],
  draws: { after, evidence, tokens },
})

test('draws are published once, after the part of the continuation where they tell most', () => {
  const chosen = [
    { seed: 7, token: 4 },
    { seed: 9, token: 8 },
  ]
  const canaries = canariesOf([canary(0.5, 0, [{ seed: 1, token: 3 }]), canary(1.5, 1, chosen)])
  assert.is(canaries.length, 3)
  assert.equal(
    canaries.slice(0, 2).map((canary) => canary.draws),
    [[], []],
  )
  assert.equal(canaries[2], {
    promptTokens: [1, 2, 3],
    continuationTokens: [4],
    baseLogprobs: [-2],
    policyLogprobs: [-0.2],
    draws: [
      { seed: 7, firstTokens: [4] },
      { seed: 9, firstTokens: [8] },
    ],
  })
})

test('a policy that is certain everywhere is published without draws', () => {
  assert.is(canariesOf([canary(0, 0, [])]).length, 1)
  assert.equal(canariesOf([]), [])
})

test.run()
