import { getEventListeners } from 'node:events'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  connectInProcess,
  createConnectionPool,
  EnvironmentDefect,
  generateSeedState,
  type McpConnection,
  Session,
} from '../../../servers/kernel/index.js'
import { library } from '../../support/library-environment.js'

const seedState = generateSeedState(library, 1)
// All files of a suite are loaded before the first test runs, so a timeout that starts here might be over by then.
const { signal } = new AbortController()

async function connected(use: (connection: McpConnection, session: Session) => Promise<void>): Promise<void> {
  const session = Session.open(seedState)
  const connection = await connectInProcess(session)
  try {
    await use(connection, session)
  } finally {
    await connection.close()
  }
}

test('a call over MCP answers with the very JSON of the session', () =>
  connected(async (connection, session) => {
    const expected = session.fork().call('lend_book', { book: 'emma', reader: 'Ada' })
    const { ok, text } = await connection.callTool('lend_book', { book: 'emma', reader: 'Ada' }, signal)
    assert.is(ok, true)
    assert.is(text, JSON.stringify(expected.ok && expected.output))
    assert.is(session.db.loans!.count(), 1)
  }))

test('a domain failure, an unknown tool and bad arguments are tool errors with a code', () =>
  connected(async (connection, session) => {
    const hash = session.stateHash()
    for (const [name, args, code] of [
      ['lend_book', { book: 'ulysses', reader: 'Ada' }, 'unknown_book'],
      ['fly', {}, 'unknown_tool'],
      ['constructor', {}, 'unknown_tool'],
      ['lend_book', { book: 'emma' }, 'invalid_arguments'],
      ['lend_book', { book: 'emma', reader: 'Ada', hurry: true }, 'invalid_arguments'],
    ] as const) {
      const { ok, text } = await connection.callTool(name, args, signal)
      assert.is(ok, false, `${name} should fail`)
      const { error, message, ...rest } = JSON.parse(text) as Record<string, unknown>
      assert.is(error, code)
      assert.ok(typeof message === 'string' && message.length > 0)
      assert.equal(rest, {})
    }
    assert.is(session.stateHash(), hash)
  }))

test('a defect of the world is no tool error, and the connection lives on', () =>
  connected(async (connection) => {
    const failed = await connection.callTool('burn_down', { how: 'throwing' }, signal).then(
      () => undefined,
      (error: Error) => error,
    )
    assert.instance(failed, EnvironmentDefect)
    assert.match(failed!.message, /no water/)
    assert.is((await connection.callTool('list_books', {}, signal)).ok, true)
  }))

test('two connections in one process do not see each other', () =>
  connected((ada) =>
    connected(async (bo) => {
      const lend = { book: 'emma', reader: 'whoever' }
      const [first, second] = await Promise.all([
        ada.callTool('lend_book', lend, signal),
        bo.callTool('lend_book', lend, signal),
      ])
      assert.is(first.ok, true)
      assert.is(second.ok, true)
      assert.is(first.text, second.text)
      assert.is((await ada.callTool('lend_book', lend, signal)).ok, false)
    }),
  ))

test('calls leave no listeners behind on the signal they share', () =>
  connected(async (connection) => {
    const { signal: shared } = new AbortController()
    for (let call = 0; call < 3; call++) await connection.callTool('list_books', {}, shared)
    assert.is(getEventListeners(shared, 'abort').length, 0)
  }))

test('an aborted call rejects, and a closed connection refuses further calls', async () => {
  const connection = await connectInProcess(Session.open(seedState))
  const rejects = async (call: Promise<unknown>): Promise<boolean> =>
    call.then(
      () => false,
      () => true,
    )
  assert.ok(await rejects(connection.callTool('list_books', {}, AbortSignal.abort(new Error('enough')))))
  const late = new AbortController()
  const running = connection.callTool('list_books', {}, late.signal)
  late.abort(new Error('enough'))
  assert.ok(await rejects(running))
  await connection.close()
  await connection.close()
  assert.ok(await rejects(connection.callTool('list_books', {}, signal)))
})

test('a connection that is used again plays in the new session alone, and its former user is shut out', async () => {
  const pool = createConnectionPool()
  const [first, second] = [Session.open(seedState), Session.open(seedState)]
  const earlier = await pool.connect(first)
  assert.ok((await earlier.callTool('lend_book', { book: 'emma', reader: 'Ada' }, signal)).ok)
  await earlier.close()
  await earlier.close()
  const later = await pool.connect(second)
  const other = await pool.connect(Session.open(seedState))
  assert.ok(
    (await later.callTool('lend_book', { book: 'emma', reader: 'Ada' }, signal)).ok,
    'emma is on the shelf again',
  )
  assert.ok((await other.callTool('lend_book', { book: 'emma', reader: 'Ada' }, signal)).ok, 'and again')
  await earlier.callTool('list_books', {}, signal).then(
    () => assert.unreachable(),
    (error: Error) => assert.match(error.message, /closed/),
  )
  assert.equal([first.db.loans!.count(), second.db.loans!.count()], [1, 1])
})

test('a call that was given up does not answer the next user of its connection', async () => {
  const pool = createConnectionPool()
  const abandoned = await pool.connect(Session.open(seedState))
  const late = new AbortController()
  const running = abandoned.callTool('lend_book', { book: 'emma', reader: 'Ada' }, late.signal).catch(() => 'given up')
  late.abort(new Error('enough'))
  await abandoned.close()
  assert.is(await running, 'given up')
  const session = Session.open(seedState)
  const next = await pool.connect(session)
  assert.is((await next.callTool('lend_book', { book: 'emma', reader: 'Ada' }, signal)).ok, true)
  assert.is(session.db.loans!.count(), 1)
})

test.run()
