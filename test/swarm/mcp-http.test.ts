import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import {
  createSeedStateCache,
  generateSeedState,
  HOST_LIMITS,
  type HttpHost,
  type HttpHostOptions,
  offerEnvironments,
  Session,
  STATE_HASH,
  serveHttp,
} from '../../servers/kernel/index.js'
import { library } from '../support/library-environment.js'
import { PATIENCE_MS, patience } from '../support/patience.js'

const test = suite('worlds over streamable HTTP')
const seedStates = createSeedStateCache()
const SEED = 3

async function hosted(use: (host: HttpHost) => Promise<void>, options: Partial<HttpHostOptions> = {}): Promise<void> {
  const open = (environment: typeof library, seed = SEED) => seedStates.open(environment, seed)
  const host = await serveHttp(offerEnvironments([library]), open, { port: 0, ...options })
  try {
    await use(host)
  } finally {
    await host.close()
  }
}

async function connect(url: string): Promise<{ client: Client; transport: StreamableHTTPClientTransport }> {
  const transport = new StreamableHTTPClientTransport(new URL(url))
  const client = new Client({ name: 'test', version: '1.0.0' })
  await client.connect(transport, { timeout: PATIENCE_MS })
  return { client, transport }
}

const call = async (client: Client, name: string, args: Record<string, unknown>, hash = false) =>
  (await client.callTool({ name, arguments: args, ...(hash ? { _meta: { [STATE_HASH]: true } } : {}) }, undefined, {
    timeout: PATIENCE_MS,
  })) as CallToolResult

const textOf = ({ content }: CallToolResult): string => (content[0]?.type === 'text' ? content[0].text : '')

const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
}
const post = (url: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(url, {
    method: 'POST',
    headers: { ...HEADERS, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    signal: patience(),
  })
const begin = async (url: string): Promise<string> => {
  const response = await post(url, INITIALIZE)
  assert.is(response.status, 200, await response.text())
  return response.headers.get('mcp-session-id')!
}
const codeOf = async (response: Response): Promise<string> =>
  ((await response.json()) as { error: { data: { code: string } } }).error.data.code
const ping = (url: string, id: string) => post(url, { jsonrpc: '2.0', id: 2, method: 'ping' }, { 'mcp-session-id': id })

test('a call answers with the very JSON of a session in process, and with the state hash when asked', () =>
  hosted(async ({ url }) => {
    const { client } = await connect(url)
    const twin = seedStates.open(library, SEED)
    const lend = { book: 'emma', reader: 'Ada' }
    const expected = twin.call('lend_book', lend)
    const result = await call(client, 'lend_book', lend, true)
    assert.is(textOf(result), JSON.stringify(expected.ok && expected.output))
    assert.equal(result._meta, { [STATE_HASH]: twin.stateHash() })
    assert.is((await call(client, 'list_books', {}))._meta, undefined)
    await client.close()
  }))

test('every client has its own session with the requested seed', () =>
  hosted(async ({ url }) => {
    const [ada, bo, cleo] = await Promise.all([connect(url), connect(url), connect(`${url}?seed=9`)])
    const lend = { book: 'emma', reader: 'Ada' }
    const first = await call(ada.client, 'lend_book', lend, true)
    assert.is((await call(ada.client, 'lend_book', lend)).isError, true)
    assert.equal(await call(bo.client, 'lend_book', lend, true), first)
    const other = Session.open(generateSeedState(library, 9))
    other.call('lend_book', lend)
    assert.equal((await call(cleo.client, 'lend_book', lend, true))._meta, { [STATE_HASH]: other.stateHash() })
    assert.is.not(other.stateHash(), first._meta![STATE_HASH])
    await Promise.all([ada, bo, cleo].map(({ client }) => client.close()))
  }))

test('a failed call is a tool error, a defect of the environment is a protocol error, and the session survives both', () =>
  hosted(async ({ url }) => {
    const { client } = await connect(url)
    for (const [name, args, code] of [
      ['lend_book', { book: 'ulysses', reader: 'Ada' }, 'unknown_book'],
      ['lend_book', { book: 7 }, 'invalid_arguments'],
      ['fly', {}, 'unknown_tool'],
    ] as const) {
      const result = await call(client, name, args)
      assert.is(result.isError, true)
      assert.is((JSON.parse(textOf(result)) as { error: string }).error, code)
    }
    const failed = await call(client, 'burn_down', { how: 'throwing' }).catch((error: Error) => error)
    assert.instance(failed, Error)
    assert.is((await call(client, 'list_books', {})).isError ?? false, false)
    await client.close()
  }))

test('DELETE ends a session, and its id is then unknown', () =>
  hosted(async (host) => {
    const { client, transport } = await connect(host.url)
    const id = transport.sessionId!
    assert.is(host.sessionCount, 1)
    await transport.terminateSession()
    assert.is(host.sessionCount, 0)
    assert.is((await ping(host.url, id)).status, 404)
    await client.close()
  }))

test('an idle session is closed, a used one is not, and an open stream does not count as use', async () => {
  let now = 0
  await hosted(
    async (host) => {
      const idle = await begin(host.url)
      const used = await begin(host.url)
      const stream = await fetch(host.url, {
        headers: { accept: 'text/event-stream', 'mcp-session-id': idle },
        signal: patience(),
      })
      assert.is(stream.status, 200)
      now = 600
      assert.is((await ping(host.url, used)).status, 200)
      now = 1000
      assert.is(host.closeIdle(), 1)
      assert.is((await ping(host.url, idle)).status, 404)
      assert.is((await ping(host.url, used)).status, 200)
      assert.is(await stream.text(), '')
    },
    { idleMs: 1000, now: () => now },
  )
})

test('a session above the limit is rejected until another one ends or is idle', async () => {
  let now = 0
  await hosted(
    async (host) => {
      const first = await begin(host.url)
      await begin(host.url)
      const refused = await post(host.url, INITIALIZE)
      assert.is(refused.status, 503)
      assert.is(await codeOf(refused), 'too_many_sessions')
      assert.is(refused.headers.get('retry-after'), '5')
      await fetch(host.url, { method: 'DELETE', headers: { 'mcp-session-id': first } })
      await begin(host.url)
      assert.is((await post(host.url, INITIALIZE)).status, 503)
      now = 5000
      await begin(host.url)
      assert.is(host.sessionCount, 1)
    },
    { maxSessions: 2, idleMs: 5000, now: () => now },
  )
})

test('concurrent requests cannot open more sessions than the limit', () =>
  hosted(
    async (host) => {
      const statuses = await Promise.all(
        Array.from({ length: 12 }, async () => (await post(host.url, INITIALIZE)).status),
      )
      assert.is(statuses.filter((status) => status === 200).length, 3)
      assert.is(statuses.filter((status) => status === 503).length, 9)
      assert.is(host.sessionCount, 3)
    },
    { maxSessions: 3 },
  ))

test('requests with another host name or origin are rejected', () =>
  hosted(
    async ({ url }) => {
      const { port } = new URL(url)
      for (const [headers, status] of [
        [{ host: 'evil.example' }, 403],
        [{ host: `evil.example:${port}` }, 403],
        [{ host: 'not a host' }, 400],
        [{ origin: 'http://evil.example' }, 403],
        [{ origin: 'null' }, 403],
        [{ origin: 'http://localhost:5173' }, 403],
        [{ origin: `http://127.0.0.1:${port}` }, 200],
        [{ origin: 'https://page.example' }, 200],
        [{ origin: 'http://page.example' }, 403],
        [{ origin: 'https://page.example.evil.example' }, 403],
        [{ host: `localhost:${port}` }, 200],
        [{ host: 'worlds.example' }, 200],
      ] as const) {
        assert.is(await rawStatus(Number(port), headers), status, JSON.stringify(headers))
      }
    },
    { allowedHosts: ['worlds.example'], allowedOrigins: ['https://page.example'] },
  ))

test('a page of an allowed origin can read the response and the session id, and a page of another origin cannot', () =>
  hosted(
    async ({ url }) => {
      const ask = (origin: string) => {
        const headers = { origin, 'access-control-request-method': 'POST' }
        return fetch(url, { method: 'OPTIONS', headers, signal: patience() })
      }
      const welcome = await ask('https://page.example')
      assert.is(welcome.status, 204)
      assert.is(welcome.headers.get('access-control-allow-origin'), 'https://page.example')
      assert.match(welcome.headers.get('access-control-allow-headers')!, /mcp-session-id/)
      const answer = await post(url, INITIALIZE, { origin: 'https://page.example' })
      assert.is(answer.headers.get('access-control-expose-headers'), 'mcp-session-id')
      const refused = await ask('http://localhost:5173')
      assert.is(refused.status, 403)
      assert.is(refused.headers.get('access-control-allow-origin'), null)
      assert.is(await codeOf(refused), 'origin_not_allowed')
    },
    { allowedOrigins: ['https://page.example'] },
  ))

test('a client at its limit evicts its own idle sessions, and a later request is told so', async () => {
  let now = 0
  await hosted(
    async (host) => {
      const { client, transport } = await connect(host.url)
      const greedy = [await begin(host.url), await begin(host.url)]
      assert.is(await codeOf(await post(host.url, INITIALIZE)), 'too_many_sessions', 'nobody has rested yet')
      now = HOST_LIMITS.restMs - 1
      await client.ping({ timeout: PATIENCE_MS })
      now = HOST_LIMITS.restMs
      greedy.push(await begin(host.url), await begin(host.url))
      assert.is(host.sessionCount, 3)
      for (const [i, status] of [404, 404, 200, 200].entries()) {
        const answer = await ping(host.url, greedy[i]!)
        assert.is(answer.status, status, `session ${i}`)
        if (status === 404) assert.is(await codeOf(answer), 'session_evicted')
      }
      assert.is((await call(client, 'list_books', {})).isError ?? false, false, 'the one in use was spared')
      // Its turn comes when it rests: the client hears why, and begins anew.
      now = 3 * HOST_LIMITS.restMs
      for (const id of greedy.slice(2)) await ping(host.url, id)
      greedy.push(await begin(host.url))
      const why = await call(client, 'list_books', {}).catch((error: Error) => error)
      assert.match((why as Error).message, /session_evicted/)
      await transport.close()
      now = 5 * HOST_LIMITS.restMs
      const { client: again } = await connect(host.url)
      assert.is((await call(again, 'list_books', {})).isError ?? false, false)
      await again.close()
    },
    { maxSessionsPerClient: 3, now: () => now },
  )
})

test('bad requests get a JSON-RPC error and leave the host running', () =>
  hosted(async (host) => {
    const { url } = host
    const elsewhere = url.replace('/mcp', '/else')
    const large = JSON.stringify({ ...INITIALIZE, padding: 'x'.repeat(HOST_LIMITS.maxRequestBytes) })
    for (const [what, send, status] of [
      ['no initialize', () => post(url, { jsonrpc: '2.0', id: 1, method: 'tools/list' }), 400],
      ['not JSON', () => post(url, '{"jsonrpc":'), 400],
      ['not JSON-RPC', () => post(url, '[1, 2]'), 400],
      ['too large', () => post(url, large), 413],
      ['wrong type', () => post(url, INITIALIZE, { 'content-type': 'text/plain' }), 415],
      ['no session', () => post(url, INITIALIZE, { 'mcp-session-id': 'nobody' }), 404],
      ['other method', () => fetch(url, { method: 'PUT' }), 405],
      ['other path', () => post(elsewhere, INITIALIZE), 404],
      ['wrong seed', () => post(`${url}?seed=-1`, INITIALIZE), 400],
      ['huge seed', () => post(`${url}?seed=4294967296`, INITIALIZE), 400],
    ] as const) {
      const got = await send()
      assert.is(got.status, status, what)
      assert.is(typeof ((await got.json()) as { error: { message: string } }).error.message, 'string', what)
    }
    assert.is(host.sessionCount, 0)
    await begin(url)
  }))

test('an unknown cursor is rejected', () =>
  hosted(async ({ url }) => {
    const { client } = await connect(url)
    for (const cursor of ['-1', '5000', 'next', '1e3'])
      assert.instance(await client.listTools({ cursor }).catch((error: Error) => error), Error, cursor)
    await client.close()
  }))

test('closing the host ends its sessions and frees the port', async () => {
  let closed = ''
  await hosted(async ({ url }) => {
    closed = url
    await begin(url)
  })
  assert.instance(await post(closed, INITIALIZE).catch((error: Error) => error), Error)
  await hosted(async ({ url }) => void (await begin(url)), { port: Number(new URL(closed).port) })
})

/** `fetch` does not let a caller set the Host header. */
async function rawStatus(port: number, headers: Record<string, string>): Promise<number> {
  const { request } = await import('node:http')
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        host: '127.0.0.1',
        port,
        path: '/mcp',
        method: 'POST',
        headers: { ...HEADERS, ...headers },
        timeout: PATIENCE_MS,
      },
      (response) => {
        response.resume()
        resolve(response.statusCode!)
      },
    )
    sent.on('error', reject)
    sent.end(JSON.stringify(INITIALIZE))
  })
}

test.run()
