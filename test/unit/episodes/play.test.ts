import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type AssistantMessage, EpisodeError } from '../../../rollout/episode/index.js'
import { PAPER, REWARD_PRESETS } from '../../../rollout/reward/index.js'
import { openEpisode } from '../../../servers/episodes/index.js'
import { unreadableCall } from '../../../servers/episodes/message.js'
import type { Episode } from '../../../servers/episodes/play.js'
import { createRewardReporter } from '../../../servers/episodes/reward-signal.js'
import { calling, examples, referenceActions, runtime, saying, talkative } from '../../support/episodes.js'

const test = suite('episodes')

const open = (actions: readonly AssistantMessage[] = []): Promise<Episode> =>
  openEpisode(talkative.task, { runtime, reward: PAPER, actions })
const SAY = saying('Hm.')

test('the reference solution gets the recorded results and the maximum of every reward', async () => {
  // Calls that failed cost something.
  for (const example of examples.filter(({ recovery }) => recovery === null)) {
    for (const reward of REWARD_PRESETS.values()) {
      const episode = await openEpisode(example.task, { runtime, reward })
      const results: string[] = []
      for (const message of referenceActions(example))
        results.push(...(await episode.act(message)).results.map(({ text }) => text))
      assert.equal(
        results,
        example.exchanges.flatMap(({ calls }) => calls.map(({ response }) => response)),
      )
      const { total, solved } = episode.score()
      assert.is(total, example.task.groundTruth.length > 0 ? reward.maximum.calls : reward.maximum.noCall)
      assert.ok(solved && episode.isOver)
    }
  }
})

test('an episode resumes elsewhere from its actions, and a fork is independent', async () => {
  const actions = referenceActions(talkative)
  const whole = await open(actions)
  for (let done = 0; done <= actions.length; done++) {
    const begun = await open(actions.slice(0, done))
    const before = begun.score()
    const fork = begun.fork()
    for (const action of actions.slice(done)) await fork.act(action)
    assert.equal(fork.score(), whole.score())
    assert.equal(begun.score(), before)
    assert.equal(fork.actions, actions)
  }
})

async function refused(acting: Promise<unknown>): Promise<string> {
  const why = await acting.then(
    () => null,
    (error: unknown) => error,
  )
  assert.instance(why, EpisodeError)
  return (why as EpisodeError).message
}

test('an episode is over after the last user turn or at the call limit of training', async () => {
  const [first] = talkative.task.turns
  const episode = await open()
  assert.equal(episode.opening.at(-1), { role: 'user', content: first })
  assert.equal(await episode.act(SAY), { results: [], user: talkative.task.turns[1], added: [] })
  assert.equal(await episode.act(SAY), { results: [], user: null, added: [] })
  assert.is(episode.end, 'finished')
  assert.match(await refused(episode.act(SAY)), /^episode_over: the user has no further turn/)
  const many = (count: number): AssistantMessage => ({
    text: '',
    calls: Array(count).fill({ name: 'no', arguments: {} }),
  })
  const busy = await open([many(24)])
  assert.not.ok(busy.isOver)
  assert.equal((await busy.fork().act(SAY)).user, talkative.task.turns[1])
  assert.equal([(await busy.act(many(3))).results, busy.end, busy.calls.length], [[], 'call_limit', 24])
  assert.match(await refused(busy.act(SAY)), /^episode_over: the episode has reached the limit of 24 calls/)
  const long = await open(Array.from({ length: 10 }, () => calling('no')))
  assert.is(long.end, 'turn_limit')
  assert.match(await refused(long.act(SAY)), /^episode_over: the assistant has sent 10 messages/)
})

test('a call with impossible arguments counts as malformed', async () => {
  let deep: Record<string, unknown> = {}
  for (let i = 0; i < 100; i++) deep = { deep }
  const episode = await open([
    { text: '', calls: [unreadableCall('{"name": '), { name: '', arguments: {} }] },
    calling('list', deep as never),
    calling('list', { at: Number.NaN }),
  ])
  assert.equal(
    episode.calls.map(({ malformed }) => malformed),
    [true, true, true, true],
  )
  assert.is(episode.score().components!.validity, 0)
})

test('the reward signals final, total and delta agree, also after a resumption', async () => {
  const actions = referenceActions(talkative)
  for (const resumed of [0, 2]) {
    const { total } = (await open(actions)).score()
    const stated = { final: [] as (number | null)[], total: [] as (number | null)[], delta: [] as (number | null)[] }
    let before = 0
    for (const signal of ['final', 'total', 'delta'] as const) {
      const episode = await open(actions.slice(0, resumed))
      if (resumed > 0) before = episode.score().total
      const tell = createRewardReporter(episode, signal)
      for (const action of actions.slice(resumed)) {
        await episode.act(action)
        stated[signal].push(tell().reward)
      }
    }
    assert.equal(stated.final, [...stated.final.slice(0, -1).map(() => null), total])
    assert.is(stated.total.at(-1), total)
    const sum = stated.delta.reduce((all: number, part) => all + part!, before)
    assert.ok(Math.abs(sum - total) < 1e-12)
  }
})

test.run()
