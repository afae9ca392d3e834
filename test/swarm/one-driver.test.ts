import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { rulesNamed } from '../../rollout/episode/index.js'
import { REWARD_PRESETS, type RewardPreset } from '../../rollout/reward/index.js'
import { createTaskRuntime } from '../../servers/episodes/episode-runtime.js'
import { createEpisodes } from '../../servers/episodes/episodes.js'
import { tasksOf } from '../../servers/episodes/index.js'
import { serveEpisodes } from '../../servers/episodes/serve.js'
import { WIRES } from '../support/episode-wires.js'
import { library } from '../support/library-environment.js'
import { asTrained, conversation, LENDING_TASKS } from '../support/random-conversations.js'
import { AMPLE, play, runtimeOf, scriptTokenizer } from '../support/scripted.js'

const test = suite('one driver over every protocol')

const tokenizer = scriptTokenizer()
const catalogue = new Map([[library.name, library]])
const tasks = tasksOf('A library', new Map([['train', LENDING_TASKS]]), catalogue)

async function served(reward: RewardPreset, use: (origin: string) => Promise<void>): Promise<void> {
  const episodes = createEpisodes(createTaskRuntime(catalogue))
  const service = { tasks, episodes, defaults: { reward, signal: 'final', split: 'train' } as const }
  const listening = await serveEpisodes(service, { host: '127.0.0.1', port: 0 })
  try {
    await use(listening.origin)
  } finally {
    await listening.close()
  }
}

for (const reward of REWARD_PRESETS.values()) {
  const there = runtimeOf([library], tokenizer, rulesNamed({ toolCallFormat: 'hermes', reward: reward.name }))

  test(`a random conversation has the reward ${reward.name} of training over every protocol`, () =>
    served(reward, (origin) =>
      fc.assert(
        fc.asyncProperty(conversation, async ({ task, messages }) => {
          const { reward: trained } = await play(task, messages.map(asTrained), there, LIMITS)
          for (const wire of WIRES)
            assert.equal(
              [wire.name, await wire.play(origin, task.id, reward.name, messages)],
              [wire.name, trained.total],
            )
        }),
        { numRuns: 12, seed: 340 },
      ),
    ))
}

const LIMITS = { ...AMPLE, maxRolloutTokens: 200_000 }

test.run()
