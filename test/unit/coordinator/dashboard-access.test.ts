import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createAccess, readToken } from '../../../coordinator/dashboard/access.js'
import { DASHBOARD_LIMITS } from '../../../coordinator/dashboard/limits.js'
import { configSchema } from '../../../coordinator/settings/config.js'

const test = suite('who may see the dashboard')
const TOKEN = 'a-token-that-nobody-guesses'
const nobody = { token: 'none', session: undefined } as const
const HERE = '203.0.113.7'
let nowMs = 0
const now = () => nowMs

test('without a token everybody on this machine is the operator, and the public where the view is public', () => {
  const settings = { token: null, hosts: [], now }
  assert.is(createAccess({ ...settings, public: false }).visitor(nobody), 'operator')
  assert.is(createAccess({ ...settings, public: true }).visitor(nobody), 'public')
})

test('with a token, only a visitor who gives it is the operator, by header or by a session until logout', () => {
  for (const isPublic of [false, true]) {
    const access = createAccess({ token: TOKEN, public: isPublic, hosts: [], now })
    const others = isPublic ? 'public' : 'stranger'
    assert.is(access.visitor(nobody), others)
    const shown = (authorization: string) => access.visitor({ ...nobody, token: access.bearer(authorization, HERE) })
    assert.is(shown(`Bearer ${TOKEN}`), 'operator')
    for (const wrong of [`Bearer ${TOKEN}x`, `Bearer ${TOKEN.slice(1)}`, 'Bearer ', TOKEN, `Basic ${TOKEN}`])
      assert.is(shown(wrong), others, wrong)
    assert.is(access.logIn(`${TOKEN} `, HERE), 'wrong')
    const entered = access.logIn(TOKEN, HERE)
    const { session } = entered as { session: string }
    assert.type(session, 'string')
    assert.is(access.visitor({ ...nobody, session }), 'operator')
    assert.is(access.visitor({ ...nobody, session: TOKEN }), others, 'the token is no session')
    access.logOut(session)
    assert.is(access.visitor({ ...nobody, session }), others)
  }
})

test('without a token nobody can log in', () => {
  assert.is(createAccess({ token: null, public: true, hosts: [], now }).logIn('', HERE), 'wrong')
})

test('an address that guesses is not listened to for a while, whatever token it gives; others and sessions are', () => {
  const access = createAccess({ token: TOKEN, public: false, hosts: [], now })
  const { session } = access.logIn(TOKEN, HERE) as { session: string }
  const guess = () => access.bearer('Bearer another-token-altogether', HERE)
  for (let i = 1; i < DASHBOARD_LIMITS.wrongTokens; i++) assert.is(guess(), 'wrong', `guess ${i}`)
  assert.is(access.bearer(`Bearer ${TOKEN}`, HERE), 'right', 'one more may be wrong')
  assert.is(access.logIn('another-token-altogether', HERE), 'wrong', 'the form and the header are counted together')
  assert.is(guess(), 'later')
  assert.is(access.bearer(`Bearer ${TOKEN}`, HERE), 'later', 'the right one is not told by its answer')
  assert.is(access.logIn(TOKEN, HERE), 'later')
  assert.is(access.visitor({ token: 'later', session }), 'operator')
  assert.is(access.visitor({ token: 'later', session: undefined }), 'stranger')
  assert.is(access.bearer(undefined, HERE), 'none')
  assert.is(access.bearer(`Bearer ${TOKEN}`, '198.51.100.9'), 'right')
  nowMs += DASHBOARD_LIMITS.wrongTokensMs - 1
  assert.is(guess(), 'later')
  nowMs += 1
  assert.is(access.bearer(`Bearer ${TOKEN}`, HERE), 'right')
  assert.is(guess(), 'wrong')
})

test('a name that was made to lead here, and a page from elsewhere, are turned away', () => {
  const { refusal } = createAccess({ token: null, public: false, hosts: ['run.example.org'], now })
  for (const host of ['127.0.0.1:4080', 'localhost:4080', '[::1]:4080', '203.0.113.5', 'run.example.org'])
    assert.is(refusal({ host, origin: undefined }), null, host)
  for (const host of [
    undefined,
    '',
    'evil.example',
    'evil.example:4080',
    'localhost.evil.example',
    'x:y:z',
    '127.0.0.1.evil.example',
  ])
    assert.is(refusal({ host, origin: undefined }), 'host_not_allowed', host)
  const host = 'run.example.org'
  for (const origin of [`http://${host}`, `https://${host}`]) assert.is(refusal({ host, origin }), null)
  for (const origin of ['null', 'http://evil.example', `http://${host}.evil.example`, `http://${host}:81`])
    assert.is(refusal({ host, origin }), 'origin_not_allowed', origin)
})

test('a token is one long word, whatever ends the line', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'prove-token-'))
  const file = join(folder, 'token')
  try {
    await writeFile(file, `${TOKEN}\n`)
    assert.is(await readToken(file), TOKEN)
    for (const bad of ['', 'short', 'two words that are long']) {
      await writeFile(file, bad)
      await readToken(file).then(assert.unreachable, ({ code }) => assert.is(code, 'bad_token'))
    }
    await readToken(join(folder, 'nothing')).then(assert.unreachable, ({ code }) => assert.is(code, 'bad_token'))
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('an address that others reach needs a token or the word public', () => {
  const parse = (dashboard: object) =>
    configSchema.safeParse({ dataDir: 'd', base: { path: 'b', name: 'b' }, tasks: { dataset: 't' }, dashboard }).success
  for (const listen of ['127.0.0.1:4080', 'localhost:0', '[::1]:80', '127.8.8.8:1'])
    assert.ok(parse({ listen }), listen)
  for (const listen of ['0.0.0.0:4080', '[::]:4080', 'run.example.org:80', '203.0.113.5:80']) {
    assert.not.ok(parse({ listen }), listen)
    for (const how of [{ tokenFile: 'token' }, { public: true }, { enabled: false }])
      assert.ok(parse({ listen, ...how }), listen)
  }
  for (const listen of ['4080', '127.0.0.1', '127.0.0.1:70000', 'http://127.0.0.1:80', ':80', '127.0.0.1:80/x'])
    assert.not.ok(parse({ listen, public: true }), listen)
})

test.run()
