import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { PAPER, REWARD_PRESETS } from '../../../rollout/reward/index.js'
import { createTaskRuntime } from '../../../servers/episodes/episode-runtime.js'
import { EpisodeServerError, openEpisode } from '../../../servers/episodes/index.js'
import type { Action, Episode } from '../../../servers/episodes/play.js'
import { createRewardReporter } from '../../../servers/episodes/reward-signal.js'
import { examples, referenceActions, runtime, talkative } from '../../support/episodes.js'
import { library } from '../../support/library-environment.js'
import { AMPLE, lendingTask, play, runtimeOf, writeCall } from '../../support/scripted.js'

const test = suite('episodes')

const open = (actions: readonly Action[] = []): Promise<Episode> =>
  openEpisode(talkative.task, { runtime, reward: PAPER, actions })
const call = (name: string, args = {}): Action => ({ type: 'call', name, arguments: args })
const SAY: Action = { type: 'say', text: 'Hm.' }

test('the reference solution gets the recorded results and the maximum of every reward', async () => {
  // Calls that failed cost something.
  for (const example of examples.filter(({ recovery }) => recovery === null)) {
    for (const reward of REWARD_PRESETS.values()) {
      const episode = await openEpisode(example.task, { runtime, reward })
      const results: string[] = []
      for (const action of referenceActions(example)) {
        const outcome = await episode.act(action)
        if (outcome.type === 'result') results.push(outcome.text)
      }
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

const lending = lendingTask()
/** The same, but what takes the loan back comes with the second turn. */
const bringing = lendingTask({
  toolset: lending.toolset.map((offer) => (offer.tool === 'return_book' ? { ...offer, from: 1 } : offer)),
})
const argument = fc.constantFrom('emma', 'Ada', 'nobody', 'loan-1')
const made = fc.oneof(
  fc.record({
    type: fc.constant('call' as const),
    name: fc.constantFrom('list_books', 'lend_book', 'return_book', 'burn_books'),
    arguments: fc.dictionary(fc.constantFrom('book', 'reader', 'loan'), fc.oneof(argument, fc.integer()), {
      maxKeys: 3,
      noNullPrototype: true,
    }),
  }),
  fc.constant(SAY),
)

test('any actions get the results and the score of training', async () => {
  const here = createTaskRuntime(new Map([[library.name, library]]))
  const there = runtimeOf()
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(lending, bringing), fc.array(made, { maxLength: 8 }), async (task, actions) => {
      const episode = await openEpisode(task, { runtime: here, reward: PAPER })
      const [script, results]: [string[], string[]] = [[], []]
      for (const action of [...actions, SAY, SAY]) {
        if (episode.isOver) break
        const outcome = await episode.act(action)
        if (outcome.type === 'result') results.push(outcome.text)
        script.push(action.type === 'call' ? writeCall(action.name, action.arguments) : 'Hm.')
      }
      const rollout = await play(task, script, there, { ...AMPLE, maxAssistantTurns: 20 })
      assert.equal(results, rollout.responses)
      assert.equal(episode.calls, rollout.calls)
      const { preset, solved, stateHashes, ...reward } = episode.score()
      assert.equal([reward, solved], [rollout.reward, rollout.solved])
    }),
    { numRuns: 60, seed: 5 },
  )
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
  assert.instance(why, EpisodeServerError)
  return (why as EpisodeServerError).message
}

test('an episode is over after the last user turn or at the call limit of training', async () => {
  const [first] = talkative.task.turns
  const episode = await open()
  assert.equal(episode.opening.at(-1), { role: 'user', content: first })
  assert.equal(await episode.act(SAY), { type: 'user', text: talkative.task.turns[1] })
  assert.equal(await episode.act(SAY), { type: 'end' })
  assert.match(await refused(episode.act(SAY)), /^episode_over: the user has no further turn/)
  const busy = await open(Array.from({ length: 24 }, () => call('no_such_tool')))
  assert.ok(busy.isOver)
  assert.match(await refused(busy.act(SAY)), /^episode_over: the episode has reached the limit of 24 calls/)
})

test('a call with impossible arguments counts as malformed', async () => {
  let deep: Record<string, unknown> = {}
  for (let i = 0; i < 100; i++) deep = { deep }
  const episode = await open([
    { type: 'unreadable', raw: '{"name": ' },
    { type: 'call', name: '', arguments: {} },
    { type: 'call', name: 'list', arguments: deep as never },
  ])
  assert.equal(
    episode.calls.map(({ malformed }) => malformed),
    [true, true, true],
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
