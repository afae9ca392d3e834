import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as EarlierClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as EarlierTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createSeedStateCache, type HttpHost, offerEnvironments, serveHttp } from '../../../servers/kernel/index.js'
import { library } from '../../support/library-environment.js'

const test = suite('MCP 2026-07-28')

let host: HttpHost
let nowMs = 0
const seedStates = createSeedStateCache()
test.before(async () => {
  host = await serveHttp(offerEnvironments([library]), (environment, seed = 0) => seedStates.open(environment, seed), {
    port: 0,
    maxSessionsPerClient: 3,
    defaultSeed: 5,
    now: () => nowMs,
  })
})
test.after(() => host.close())

type Answer = Record<string, unknown>
type Call = (name: string, args: Answer) => Promise<Answer>

/** Connects the official client, which may speak nothing else, and closes what it opened. */
async function connected(use: (call: Call, client: Client) => Promise<void>): Promise<void> {
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } })
  await client.connect(new StreamableHTTPClientTransport(new URL(host.url)))
  const opened = new Set<unknown>()
  const call: Call = async (name, args) => {
    const { isError, content, structuredContent } = await client.callTool({ name, arguments: args })
    const [first] = content
    assert.is(first?.type, 'text')
    if (isError) return JSON.parse((first as { text: string }).text) as Answer
    const answer = structuredContent as Answer
    if (name === 'open' || name === 'fork') opened.add(answer.session)
    return answer
  }
  try {
    await use(call, client)
  } finally {
    for (const session of opened) await call('close', { session })
    await client.close()
  }
}

test('a client discovers what the world is, and that every tool of it takes a session', () =>
  connected(async (_, client) => {
    assert.match(
      client.getInstructions()!,
      /^Village library: Books and who has them\.\n\nIt is Monday, 2026-03-02T09:00:00Z/,
    )
    assert.match(client.getInstructions()!, /- already_lent: Somebody else has the book\.\n/)
    const { tools } = await client.listTools()
    assert.equal(
      tools.map(({ name }) => name),
      ['open', 'fork', 'diff', 'close', ...library.tools.map(({ name }) => name)],
    )
    for (const { name, inputSchema } of tools)
      if (name !== 'open') assert.ok(inputSchema.required!.includes('session'), name)
    assert.is(tools.find(({ name }) => name === 'lend_book')!.title, 'Lend book')
  }))

test('sessions are apart; a fork goes on from where it began, and diff shows the rows that differ', () =>
  connected(async (call) => {
    const { session, seed, environments: names } = await call('open', {})
    assert.equal([seed, names], [5, ['library']])
    const lent = await call('lend_book', { session, book: 'emma', reader: 'Ada' })
    const fork = (await call('fork', { session })).session
    assert.equal((await call('diff', { session: fork, from: session })).changes, [])
    await call('return_book', { session: fork, loan: lent.loan })
    assert.equal((await call('diff', { session: fork })).changes, [])
    const { changes } = (await call('diff', { session })) as { changes: { table: string; key: string }[] }
    assert.equal(
      changes.map(({ table, key }) => [table, key]),
      [
        ['books', 'emma'],
        ['loans', lent.loan],
      ],
    )
    const [back] = (await call('diff', { session: fork, from: session })).changes as Answer[]
    assert.equal([(back!.before as Answer).loans, (back!.after as Answer).loans], [1, 0])
    assert.is((await call('lend_book', { session, book: 'emma', reader: 'Bo' })).error, 'already_lent')
  }))

test('a session is its seed and its calls: opened with them anywhere, it answers the same', () =>
  connected(async (call) => {
    const calls = [{ name: 'lend_book', arguments: { book: 'emma', reader: 'Ada' } }]
    const [first, again] = [(await call('open', { seed: 9 })).session, (await call('open', { seed: 9, calls })).session]
    await call('lend_book', { session: first, ...calls[0]!.arguments })
    assert.equal((await call('diff', { session: first, from: again })).changes, [])
    assert.is((await call('open', { calls: [{ name: 'sing' }] })).error, 'unknown_tool')
  }))

test('a session that is not named, not there, of another seed or one too many is a tool error', () =>
  connected(async (call) => {
    assert.is((await call('list_books', {})).error, 'unknown_session')
    assert.match((await call('list_books', { session: 'mine' })).message as string, /"mine".* Call open first/)
    assert.is((await call('open', { seed: -1 })).error, 'invalid_arguments')
    assert.is((await call('fork', {})).error, 'invalid_arguments')
    const { session } = await call('open', { seed: 1 })
    const other = (await call('open', { seed: 2 })).session
    assert.is((await call('diff', { session, from: other })).error, 'other_seed')
    await call('fork', { session })
    assert.is((await call('fork', { session })).error, 'too_many_sessions')
    nowMs += 60_000
    await call('list_books', { session })
    await call('open', {})
    assert.is((await call('list_books', { session: other })).error, 'session_evicted')
    nowMs += 30 * 60_000
    host.closeIdle()
    assert.is((await call('list_books', { session })).error, 'unknown_session')
  }))

test('a client of earlier MCP has its session at the same address', async () => {
  const client = new EarlierClient({ name: 'test', version: '1.0.0' })
  await client.connect(new EarlierTransport(new URL(host.url)))
  try {
    const { tools } = await client.listTools()
    assert.is(tools.length, library.tools.length)
    const { isError } = await client.callTool({ name: 'lend_book', arguments: { book: 'emma', reader: 'Ada' } })
    assert.is(isError ?? false, false)
  } finally {
    await client.close()
  }
})

test.run()
