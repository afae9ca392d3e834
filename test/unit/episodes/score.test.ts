import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { PAPER, type RewardPreset, rewardPreset } from '../../../rollout/reward/index.js'
import { scoreRollout } from '../../../servers/episodes/index.js'
import { runtime, talkative, tasks } from '../../support/episodes.js'

const test = suite('scoring rollouts of other trainers')

const parts = { runtime, reward: PAPER as RewardPreset, named: tasks.named }
const calls = talkative.exchanges.flatMap((exchange) => exchange.calls)

test('actions are replayed for a task id or a whole task, with arguments as objects or JSON text', async () => {
  const { task } = talkative
  const made = calls.map(({ name, arguments: args }) => ({ name, arguments: args }))
  const actions = [{ text: 'I look.', calls: made }, { text: 'Done.' }]
  const scored = await scoreRollout({ task: task.id, actions }, parts)
  assert.equal(
    scored.results!.map(({ text }) => text),
    calls.map(({ response }) => response),
  )
  const asText = made.map(({ name, arguments: args }) => ({ name, arguments: JSON.stringify(args) }))
  assert.equal(await scoreRollout({ task, actions: [{ calls: asText }, { text: 'Done.' }] }, parts), scored)
})

test('recorded calls get the same reward without a replay', async () => {
  const { id: task } = talkative.task
  const actions = [{ calls: calls.map(({ name, arguments: args }) => ({ name, arguments: args })) }]
  const { results, stateHashes, ...played } = await scoreRollout({ task, actions }, parts)
  const logged = calls.map(({ name, arguments: args, ok }) => ({ name, arguments: args, ok }))
  assert.equal(await scoreRollout({ task, calls: logged }, parts), played)
  const broken = await scoreRollout({ task, calls: [...logged, { unreadable: '{' }] }, parts)
  assert.ok(broken.total < played.total)
})

test('a rollout that cannot be scored gives a reason', async () => {
  const { id: task } = talkative.task
  const why = (value: unknown, reward = parts.reward): Promise<string> =>
    scoreRollout(value, { ...parts, reward }).then(
      () => 'scored',
      (error: Error) => error.message,
    )
  assert.match(await why(undefined), /^bad_request/)
  assert.match(await why({ task: 'none', actions: [] }), /^unknown_task/)
  assert.match(await why({ task: { id: task }, actions: [] }), /^bad_task/)
  for (const wrong of [
    { name: 'x', arguments: {} },
    { say: 'Done.' },
    {},
    { calls: [{ tool: 'x' }] },
    { calls: ['x'] },
  ])
    assert.match(await why({ task, actions: [wrong] }), /^bad_request/)
  assert.match(await why({ task, actions: Array(11).fill({ calls: [{ name: 'x' }] }) }), /^episode_over.*10 messages/)
  assert.match(await why({ task, calls: [] }, rewardPreset('outcome')), /^bad_request: the reward outcome/)
})

test.run()
