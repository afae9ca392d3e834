import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { generateSeedState, Session, serveHttp } from '../../../servers/kernel/index.js'
import { clientLines } from '../../../servers/kernel/mcp/client-lines.js'
import { readClientMessage } from '../../../servers/kernel/mcp/client-messages.js'
import { HOST_LIMITS } from '../../../servers/kernel/mcp/limits.js'
import { answerMcpRequest } from '../../../servers/kernel/mcp/one-request.js'
import { offerEnvironments } from '../../../servers/kernel/mcp/server.js'
import { library } from '../../support/library-environment.js'

const CALL = { jsonrpc: '2.0', id: 1, method: 'tools/call' }
const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
const INITIALIZE = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
}

/** Messages of clients that write null for what is absent, and wrong ones with the code of their error. */
const ABSENT: readonly object[] = [
  { ...LIST, params: null },
  { ...LIST, params: { cursor: null } },
  { ...LIST, params: { cursor: null, _meta: null } },
  { ...CALL, params: { name: 'list_books', arguments: null } },
]
const WRONG: readonly (readonly [unknown, number])[] = [
  [{ ...CALL, params: { name: 5 } }, -32602],
  [{ ...CALL, params: { arguments: {} } }, -32602],
  [{ ...CALL, params: null }, -32602],
  [{ ...CALL, params: { name: 'list_books', arguments: [1] } }, -32602],
  [{ ...CALL, params: [] }, -32602],
  [{ ...LIST, params: { cursor: 5 } }, -32602],
  [{ ...LIST, params: 'all' }, -32602],
  [{ ...INITIALIZE, params: {} }, -32602],
  [{ ...LIST, method: 5 }, -32600],
  [{ id: 1, method: 'tools/list' }, -32600],
  [7, -32600],
]

test('null is absent, and what is wrong has the code that JSON-RPC has for it, without a validator’s output', () => {
  for (const message of ABSENT) {
    const read = readClientMessage(message)
    assert.ok('message' in read && !JSON.stringify(read.message).includes('null'), JSON.stringify(message))
  }
  for (const [message, code] of WRONG) {
    const read = readClientMessage(message)
    assert.ok('error' in read, JSON.stringify(message))
    assert.is(read.error.error.code, code, JSON.stringify(message))
    assert.ok(read.error.error.message.length < 120 && !read.error.error.message.includes('\n'))
  }
  const kept = { ...CALL, params: { name: 'x', arguments: { note: null } } }
  assert.equal(readClientMessage(kept), { message: kept }, 'null inside the arguments is the policy’s')
})

const seedState = generateSeedState(library, 1)

test('over HTTP, a client names only what it reads, and gets an answer to every request', async () => {
  const served = await serveHttp(offerEnvironments([library]), () => Session.open(seedState), { port: 0 })
  let session: string | null = null
  const post = async (body: unknown, accept: string | null = 'application/json', mark = '') => {
    const headers = new Headers({ 'content-type': 'application/json' })
    if (accept !== null) headers.set('accept', accept)
    if (session !== null) headers.set('mcp-session-id', session)
    const response = await fetch(served.url, { method: 'POST', headers, body: mark + JSON.stringify(body) })
    session ??= response.headers.get('mcp-session-id')
    const answer = (await response.json()) as { id: unknown; result?: object; error?: { code: number } }
    return { status: response.status, ...answer }
  }
  try {
    assert.ok((await post(INITIALIZE)).result)
    for (const accept of ['application/json', 'application/*;q=0.9', '*/*', 'application/json, text/event-stream'])
      assert.is((await post(LIST, accept)).status, 200, accept)
    assert.is((await post(LIST, 'text/event-stream')).status, 406)
    assert.is((await post(LIST, 'application/json', '\uFEFF')).status, 200)
    for (const message of ABSENT) assert.ok((await post(message)).result, JSON.stringify(message))
    for (const [message, code] of WRONG) {
      const { status, error, id } = await post(message)
      assert.equal([status, error?.code], [400, code], JSON.stringify(message))
      if (typeof message === 'object' && message !== null) assert.is(id, (message as { id: number }).id)
    }
    const long = await post({ ...LIST, more: 'x'.repeat(HOST_LIMITS.maxRequestBytes) })
    assert.is(long.status, 413)
  } finally {
    await served.close()
  }
})

test('one request without a session is read in the same way, also where calls may bring tools', async () => {
  const tools = [
    { name: 'add', description: '', inputSchema: { type: 'object' as const, properties: {} }, readOnly: true },
  ]
  const ask = async (mayChange: boolean, accept: string, message: object): Promise<string> => {
    const headers = { 'content-type': 'application/json', accept }
    const request = new Request('http://localhost/mcp', { method: 'POST', headers, body: JSON.stringify(message) })
    const response = await answerMcpRequest(request, {
      ...{ name: 'task', instructions: '', tools, mayChange },
      call: async () => ({ ok: true, text: 'done', toolsChanged: true }),
    })
    assert.is(response.status, 200)
    return response.headers.get('content-type')!
  }
  for (const mayChange of [false, true]) {
    const call = { ...CALL, params: { name: 'add', arguments: null } }
    assert.match(await ask(mayChange, 'application/json', call), 'application/json')
    assert.match(
      await ask(mayChange, '*/*', { ...LIST, params: null }),
      mayChange ? 'text/event-stream' : 'application/json',
    )
  }
})

async function linesFrom(chunks: readonly (string | Buffer)[]): Promise<{ lines: string[]; codes: number[] }> {
  const codes: number[] = []
  const input = (async function* () {
    for (const chunk of chunks) yield Buffer.from(chunk)
  })()
  let text = ''
  for await (const chunk of clientLines(input, ({ error }) => void codes.push(error.code))) text += String(chunk)
  return { lines: text.split('\n').slice(0, -1), codes }
}

test('on stdin, a byte order mark is skipped and every line gets a message or an error', async () => {
  const line = JSON.stringify(LIST)
  assert.equal(await linesFrom([`\uFEFF${line}\n`]), { lines: [line], codes: [] })
  assert.equal(await linesFrom([line.slice(0, 9), `${line.slice(9)}\r\n\n`, line]), { lines: [line, line], codes: [] })
  assert.equal(await linesFrom([`{"jsonrpc"\n${JSON.stringify({ ...LIST, params: null })}\n`]), {
    lines: [line],
    codes: [-32700],
  })
  const long = Buffer.alloc(HOST_LIMITS.maxLineBytes + 1, 'x')
  assert.equal(await linesFrom([long, long, `\n${line}\n`]), { lines: [line], codes: [-32600] })
  for (const [message, code] of WRONG)
    assert.equal(await linesFrom([`${JSON.stringify(message)}\n${line}\n`]), { lines: [line], codes: [code] })
})

test.run()
