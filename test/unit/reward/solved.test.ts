import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type LoggedCall, type RolloutFacts, rewardPreset, type ScoredExample } from '../../../rollout/reward/index.js'
import { plainFacts } from '../../support/reward-generators.js'

const solved = rewardPreset('solved')
const outcome = rewardPreset('outcome')

const tool = (name: string) => ({
  ...{ name, description: '', readOnly: true },
  inputSchema: { type: 'object', properties: { id: { type: 'string' } } },
})
const call = (name: string, id: string): LoggedCall => ({ name, arguments: { id }, ok: true })
const [find, read, other] = [call('find', 'a'), call('read', 'b'), call('find', 'c')]
const example: ScoredExample = {
  offered: [tool('find'), tool('read')],
  groundTruth: [
    { name: 'find', arguments: { id: 'a' }, after: [] },
    { name: 'read', arguments: { id: 'b' }, after: [0] },
  ],
}
const noCall: ScoredExample = { ...example, groundTruth: [] }
const facts = (log: readonly LoggedCall[]): RolloutFacts => plainFacts(log)
const components = (given: ScoredExample, ...log: LoggedCall[]) => {
  const half = outcome.score(given, log, facts(log)).total
  const { total, components } = solved.score(given, log, facts(log))
  return { half, total, solved: components?.solved }
}

test('a solution without detours earns the maximum', () => {
  assert.equal(components(example, find, read), { half: 1, total: 1, solved: 1 })
})

test('a solution with a needless call earns the share of the reference calls in all calls', () => {
  const { half, total, solved: share } = components(example, find, other, read)
  assert.is(share, 2 / 3)
  assert.is(total, (half + 2 / 3) / 2)
})

test('what is not solved earns half of the outcome', () => {
  const { half, total, solved: share } = components(example, find, other)
  assert.is(share, 0)
  assert.is(total, half / 2)
  assert.ok(half > 0)
})

test('no call earns the maximum when none is right, and any call loses the half for a solution', () => {
  assert.is(components(noCall).total, 1)
  const { half, total } = components(noCall, find)
  assert.is(total, half / 2)
})

test.run()
