import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { PAPER } from '../../../rollout/reward/index.js'
import { createEpisodes, type EpisodesOptions } from '../../../servers/episodes/episodes.js'
import { runtime, saying, talkative } from '../../support/episodes.js'

const test = suite('open episodes')

const request = { task: talkative.task, reward: PAPER, signal: 'final' } as const
const REST_MS = 5 * 60_000

function table(options: EpisodesOptions) {
  let now = 0
  const episodes = createEpisodes(runtime, { ...options, now: () => now })
  const pass = (ms: number): void => {
    now += ms
  }
  return { episodes, pass }
}
const codeOf = (asking: Promise<unknown>): Promise<string> =>
  asking.then(
    () => 'no error',
    (error: Error) => error.message,
  )

test('a full server evicts an idle episode, and a later request is told so', async () => {
  const { episodes, pass } = table({ maxEpisodes: 2, maxPerClient: 2 })
  const first = await episodes.open('ann', request)
  await episodes.open('ann', request)
  assert.match(await codeOf(episodes.open('ben', request)), /^too_many_episodes/)
  pass(REST_MS)
  await episodes.open('ben', request)
  assert.is(episodes.size, 2)
  assert.match(
    await codeOf(episodes.use(first.id, async () => 1)),
    /^unknown_episode: .* was evicted because the server is full/,
  )
})

test('an unused episode is closed after the idle time, and a used one stays open', async () => {
  const { episodes, pass } = table({ idleMs: 1000 })
  const [used, left] = [await episodes.open('ann', request), await episodes.open('ann', request)]
  pass(600)
  await episodes.use(used.id, async () => undefined)
  pass(600)
  assert.is(episodes.closeIdle(), 1)
  assert.ok(episodes.has(used.id) && !episodes.has(left.id))
  assert.match(await codeOf(episodes.use(left.id, async () => 1)), /^unknown_episode: no open episode/)
})

test('concurrent requests for one episode run one after another', async () => {
  const { episodes } = table({})
  const { id } = await episodes.open('ann', request)
  const order: string[] = []
  let letGo = (): void => undefined
  const held = new Promise<void>((resolve) => {
    letGo = resolve
  })
  const asked = [
    episodes.use(id, async () => {
      order.push('first begins')
      await held
      order.push('first ends')
      throw new Error('a failure holds nobody up')
    }),
    episodes.use(id, async () => void order.push('second')),
  ]
  await Promise.resolve()
  letGo()
  await Promise.allSettled(asked)
  assert.equal(order, ['first begins', 'first ends', 'second'])
})

test('a fork is an independent episode and counts for the client that requested it', async () => {
  const { episodes } = table({ maxPerClient: 1 })
  const open = await episodes.open('ann', request)
  assert.match(await codeOf(episodes.fork('ann', open.id)), /^too_many_episodes/)
  const fork = await episodes.fork('ben', open.id)
  await episodes.use(fork.id, ({ episode }) => episode.act(saying('Hm.')))
  assert.equal([fork.episode.actions.length, open.episode.actions.length], [1, 0])
  episodes.close(open.id)
  assert.ok(episodes.has(fork.id))
})

test.run()
