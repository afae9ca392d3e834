import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type AssistantMessage, rulesNamed } from '../../../rollout/episode/index.js'
import { REWARD_PRESETS } from '../../../rollout/reward/index.js'
import { createTaskRuntime } from '../../../servers/episodes/episode-runtime.js'
import { openEpisode, scoreRollout } from '../../../servers/episodes/index.js'
import { messageSchema, parseAs, recordedMessage } from '../../../servers/episodes/message.js'
import { openPlayedTask } from '../../../servers/episodes/playground/played-task.js'
import { publishable, readPublished } from '../../../servers/episodes/playground/published.js'
import { verifyPublished } from '../../../servers/episodes/playground/verify-published.js'
import { library } from '../../support/library-environment.js'
import { asSent, asTrained, conversation } from '../../support/random-conversations.js'
import { AMPLE, play, runtimeOf, scriptTokenizer } from '../../support/scripted.js'

const test = suite('one driver')

const tokenizer = scriptTokenizer()
const here = createTaskRuntime(new Map([[library.name, library]]))
const ends = new Set<string>()

for (const reward of REWARD_PRESETS.values()) {
  const there = runtimeOf([library], tokenizer, rulesNamed({ toolCallFormat: 'hermes', reward: reward.name }))

  test(`a random conversation gets the results, end and reward ${reward.name} of training`, () =>
    fc.assert(
      fc.asyncProperty(conversation, fc.nat(9), async ({ task, messages }, at) => {
        const rollout = await play(task, messages.map(asTrained), there, { ...AMPLE, maxRolloutTokens: 200_000 })
        ends.add(rollout.end)

        const episode = await openEpisode(task, { runtime: here, reward })
        const results: string[] = []
        let fork = episode
        for (const [i, message] of messages.entries()) {
          if (episode.isOver) break
          if (i === at) fork = episode.fork()
          const reaction = await episode.act(parseAs(messageSchema, asSent(message)))
          results.push(...reaction.results.map(({ text }) => text))
        }
        const { preset, solved, stateHashes, ...scored } = episode.score()
        assert.equal(scored, rollout.reward)
        assert.equal(results, rollout.responses)
        assert.equal(episode.calls.map(asRead), rollout.calls.map(asRead))
        assert.equal([episode.end, solved], [rollout.end, rollout.solved])

        if (fork !== episode) for (const { ...message } of episode.actions.slice(at)) await fork.act(message)
        assert.equal(fork.score(), episode.score())

        const actions = JSON.parse(JSON.stringify(episode.actions.map(recordedMessage)))
        const parts = { runtime: here, reward, named: () => task }
        const again = await scoreRollout({ task: task.id, actions }, parts)
        assert.equal([again.total, again.stateHashes], [rollout.reward.total, stateHashes])
        assert.equal(
          again.results!.map(({ text }) => text),
          rollout.responses,
        )
      }),
      { numRuns: 150, seed: 34 },
    ))

  test(`the playground gives it the reward ${reward.name} of training, and verifies it`, () =>
    fc.assert(
      fc.asyncProperty(conversation, async ({ task, messages }) => {
        const rollout = await play(task, messages.map(asTrained), there, { ...AMPLE, maxRolloutTokens: 200_000 })
        const played = await openPlayedTask(task, here, reward)
        const { episode } = played.branch('A')!
        for (const message of messages)
          if (!episode.isOver) await played.act('A', parseAs(messageSchema, asSent(message)))
        assert.is(played.branch('A')!.steps.at(-1)!.scored.total, rollout.reward.total)
        const text = JSON.stringify(publishable(played.branch('A')!))
        const { findings } = await verifyPublished(
          readPublished(text, () => task),
          here,
        )
        assert.equal(
          findings.filter(({ outcome }) => outcome === 'failed'),
          [],
        )
      }),
      { numRuns: 30, seed: 35 },
    ))

  test(`a message in parts gets the reward ${reward.name} of the whole message`, () =>
    fc.assert(
      fc.asyncProperty(conversation, async ({ task, messages }) => {
        const whole = await openEpisode(task, { runtime: here, reward })
        const parts = await openEpisode(task, { runtime: here, reward })
        for (const written of messages) {
          if (whole.isOver) break
          const message = parseAs(messageSchema, asSent(written))
          await whole.act(message)
          for (const part of inParts(message)) if (!parts.isOver) await parts.act(part)
          assert.equal([parts.end, parts.score()], [whole.end, whole.score()])
        }
      }),
      { numRuns: 60, seed: 36 },
    ))
}

test('the random conversations reach every end', () => {
  assert.equal([...ends].sort(), ['call_limit', 'finished', 'turn_limit'])
})

/** Returns a logged call without the text of an unreadable one, which differs between tool-call formats. */
const asRead = <T extends { readonly malformed?: boolean }>(call: T): T | { malformed: true } =>
  call.malformed ? { malformed: true } : call

function inParts({ text, calls }: AssistantMessage): AssistantMessage[] {
  if (calls.length === 0) return [{ text, calls }]
  return calls.map((call, i) => ({
    text: i === 0 ? text : '',
    calls: [call],
    ...(i < calls.length - 1 ? { more: true } : {}),
  }))
}

test.run()
