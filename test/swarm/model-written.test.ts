import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { PAPER } from '../../rollout/reward/index.js'
import { createTaskRuntime } from '../../servers/episodes/episode-runtime.js'
import { createEpisodes } from '../../servers/episodes/episodes.js'
import { openEpisode, tasksOf } from '../../servers/episodes/index.js'
import { serveEpisodes } from '../../servers/episodes/serve.js'
import { library } from '../support/library-environment.js'
import { patience } from '../support/patience.js'
import { lendingTask } from '../support/scripted.js'

/** Requests whose path or values a model wrote, over NeMo Gym's wire, where the name of a tool is the path. */

const test = suite('what a model writes in an open episode')

const runtime = createTaskRuntime(new Map([[library.name, library]]))
const task = lendingTask()
const tasks = tasksOf('A library', new Map([['train', [task]]]), runtime.catalogue)

type Ask = (path: string, body?: string, cookie?: string) => Promise<Response>

async function served(use: (ask: Ask, origin: string) => Promise<void>): Promise<void> {
  const defaults = { reward: PAPER, signal: 'final', split: 'train' } as const
  const service = { tasks, episodes: createEpisodes(runtime), defaults }
  const listening = await serveEpisodes(service, { host: '127.0.0.1', port: 0 })
  const ask: Ask = (path, body, cookie) =>
    fetch(`${listening.origin}${path}`, {
      ...{ method: 'POST', signal: patience(), redirect: 'manual' },
      headers: { 'content-type': 'application/json', ...(cookie === undefined ? {} : { cookie }) },
      ...(body === undefined ? {} : { body }),
    })
  try {
    await use(ask, listening.origin)
  } finally {
    await listening.close()
  }
}

const row = { responses_create_params: { input: [] }, verifier_metadata: { task: task.id } }

async function seeded(ask: Ask): Promise<string> {
  const answer = await ask('/seed_session', JSON.stringify(row))
  return answer.headers.get('set-cookie')!.split(';')[0]!
}

const called = (name: string, args: string) => ({ type: 'function_call', call_id: 'c', name, arguments: args })

test('the paths of all protocols are names of tools for a model, and open, score and close nothing', () =>
  served(async (ask, origin) => {
    const cookie = await seeded(ask)
    const names = ['verify', 'seed_session', 'reset', 'step', 'episodes', 'create', 'delete', 'mcp', 'prove/call', 'ws']
    for (const name of names) {
      const answer = await ask(`/${name}`, '{"index": 0, "seed": 0}', cookie)
      assert.equal([name, answer.status, (await answer.json()).error], [name, 200, 'unknown_tool'])
    }
    const forged = { ...row, verifier_metadata: { task: '0'.repeat(64) }, response: { output: [] } }
    for (const path of ['/verify', '/seed_session'])
      assert.is((await (await ask(path, JSON.stringify(forged), cookie)).json()).error, 'unknown_tool')
    const { episodes } = await (await fetch(`${origin}/health`, { signal: patience() })).json()
    assert.is(episodes, 1)
    const output = [...names, 'verify', 'seed_session'].map((name) => called(name, '{}'))
    const verified = await (await ask('/verify', JSON.stringify({ ...row, response: { output } }), cookie)).json()
    const calls = output.map(({ name }) => ({ name, arguments: {} }))
    const expected = await openEpisode(task, { runtime, reward: PAPER, actions: [{ text: '', calls }] })
    assert.is(verified.reward, expected.score().total)
  }))

test('NeMo Gym may send the tokens of a rollout to verify, and a call is no larger than any request', () =>
  served(async (ask) => {
    const cookie = await seeded(ask)
    const generation_token_ids = Array.from({ length: 300_000 }, (_, i) => i % 50_000)
    const output = [{ ...called('list_books', '{}'), generation_token_ids }]
    const verified = await ask('/verify', JSON.stringify({ ...row, response: { output } }), cookie)
    assert.is(verified.status, 200)
    assert.is((await ask('/list_books', JSON.stringify({ shelf: 'x'.repeat(2 ** 20) }), cookie)).status, 413)
  }))

test('wrong calls cost the same, in whichever form a model writes them', () =>
  served(async (ask) => {
    const right = task.groundTruth[0]!
    const rewards = new Map<string, number>()
    for (const [name, args] of [
      ['create_evnt', '{}'],
      ['CreateEvent', '{}'],
      ['create event', '{}'],
      ['lend_book', 'null'],
      ['lend_book', '{"book": NaN}'],
      ['lend_book', '{"book":'],
    ] as const) {
      const cookie = await seeded(ask)
      const output: object[] = []
      for (let i = 0; i < 3; i++) {
        if (args !== '{"book":') await ask(`/${encodeURIComponent(name)}`, args === 'null' ? undefined : args, cookie)
        output.push(called(name, args), { type: 'function_call_output', call_id: 'c', output: '{}' })
      }
      await ask(`/${right.name}`, JSON.stringify(right.arguments), cookie)
      output.push(called(right.name, JSON.stringify(right.arguments)))
      const { reward } = await (await ask('/verify', JSON.stringify({ ...row, response: { output } }), cookie)).json()
      rewards.set(`${name} ${args}`, reward)
    }
    assert.is(new Set(rewards.values()).size, 1, JSON.stringify([...rewards]))
    const alone = await openEpisode(task, { runtime, reward: PAPER, actions: [{ text: '', calls: [right] }] })
    assert.ok([...rewards.values()][0]! < alone.score().total)
  }))

test.run()
