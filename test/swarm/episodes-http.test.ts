import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { Client as NewClient, StreamableHTTPClientTransport as NewTransport } from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { type CallToolResult, ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { nameTask } from '../../rollout/episode/index.js'
import { PAPER } from '../../rollout/reward/index.js'
import { createEpisodes, type EpisodesOptions } from '../../servers/episodes/episodes.js'
import { openEpisode } from '../../servers/episodes/index.js'
import { REPLY_TOOL } from '../../servers/episodes/reply-tool.js'
import { serveEpisodes } from '../../servers/episodes/serve.js'
import { callIn, referenceActions, runtime, talkative, tasks } from '../support/episodes.js'
import { PATIENCE_MS, patience } from '../support/patience.js'

const test = suite('episodes over HTTP')

async function served(use: (origin: string) => Promise<void>, options: EpisodesOptions = {}): Promise<void> {
  const defaults = { reward: PAPER, signal: 'final', split: 'train' } as const
  const service = { tasks, episodes: createEpisodes(runtime, options), defaults }
  const listening = await serveEpisodes(service, { host: '127.0.0.1', port: 0 })
  try {
    await use(listening.origin)
  } finally {
    await listening.close()
  }
}

const ask = (url: string, method = 'GET', body?: unknown, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(url, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    signal: patience(),
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
// biome-ignore lint/suspicious/noExplicitAny: answers of a server under test are looked at field by field
const json = async (answer: Response | Promise<Response>): Promise<any> => (await answer).json()

const { task } = talkative
const index = tasks.range('train', 0, 100).findIndex(({ id }) => id === task.id)
const actions = referenceActions(talkative)
const responses = talkative.exchanges.flatMap(({ calls }) => calls.map(({ response }) => response))
const earned = (await openEpisode(task, { runtime, reward: PAPER, actions })).score().total

test('the JSON API lists, opens, plays, forks and closes a task', () =>
  served(async (origin) => {
    const listed = await json(ask(`${origin}/tasks?start=${index}&count=1`))
    assert.equal([listed.count, listed.tasks[0].id], [tasks.count('train'), task.id])
    const opened = await json(ask(`${origin}/episodes`, 'POST', { index, reward_signal: 'total' }))
    assert.is(opened.messages.at(-1).content, task.turns[0])
    assert.equal(
      opened.tools.map((tool: { function: { name: string } }) => tool.function.name),
      task.toolset.map(({ tool }) => tool),
    )
    const shown = await json(ask(`${origin}/tasks/${task.id}`))
    assert.equal([shown.messages, shown.tools, shown.user_turns], [opened.messages, opened.tools, task.turns.length])
    assert.is(shown.reply_tool.function.name, REPLY_TOOL.name)
    assert.is((await ask(`${origin}/tasks/none`)).status, 404)
    const at = `${origin}/episodes/${opened.episode}`
    const results: string[] = []
    let last: { over: boolean; reward: number } | undefined
    for (const message of actions) {
      const answer = await json(ask(`${at}/actions`, 'POST', message))
      results.push(...answer.results.map(({ text }: { text: string }) => text))
      last = answer
    }
    assert.equal(results, responses)
    assert.equal([last!.over, last!.reward], [true, earned])
    const fork = await json(ask(`${at}/fork`, 'POST'))
    assert.is(fork.score.total, earned)
    assert.equal(fork.actions.length, actions.length)
    // What was done is all that another server needs.
    const again = await json(ask(`${origin}/episodes`, 'POST', { task: task.id, actions: fork.actions }))
    assert.equal(again.score, fork.score)
    assert.is((await ask(at, 'DELETE')).status, 204)
    assert.is((await ask(at)).status, 404)
  }))

/** Says how long its body is, and waits for the answer before it sends any of it. */
function announcing(url: string, bytes: number): Promise<[number | undefined, string]> {
  return new Promise((resolve, reject) => {
    const asking = request(
      url,
      { method: 'POST', headers: { 'content-length': bytes }, signal: patience() },
      (answer) => {
        text(answer).then((body) => {
          resolve([answer.statusCode, JSON.parse(body).error])
          asking.destroy()
        }, reject)
      },
    )
    asking.on('error', reject)
    asking.flushHeaders()
  })
}

test('a bad request gets an error code, and the server continues', () =>
  served(
    async (origin) => {
      const refused = async (answer: Promise<Response>): Promise<[number, string]> => {
        const { status, ...rest } = await answer.then(async (got) => ({ status: got.status, ...(await json(got)) }))
        return [status, rest.error ?? rest.detail]
      }
      assert.equal(await refused(ask(`${origin}/episodes`, 'POST', '{')), [400, 'bad_request'])
      assert.equal(await refused(ask(`${origin}/episodes`, 'POST', { index: -1 })), [400, 'bad_request'])
      const elsewhere = await json(ask(`${origin}/episodes`, 'POST', { split: 'test', index: 0 }))
      assert.is(elsewhere.error, 'bad_request')
      assert.match(elsewhere.message, /"held-out".*split/s)
      assert.equal(await refused(ask(`${origin}/episodes`, 'POST', { index: 1e6 })), [404, 'unknown_task'])
      assert.equal(await refused(ask(`${origin}/episodes`, 'POST', { index, reward: 'love' })), [400, 'unknown_reward'])
      assert.equal(await refused(ask(`${origin}/episodes/none/actions`, 'POST', { text: '' })), [
        404,
        'unknown_episode',
      ])
      assert.equal(await refused(ask(`${origin}/nowhere`)), [404, 'unknown_path'])
      assert.equal(await refused(ask(`${origin}/health`, 'GET', undefined, { origin: 'http://evil.example' })), [
        403,
        'origin_not_allowed',
      ])
      assert.equal(await announcing(`${origin}/episodes`, 2 ** 20 + 1), [413, 'too_large'])
      await ask(`${origin}/episodes`, 'POST', { index })
      const full = await ask(`${origin}/episodes`, 'POST', { index })
      assert.equal([full.status, full.headers.get('retry-after')], [503, '5'])
      assert.equal(await json(ask(`${origin}/health`)), { status: 'ok', episodes: 1 })
    },
    { maxEpisodes: 1 },
  ))

/** The events of an answer as a reader of the Open Reward Standard takes them: blanks at the beginning of data are dropped. */
async function eventsOf(answer: Promise<Response>): Promise<[string, string][]> {
  const text = await (await answer).text()
  return [...text.matchAll(/event: (\w+)\ndata: ([^\n]*)\n\n/g)].map(([, event, data]) => [event!, data!.trimStart()])
}

test('the Open Reward Standard has tasks, sessions, tools, resumable result streams and a reward', () =>
  served(async (origin) => {
    assert.equal(await json(ask(`${origin}/list_environments`)), ['prove'])
    assert.equal(await json(ask(`${origin}/prove/splits`)), [{ name: 'train', type: 'train' }])
    const { tasks: specs } = await json(ask(`${origin}/prove/tasks`, 'POST', { split: 'train' }))
    assert.is(specs.length, tasks.count('train'))
    assert.equal(await json(ask(`${origin}/num_tasks`, 'POST', { split: 'train' })), { num_tasks: specs.length })
    const [[, sid]] = (await eventsOf(ask(`${origin}/create_session`, 'POST'))) as [[string, string]]
    const session = { 'x-session-id': sid }
    const made = await json(ask(`${origin}/create`, 'POST', { env_name: 'prove', task_spec: specs[index] }, session))
    assert.equal(made, { sid })
    const { tools } = await json(ask(`${origin}/prove/task_tools`, 'GET', undefined, session))
    assert.equal(
      tools.map(({ name }: { name: string }) => name),
      [REPLY_TOOL.name, ...task.toolset.map(({ tool }) => tool)],
    )
    const prompt = await json(ask(`${origin}/prove/prompt`, 'GET', undefined, session))
    assert.is(prompt.at(-1).text, task.turns[0])
    let output: { reward: number | null; finished: boolean } | undefined
    for (const action of actions) {
      const made = callIn(action)
      const call = made
        ? { name: made.name, input: made.arguments }
        : { name: REPLY_TOOL.name, input: { text: 'Done.' } }
      const events = await eventsOf(ask(`${origin}/prove/call`, 'POST', call, session))
      const [[, id], ...pieces] = events as [[string, string], ...[string, string][]]
      assert.equal(
        pieces.map(([event]) => event),
        [...pieces.slice(1).map(() => 'chunk'), 'end'],
      )
      assert.equal(await eventsOf(ask(`${origin}/prove/call`, 'POST', { task_id: id }, session)), events)
      output = JSON.parse(pieces.map(([, piece]) => piece).join('')).output
      if (action !== actions.at(-1)) assert.equal([output!.reward, output!.finished], [null, false])
    }
    assert.equal([output!.reward, output!.finished], [earned, true])
    assert.equal(await json(ask(`${origin}/ping`, 'POST', {}, session)), { status: 'ok' })
    assert.equal(await json(ask(`${origin}/delete`, 'POST', {}, session)), { sid })
    assert.is((await ask(`${origin}/ping`, 'POST', {}, session)).status, 404)
  }))

test('each path of the Open Reward Standard without an environment is redirected to the path of the only one', () =>
  served(async (origin) => {
    for (const part of [
      'tools',
      'splits',
      'tasks',
      'num_tasks',
      'task',
      'task_range',
      'task_tools',
      'prompt',
      'call',
    ]) {
      const { status, headers } = await fetch(`${origin}/${part}`, {
        method: 'POST',
        redirect: 'manual',
        signal: patience(),
      })
      assert.equal([status, headers.get('location')], [308, `/prove/${part}`], part)
      const there = await fetch(`${origin}/prove/${part}`, { redirect: 'manual', signal: patience() })
      assert.not.ok(there.status >= 300 && there.status < 400, part)
    }
  }))

// With `observability_enabled` it puts the name of the rollout before each path.
for (const prefix of ['', '/ng-rollout/3-0'])
  test(`NeMo Gym seeds a session, calls tools and verifies the answer under "${prefix}/"`, () =>
    served(async (origin) => {
      const base = `${origin}${prefix}`
      const lines = (await (await ask(`${origin}/nemo_gym.jsonl`)).text()).trim().split('\n')
      const row = JSON.parse(lines[index]!)
      assert.is(row.responses_create_params.input.at(-1).content, task.turns[0])
      const seeded = await ask(`${base}/seed_session`, 'POST', row)
      const session = { cookie: seeded.headers.get('set-cookie')!.split(';')[0]! }
      const results: string[] = []
      const output: object[] = []
      for (const action of actions) {
        const { name, arguments: args } = callIn(action) ?? { name: REPLY_TOOL.name, arguments: { text: 'Done.' } }
        const called = await ask(`${base}/${name}`, 'POST', args, session)
        // The client sends the cookies of the last answer only.
        assert.is(called.headers.get('set-cookie')!.split(';')[0], session.cookie)
        const answer = await called.text()
        output.push({ type: 'function_call', name, arguments: JSON.stringify(args), call_id: 'x' })
        output.push({ type: 'function_call_output', call_id: 'x', output: answer })
        if (callIn(action)) results.push(answer)
      }
      assert.equal(results, responses)
      const verified = await json(ask(`${base}/verify`, 'POST', { ...row, response: { output } }, session))
      assert.equal([verified.reward, verified.solved], [earned, true])
      assert.equal(Object.keys(verified.reward_components), PAPER.components)
      assert.equal(verified.response, { output })
      const cut = await ask(`${base}/verify`, 'POST', { ...row, response: { output: [] } }, session)
      assert.equal([cut.status, /send the whole response/.test(await cut.text())], [400, true])
      assert.is((await ask(`${base}/verify`, 'POST', row)).status, 404)
    }))

test('an MCP client plays an episode over several connections and reads its reward', () =>
  served(async (origin) => {
    const { episode } = await json(ask(`${origin}/episodes`, 'POST', { index }))
    let last: CallToolResult | undefined
    for (const action of actions) {
      const client = new Client({ name: 'test', version: '1.0.0' })
      const url = new URL(`${origin}/episodes/${episode}/mcp`)
      await client.connect(new StreamableHTTPClientTransport(url), { timeout: PATIENCE_MS })
      const { tools } = await client.listTools(undefined, { timeout: PATIENCE_MS })
      assert.is(tools.length, task.toolset.length + 1)
      const call = callIn(action) ?? { name: REPLY_TOOL.name, arguments: { text: 'Done.' } }
      last = (await client.callTool({ ...call, arguments: { ...call.arguments } }, undefined, {
        timeout: PATIENCE_MS,
      })) as CallToolResult
      await client.close()
    }
    const stated = last!._meta!['prove/reward'] as { reward: number; over: boolean }
    assert.equal([stated.reward, stated.over], [earned, true])
    const none = await ask(`${origin}/episodes/none/mcp`, 'POST', {})
    assert.equal([none.status, (await json(none)).error.data.code], [404, 'unknown_episode'])
  }))

test('an MCP client is notified of tools that a user turn adds, and lists them', () =>
  served(async (origin) => {
    const { id: _, ...body } = task
    const brought = task.groundTruth.at(-1)!.name
    const toolset = task.toolset.map((offer) => (offer.tool === brought ? { ...offer, from: 1 } : offer))
    const opened = await json(ask(`${origin}/episodes`, 'POST', { task: nameTask({ ...body, toolset }) }))
    assert.is(opened.tools.length, task.toolset.length - 1)
    const client = new Client({ name: 'test', version: '1.0.0' })
    let changes = 0
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
      changes++
    })
    const url = new URL(`${origin}/episodes/${opened.episode}/mcp`)
    await client.connect(new StreamableHTTPClientTransport(url), { timeout: PATIENCE_MS })
    assert.is(client.getServerCapabilities()?.tools?.listChanged, true)
    const listed = async () =>
      (await client.listTools(undefined, { timeout: PATIENCE_MS })).tools.map(({ name }) => name)
    assert.not.ok((await listed()).includes(brought))
    const call = { name: REPLY_TOOL.name, arguments: { text: 'I have no tool for that.' } }
    const { content } = await client.callTool(call, undefined, { timeout: PATIENCE_MS })
    assert.ok(textOf(content).includes(`"name":"${brought}"`))
    assert.is(changes, 1)
    assert.ok((await listed()).includes(brought))
    await client.close()
    const state = await json(ask(`${origin}/episodes/${opened.episode}`))
    assert.is(state.tools.length, task.toolset.length)
  }))

type CallTool = (name: string, args: Record<string, unknown>) => Promise<{ error: boolean; text: string }>

/** A client of the era that plays over the address: it is told the tools that are listed, and plays a task to its reward. */
async function played(names: readonly string[], call: CallTool): Promise<void> {
  for (const name of ['open', 'fork', 'close', REPLY_TOOL.name, ...task.toolset.map(({ tool }) => tool)])
    assert.ok(names.includes(name), name)
  const open = JSON.parse((await call('open', { index, split: 'train' })).text)
  assert.equal([open.task, open.messages.at(-1).content, open.over], [task.id, task.turns[0], false])
  assert.equal(
    open.tools.map(({ function: { name } }: { function: { name: string } }) => name),
    [...task.toolset.map(({ tool }) => tool), REPLY_TOOL.name],
  )
  let { session } = open
  const understood: string[] = []
  for (const [i, action] of actions.entries()) {
    if (i === 2) {
      const left = session
      session = JSON.parse((await call('fork', { session })).text).session
      await call('close', { session: left })
    }
    const made = callIn(action)
    const { text: answer } = made
      ? await call(made.name, { session, ...made.arguments })
      : await call(REPLY_TOOL.name, { session, text: 'Done.' })
    if (made) understood.push(answer)
  }
  assert.equal(understood, responses)
  const beyond = await call(REPLY_TOOL.name, { session, text: 'More?' })
  assert.equal([beyond.error, JSON.parse(beyond.text).error], [true, 'episode_over'])
  const closed = JSON.parse((await call('close', { session })).text)
  assert.equal([closed.total, closed.solved, closed.over], [earned, true, true])

  const gone = await call('close', { session })
  assert.equal([gone.error, JSON.parse(gone.text).error], [true, 'unknown_episode'])
  const half = actions.slice(0, 1)
  const again = JSON.parse((await call('open', { task: task.id, actions: half })).text)
  const there = await call('close', { session: again.session })
  const expected = await openEpisode(task, { runtime, reward: PAPER, actions: actions.slice(0, 1) })
  assert.is(JSON.parse(there.text).total, expected.score().total)
  for (const [args, code] of [
    [{ index: 1e6 }, 'unknown_task'],
    [{}, 'bad_request'],
    [{ index: 0, task: task.id }, 'bad_request'],
    [{ task: task.id, actions: [{ dance: true }] }, 'bad_request'],
  ] as const) {
    const refused = await call('open', args)
    assert.equal([refused.error, JSON.parse(refused.text).error], [true, code])
  }
  assert.is(JSON.parse((await call(REPLY_TOOL.name, { text: 'No session.' })).text).error, 'bad_request')
}

/** All pages of a list. */
async function pages(
  page: (cursor?: string) => Promise<{ tools: { name: string }[]; nextCursor?: string | undefined }>,
) {
  const names: string[] = []
  for (let cursor: string | undefined; ; ) {
    const { tools, nextCursor } = await page(cursor)
    names.push(...tools.map(({ name }) => name))
    if (nextCursor === undefined) return names
    cursor = nextCursor
  }
}

const textOf = (content: unknown): string => (content as [{ text: string }])[0].text

test('a client of MCP up to 2025-11-25 opens a task by a tool, plays it and gets its reward', () =>
  served(async (origin) => {
    const client = new Client({ name: 'test', version: '1.0.0' })
    await client.connect(new StreamableHTTPClientTransport(new URL(`${origin}/mcp`)), { timeout: PATIENCE_MS })
    const names = await pages((cursor) => client.listTools(cursor === undefined ? {} : { cursor }))
    await played(names, async (name, args) => {
      const { isError, content } = await client.callTool({ name, arguments: args }, undefined, { timeout: PATIENCE_MS })
      return { error: isError === true, text: textOf(content) }
    })
    await client.close()
  }))

test('a client of MCP 2026-07-28 does the same, here and at the address of an episode', () =>
  served(async (origin) => {
    const connected = async (path: string): Promise<NewClient> => {
      const client = new NewClient(
        { name: 'test', version: '1.0.0' },
        { versionNegotiation: { mode: { pin: '2026-07-28' } } },
      )
      await client.connect(new NewTransport(new URL(origin + path)), { timeout: PATIENCE_MS })
      return client
    }
    const client = await connected('/mcp')
    const names = await pages((cursor) => client.listTools(cursor === undefined ? {} : { cursor }))
    await played(names, async (name, args) => {
      const { isError, content } = await client.callTool({ name, arguments: args }, { timeout: PATIENCE_MS })
      return { error: isError === true, text: textOf(content) }
    })
    await client.close()

    const { episode } = await json(ask(`${origin}/episodes`, 'POST', { index }))
    const alone = await connected(`/episodes/${episode}/mcp`)
    assert.is((await alone.listTools()).tools.length, task.toolset.length + 1)
    let last: Awaited<ReturnType<NewClient['callTool']>> | undefined
    for (const action of actions) {
      const { name, arguments: args } = callIn(action) ?? { name: REPLY_TOOL.name, arguments: { text: 'Done.' } }
      last = await alone.callTool({ name, arguments: { ...args } })
    }
    assert.is((last!._meta!['prove/reward'] as { reward: number }).reward, earned)
    await alone.close()
  }))

test.run()
