import { once } from 'node:events'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { WebSocket } from 'ws'
import { PAPER } from '../../rollout/reward/index.js'
import { createEpisodes, type EpisodesOptions } from '../../servers/episodes/episodes.js'
import { openEpisode } from '../../servers/episodes/index.js'
import { EPISODE_SERVER_LIMITS } from '../../servers/episodes/limits.js'
import { REPLY_TOOL } from '../../servers/episodes/reply-tool.js'
import { serveEpisodes } from '../../servers/episodes/serve.js'
import { callIn, referenceActions, runtime, talkative, tasks } from '../support/episodes.js'
import { PATIENCE_MS, patience } from '../support/patience.js'

const test = suite("episodes over OpenEnv's wire")

const { task } = talkative
const actions = referenceActions(talkative)
const responses = talkative.exchanges.flatMap(({ calls }) => calls.map(({ response }) => response))
const episode = await openEpisode(task, { runtime, reward: PAPER, actions })
const earned = episode.score()

interface Served {
  readonly origin: string
  readonly open: () => number
}
async function served(use: (server: Served) => Promise<void>, options: EpisodesOptions = {}): Promise<void> {
  const episodes = createEpisodes(runtime, options)
  const defaults = { reward: PAPER, signal: 'final', split: 'train' } as const
  const listening = await serveEpisodes({ tasks, episodes, defaults }, { host: '127.0.0.1', port: 0 })
  try {
    await use({ origin: listening.origin, open: () => episodes.size })
  } finally {
    await listening.close()
  }
}

const socketTo = (origin: string, headers: Record<string, string> = {}): WebSocket =>
  new WebSocket(`${origin.replace('http', 'ws')}/ws`, { headers, handshakeTimeout: PATIENCE_MS })

/** A client as OpenEnv's: it sends a message and waits for the answer. */
async function connect(origin: string) {
  const socket = socketTo(origin)
  await once(socket, 'open', { signal: patience() })
  return {
    socket,
    // biome-ignore lint/suspicious/noExplicitAny: answers of a server under test are looked at field by field
    async ask(message: unknown): Promise<any> {
      socket.send(typeof message === 'string' ? message : JSON.stringify(message))
      const [data] = await once(socket, 'message', { signal: patience() })
      return JSON.parse(String(data))
    },
    async end() {
      socket.close()
      await once(socket, 'close', { signal: patience() })
    },
  }
}

const callTool = (name: string, args: unknown) => ({
  type: 'step',
  data: { type: 'call_tool', tool_name: name, arguments: args },
})
/** What an agent that can only call tools does for an action. */
const asCall = (message: (typeof actions)[number]) => {
  const call = callIn(message)
  return call ? callTool(call.name, call.arguments) : callTool(REPLY_TOOL.name, { text: message.text })
}

test('each connection is an OpenEnv environment, with the exact messages of its clients', () =>
  served(async ({ origin, open }) => {
    const { ask, socket } = await connect(origin)
    assert.equal(await ask({ type: 'state' }), {
      type: 'state',
      data: { episode_id: null, step_count: 0, task: null, over: false },
    })
    const reply = {
      name: REPLY_TOOL.name,
      description: REPLY_TOOL.description,
      input_schema: REPLY_TOOL.inputSchema,
    }
    const listTools = { type: 'step', data: { type: 'list_tools' } }
    assert.equal(await ask(listTools), {
      type: 'observation',
      data: { observation: { tools: [reply], metadata: {} }, reward: null, done: false },
    })
    const opened = await ask({ type: 'reset', data: { task: task.id } })
    const offered = episode.offered.map(({ name, description, inputSchema }) => ({
      name,
      description,
      input_schema: inputSchema,
    }))
    const id = opened.data.observation.metadata.episode_id
    const about = { episode_id: id, task: task.id, kind: task.kind, reward: 'paper', messages: episode.opening }
    assert.equal(opened, {
      type: 'observation',
      data: { observation: { tools: [...offered, reply], metadata: about }, reward: null, done: false },
    })
    assert.equal((await ask(listTools)).data.observation.tools, [...offered, reply])

    const results: string[] = []
    for (const [i, action] of actions.entries()) {
      const stated = await ask(asCall(action))
      const last = i === actions.length - 1
      const { result } = stated.data.observation
      const tool = callIn(action)?.name ?? REPLY_TOOL.name
      const metadata = last ? JSON.parse(JSON.stringify(earned)) : {}
      assert.equal(stated, {
        type: 'observation',
        data: {
          observation: { tool_name: tool, result, error: null, metadata },
          reward: last ? earned.total : null,
          done: last,
        },
      })
      if (callIn(action)) results.push(result)
    }
    assert.equal(results, responses)
    assert.equal(await ask({ type: 'state' }), {
      type: 'state',
      data: { episode_id: id, step_count: actions.length, task: task.id, over: true },
    })
    const over = await ask(callTool(REPLY_TOOL.name, { text: 'And?' }))
    assert.equal([over.type, over.data.code, over.data.error], ['error', 'EXECUTION_ERROR', 'episode_over'])

    // Another reset ends the episode before it, and the end of the connection ends the last.
    await ask({ type: 'reset', data: { seed: tasks.count('train') + 2, reward_signal: 'total' } })
    assert.is(open(), 1)
    assert.is((await ask({ type: 'state' })).data.task, tasks.at('train', 2).id)
    socket.send(JSON.stringify({ type: 'close' }))
    await once(socket, 'close', { signal: patience() })
    while (open() > 0) await fetch(`${origin}/health`, { signal: patience() })
  }))

test('an invalid message gets OpenEnv’s error code, and the connection continues', () =>
  served(async ({ origin }) => {
    const { ask, end } = await connect(origin)
    const codes = []
    for (const bad of [
      '{',
      { type: 'mcp', data: {} },
      '[]',
      { type: 'step', data: 7 },
      callTool(REPLY_TOOL.name, {}),
      { type: 'step', data: { type: 'jump' } },
      { type: 'reset', data: { task: 'nothing' } },
      { type: 'reset', data: { reward: 'generous' } },
    ])
      codes.push((await ask(bad)).data.code)
    assert.equal(codes, [
      'INVALID_JSON',
      'UNKNOWN_TYPE',
      'UNKNOWN_TYPE',
      'VALIDATION_ERROR',
      'EXECUTION_ERROR',
      'VALIDATION_ERROR',
      'EXECUTION_ERROR',
      'EXECUTION_ERROR',
    ])
    assert.is((await ask({ type: 'reset' })).type, 'observation')
    await end()
  }))

test('a reset on a full server fails with a code, and a page of another origin gets no connection', () =>
  served(
    async ({ origin }) => {
      const [first, second] = [await connect(origin), await connect(origin)]
      assert.is((await first.ask({ type: 'reset' })).type, 'observation')
      assert.is((await second.ask({ type: 'reset' })).data.code, 'CAPACITY_REACHED')
      const page = socketTo(origin, { origin: 'http://evil.example' })
      const [, answer] = await once(page, 'unexpected-response', { signal: patience() })
      assert.is(answer.statusCode, 403)
      page.on('error', () => undefined)
      page.terminate()
      await first.end()
      await second.end()
    },
    { maxEpisodes: 1 },
  ))

test('a client that sends too much or does not wait for responses is disconnected', () =>
  served(async ({ origin }) => {
    const large = await connect(origin)
    large.socket.on('error', () => undefined)
    large.socket.send(' '.repeat(EPISODE_SERVER_LIMITS.requestBytes + 1))
    const [tooBig] = await once(large.socket, 'close', { signal: patience() })
    assert.is(tooBig, 1009)
    const hasty = await connect(origin)
    const closed = once(hasty.socket, 'close', { signal: patience() })
    for (let i = 0; i < 200; i += 1) hasty.socket.send(JSON.stringify({ type: 'reset' }))
    assert.is((await closed)[0], 1008)
  }))

test('single requests name their episode, and the schemas match the messages', () =>
  served(async ({ origin }) => {
    const ask = async (path: string, body?: unknown) => {
      const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
      const answer = await fetch(`${origin}${path}`, { ...sent, signal: patience() })
      return { status: answer.status, body: await answer.json() }
    }
    const { body: opened } = await ask('/reset', { task: task.id, seed: null })
    const id = opened.observation.metadata.episode_id
    let last: { reward: number | null; done: boolean } | undefined
    for (const action of actions)
      last = (await ask('/step', { action: asCall(action).data, episode_id: id, timeout_s: 30 })).body
    assert.equal([last!.reward, last!.done], [earned.total, true])
    assert.is((await ask(`/state?episode_id=${id}`)).body.step_count, actions.length)
    assert.is((await ask(`/episodes/${id}`)).body.score.total, earned.total)
    assert.is((await ask('/step', { action: asCall(actions[0]!).data })).status, 404)
    const { body: schema } = await ask('/schema')
    assert.equal(Object.keys(schema), ['action', 'observation', 'state'])
    assert.ok(JSON.stringify(schema.action).includes('call_tool'))
    assert.is((await ask('/metadata')).body.name, 'prove')
  }))

test.run()
