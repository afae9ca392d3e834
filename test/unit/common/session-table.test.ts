import '../../../swarm/polyfill.js'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { createSessionTable } from '../../../common/http/session-table.js'

function table(maxSessions: number, maxPerClient: number) {
  const clock = { now: 0 }
  const ended: string[] = []
  const sessions = createSessionTable<string>(
    { maxSessions, maxPerClient, idleMs: 1000, restMs: 100, now: () => clock.now },
    async (session) => void ended.push(session),
  )
  /** @returns  whether a session could be opened */
  const open = (id: string, client: string): boolean => {
    const release = sessions.reserve(client)
    if (!release) return false
    sessions.add(id, client, id)
    release()
    return true
  }
  return { clock, ended, sessions, open, use: (id: string) => sessions.use(id, true, async () => undefined) }
}

test('one client gets at most its share, and another client still gets a session', () => {
  const { open } = table(4, 2)
  assert.equal(
    ['a', 'b', 'c'].map((id) => open(id, 'greedy')),
    [true, true, false],
  )
  assert.ok(open('d', 'other'))
})

test('a session that is being opened counts as open', () => {
  const { sessions } = table(4, 2)
  const releases = [sessions.reserve('x'), sessions.reserve('x')]
  assert.is(sessions.reserve('x'), null)
  releases[0]!()
  assert.ok(sessions.reserve('x'))
})

test('a full table evicts the least recently used session of the client with the most sessions', () => {
  const { clock, open, use, ended, sessions } = table(4, 3)
  for (const id of ['a', 'b', 'c']) open(id, 'greedy')
  open('d', 'modest')
  clock.now = 99
  assert.not(open('e', 'third'), 'nobody has rested for long enough')
  clock.now = 100
  void use('a')
  assert.ok(open('e', 'third'))
  assert.equal(ended, ['b'])
  assert.ok(sessions.wasEvicted('b'))
  assert.not(sessions.wasEvicted('d'))
})

test('a session with a running request is never evicted', async () => {
  const { clock, open, sessions, ended } = table(1, 1)
  open('a', 'x')
  const answer = Promise.withResolvers<void>()
  const busy = sessions.use('a', true, () => answer.promise)
  clock.now = 500
  assert.not(open('b', 'x'))
  answer.resolve()
  await busy
  assert.ok(open('b', 'x'))
  assert.equal(ended, ['a'])
})

test.run()
