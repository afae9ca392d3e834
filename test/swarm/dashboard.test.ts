import { createHash } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { orderRemotely, remoteRun } from '../../coordinator/commands/remote-order.js'
import { createAccess } from '../../coordinator/dashboard/access.js'
import { dashboardApp } from '../../coordinator/dashboard/app.js'
import { DASHBOARD_LIMITS } from '../../coordinator/dashboard/limits.js'
import type { DashboardParts } from '../../coordinator/dashboard/routes.js'
import type { RunEvent } from '../../coordinator/ledger/events.js'
import { takeByToken } from '../../coordinator/service/control-routes.js'
import { createOrderService, type OrderAsk, type OrderService } from '../../coordinator/service/order-service.js'
import { systemClock } from '../../swarm/index.js'
import { BODY, KEYS, READABLE, runOf, SECRET, type ShownRun, showRun, TASKS } from '../support/dashboard-runs.js'
import { library } from '../support/library-environment.js'
import { patience } from '../support/patience.js'
import { done, hex } from '../support/run-events.js'

const TOKEN = 'a-token-that-nobody-guesses'
/** Than anything in the runs: what is newest stands first. */
const LATER_MS = 1e9
const opened: (() => Promise<unknown>)[] = []
const test = suite('the dashboard over HTTP')
test.after.each(async () => {
  for (const close of opened.splice(0).reverse()) await close()
})

async function shown(
  events: readonly RunEvent[],
  settings: object = {},
  change: Partial<DashboardParts> = {},
): Promise<ShownRun> {
  const run = await showRun(events, settings, change)
  opened.push(() => run.close())
  return run
}

async function guarded(settings: object = {}, change: Partial<DashboardParts> = {}): Promise<ShownRun> {
  const folder = await mkdtemp(join(tmpdir(), 'prove-dashboard-'))
  opened.push(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'token'), TOKEN)
  return shown(runOf('busy', 0), { tokenFile: join(folder, 'token'), ...settings }, change)
}

const ask = (
  run: ShownRun,
  path: string,
  headers: Record<string, string> = {},
  init: RequestInit = {},
): Promise<Response> =>
  fetch(run.dashboard.url + path, {
    redirect: 'manual',
    signal: patience(),
    ...init,
    headers: { accept: 'text/html', ...headers },
  })

const asOperator = { authorization: `Bearer ${TOKEN}` }
/** Answers that never end, and what asks for a body. */
const isPage = (path: string): boolean => path !== '/live'

/** Everything that can be reached by links from the first page, and what a program would ask for. */
async function walk(run: ShownRun, headers: Record<string, string>): Promise<Map<string, string>> {
  const seen = new Map<string, string>()
  const queue = [
    '/',
    '/healthz',
    '/metrics',
    '/login',
    '/nothing',
    '/groups/nothing',
    '/nodes/nothing',
    '/charts/x.svg',
    '/versions.json',
    '/versions/99/adapter.gguf',
  ]
  for (let path = queue.shift(); path !== undefined; path = queue.shift()) {
    if (seen.has(path)) continue
    const response = await ask(run, path, headers)
    const text = await response.text()
    seen.set(path, `${[...response.headers].join('\n')}\n${text}`)
    if (!response.headers.get('content-type')?.startsWith('text/html')) continue
    for (const [, found] of text.matchAll(/(?:href|src|srcset)="([^"#]+)(?:#[^"]*)?"/g)) {
      const next = found!.replaceAll('&amp;', '&')
      assert.ok(next.startsWith('/'), `${path} leads out of the dashboard, to ${next}`)
      if (isPage(next)) queue.push(next)
    }
  }
  return seen
}

test('no page, drawing or number that anybody can reach holds the secret of a round or the seed of a lease', async () => {
  for (const settings of [{}, { public: true }]) {
    const run = await shown(runOf('busy', Date.now()), settings)
    const seen = await walk(run, {})
    assert.ok(seen.size > 60, `only ${seen.size} pages`)
    for (const [path, content] of seen) {
      assert.not.ok(content.includes(SECRET), path)
      assert.not.ok(content.includes(hex(5)), path)
    }
    // The walk came by every route there is.
    const app = dashboardApp(
      {} as DashboardParts,
      createAccess({ token: null, public: false, hosts: [], now: () => 0 }),
      patience(),
    )
    const routes = app.routes.filter(({ method, path }) => method === 'GET' && path !== '/*' && isPage(path))
    for (const { path } of routes) {
      const pattern = new RegExp(`^${path.replaceAll(/:\w+(\{[^}]*\})?/g, '[^/?]+').replaceAll('.', '\\.')}(\\?.*)?$`)
      assert.ok(
        [...seen.keys()].some((one) => pattern.test(one)),
        `nobody looked at ${path}`,
      )
    }
  }
})

test('a visitor without the token sees the login page and the health check, and nothing of the run', async () => {
  const run = await guarded()
  for (const path of ['/', '/groups', `/groups/${READABLE}`, '/join', '/versions']) {
    const page = await ask(run, path)
    assert.is(page.status, 303, path)
    assert.is(page.headers.get('location'), '/login')
    assert.is((await ask(run, path, { accept: '*/*' })).status, 401)
  }
  for (const path of [
    '/metrics',
    '/live',
    '/charts/reward.svg',
    '/join/code.svg',
    '/versions/1/adapter.gguf',
    '/versions/1/manifest.sealed',
    '/versions.json',
    '/nothing',
  ])
    assert.is((await ask(run, path, { accept: '*/*' })).status, 401, path)
  assert.equal(await (await ask(run, '/healthz')).json(), { status: 'ok' })
  const login = await (await ask(run, '/login')).text()
  assert.not.match(login, /village-model/)
  assert.is((await ask(run, '/', asOperator)).status, 200)
  assert.is((await ask(run, '/metrics', asOperator)).status, 200)
})

test('a browser logs in with the token, gets a cookie that no script reads, and logs out', async () => {
  const run = await guarded()
  const form = (token: string) => ({ method: 'POST', body: new URLSearchParams({ token }) })
  const { url } = run.dashboard
  assert.is((await ask(run, '/login', { origin: url }, form('another-token-altogether'))).status, 403)
  assert.is((await ask(run, '/login', { origin: 'http://evil.example' }, form(TOKEN))).status, 403)
  assert.is((await ask(run, '/login', {}, form('x'.repeat(DASHBOARD_LIMITS.requestBytes)))).status, 413)
  const entered = await ask(run, '/login', { origin: url }, form(`${TOKEN}\n`))
  assert.is(entered.status, 303)
  const set = entered.headers.get('set-cookie')!
  assert.match(set, /HttpOnly/)
  assert.match(set, /SameSite=Strict/)
  assert.not.match(set, new RegExp(TOKEN))
  const cookie = set.split(';')[0]!
  assert.is((await ask(run, '/', { cookie })).status, 200)
  assert.is((await ask(run, '/logout', { cookie, origin: 'http://evil.example' }, { method: 'POST' })).status, 403)
  assert.is((await ask(run, '/logout', { cookie, origin: url }, { method: 'POST' })).status, 303)
  assert.is((await ask(run, '/', { cookie })).status, 303)
})

test('an address that guesses tokens waits, at orders, at the log in and on every page', async () => {
  const run = await guarded(
    { public: false },
    { takeOrder: () => Promise.reject(new Error('nobody gives an order here')) },
  )
  const order = (token: string): Promise<Response> =>
    ask(
      run,
      '/order',
      { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      { method: 'POST', body: '{}' },
    )
  for (let i = 0; i < DASHBOARD_LIMITS.wrongTokens; i++) assert.is((await order(`another-token-${i}`)).status, 401)
  const later = await order(TOKEN)
  assert.is(later.status, 429)
  assert.is(later.headers.get('retry-after'), '60')
  assert.is(((await later.json()) as { code: string }).code, 'too_many_guesses')
  const body = new URLSearchParams({ token: TOKEN })
  const form = await ask(run, '/login', { origin: run.dashboard.url }, { method: 'POST', body })
  assert.is(form.status, 429)
  assert.match(await form.text(), /Too many wrong tokens came from this address/)
  assert.is((await ask(run, '/', asOperator)).status, 429)
  assert.is((await ask(run, '/', {})).headers.get('location'), '/login', 'without a token it is as before')
})

test('a request with the token gives orders, which are recorded as such; a session, a page and a guess do not', async () => {
  const service = Promise.withResolvers<OrderService>()
  const takeOrder = async (body: unknown) => takeByToken(await service.promise, body)
  const run = await guarded({ public: true }, { takeOrder })
  const { recorder } = run
  service.resolve(
    createOrderService({
      ...{
        recorder,
        taskSet: { tasks: TASKS, environments: [library] },
        jobs: '',
        clock: systemClock,
        signal: patience(),
      },
      settings: { take: () => Promise.reject(new Error('nobody may change settings from elsewhere')) },
    }),
  )
  const at = { url: new URL(`${run.dashboard.url}/`), token: TOKEN }
  const pause: OrderAsk = { order: 'pause', reason: 'the power goes' }
  const sent = (headers: Record<string, string>, body: string = JSON.stringify(pause)): Promise<Response> =>
    ask(run, '/order', { 'content-type': 'application/json', ...headers }, { method: 'POST', body })
  const { url } = run.dashboard
  const entered = await ask(
    run,
    '/login',
    { origin: url },
    { method: 'POST', body: new URLSearchParams({ token: TOKEN }) },
  )
  const cookie = entered.headers.get('set-cookie')!.split(';')[0]!
  const statusOf = async (answer: Promise<Response>): Promise<number> => (await answer).status
  for (const headers of [{}, { cookie }, { cookie, origin: url }, { authorization: `Bearer ${TOKEN}x` }])
    assert.is(await statusOf(sent(headers)), 401, JSON.stringify(headers))
  assert.is(await statusOf(sent({ ...asOperator, origin: 'http://evil.example' })), 403)
  assert.is(await statusOf(sent({ ...asOperator, 'content-type': 'text/plain' })), 415)
  assert.is(await statusOf(sent(asOperator, 'x'.repeat(DASHBOARD_LIMITS.requestBytes + 1))), 413)
  for (const body of [
    '',
    '{',
    '[]',
    '{"order":"pause"}',
    '{"order":"pause","reason":null,"more":1}',
    '{"order":"format"}',
  ])
    assert.is(await statusOf(sent(asOperator, body)), 400, body)
  assert.is(await statusOf(ask(run, '/order', asOperator)), 404, 'an order is no link')
  assert.is(recorder.state.orders.pause, null, 'none of these has done anything')

  const { changed, effects } = await orderRemotely(at, pause, patience())
  assert.ok(changed)
  assert.match(effects.join(), /the run is paused/)
  assert.equal(recorder.state.orders.pause!.by, { who: 'operator', via: 'token' })
  assert.is(recorder.state.orders.pause!.reason, 'the power goes')
  assert.not((await orderRemotely(at, pause, patience())).changed)
  const why = (work: Promise<unknown>): Promise<string> => work.then(() => 'it went well', String)
  assert.match(await why(orderRemotely({ ...at, token: 'x' }, pause, patience())), /refused: that is not the token/)
  const settings: OrderAsk = { order: 'settings', reason: null, text: '', file: '' }
  assert.match(await why(orderRemotely(at, settings, patience())), /use prove-coordinator set there/)
  const ban: OrderAsk = { order: 'ban', reason: null, key: 'nobody' }
  assert.match(await why(orderRemotely(at, ban, patience())), /no key of this run/)

  const open = await shown(runOf('busy', 0), {}, { takeOrder })
  const without = { ...at, url: new URL(`${open.dashboard.url}/`) }
  assert.match(await why(orderRemotely(without, pause, patience())), /takes no orders over HTTP/)
})

test('a token is sent over TLS or not beyond this machine, and read from a file alone', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'prove-dashboard-'))
  opened.push(() => rm(folder, { recursive: true }))
  const file = join(folder, 'token')
  await writeFile(file, `${TOKEN}\n`)
  for (const [at, url] of [
    ['https://run.example.org', 'https://run.example.org/'],
    ['https://example.org/prove', 'https://example.org/prove/'],
    ['http://127.0.0.1:4080', 'http://127.0.0.1:4080/'],
    ['http://[::1]:4080', 'http://[::1]:4080/'],
  ] as const) {
    const run = await remoteRun(at, file)
    assert.equal([run.url.href, run.token], [url, TOKEN])
  }
  const why = (at: string, from?: string): Promise<string> => remoteRun(at, from).then(() => 'it went well', String)
  for (const at of ['http://run.example.org', 'http://203.0.113.5:4080', 'http://127.0.0.1.evil.example'])
    assert.match(await why(at, file), /the token would be sent unencrypted/)
  for (const at of ['run.example.org', 'file:///etc', '']) assert.match(await why(at, file), /is no dashboard address/)
  assert.match(await why('https://run.example.org'), /needs --token-file/)
  await writeFile(file, 'two words')
  assert.match(await why('https://run.example.org', file), /must contain only the token/)
})

test('the public sees the run, but neither rollouts nor metrics, which the operator sees beside it', async () => {
  const run = await guarded({ public: true })
  const group = `/groups/${READABLE}`
  const outside = await (await ask(run, group)).text()
  assert.match(outside, /Only the operator sees rollouts/)
  assert.not.match(outside, /Environment and user/)
  assert.is((await ask(run, '/metrics')).status, 401)
  assert.match(await (await ask(run, group, asOperator)).text(), /Environment and user/)
  assert.is((await ask(run, '/metrics', asOperator)).status, 200)
})

test('a group is shown with its conversation, calls, reward and the probability of each token, and runs no markup of its own', async () => {
  const run = await shown(runOf('busy', 0))
  const first = await (await ask(run, `/groups/${READABLE}`)).text()
  assert.match(first, /lend_book/)
  assert.match(first, /title="98\.4 %"/)
  assert.match(first, /coverage<\/dt><dd>1\.000/)
  const second = await (await ask(run, `/groups/${READABLE}?rollout=1`)).text()
  assert.not.match(second, /<script>alert/)
  const texts = [...second.matchAll(/<span[^>]*title="[^"]*">([^<]*)<\/span>/g)].map(([, text]) => text).join('')
  assert.match(texts, /&lt;script&gt;alert\(1\)&lt;\/script&gt; rather not/)
  for (const strange of ['-1', '7', 'x', '1e9'])
    assert.is((await ask(run, `/groups/${READABLE}?rollout=${strange}`)).status, 200)
})

test('teams stand beside their keys and for themselves, and a name that looks like markup is none', async () => {
  const joined = (node: string, team: string): RunEvent => ({ type: 'team-joined', atMs: LATER_MS, node, team })
  const run = await shown([...runOf('busy', 0), joined(KEYS[0], 'night owls'), joined(KEYS[1], '<b onclick=1>')])
  const text = await (await ask(run, '/nodes')).text()
  assert.match(text, /Teams, most credit first/)
  assert.is(text.match(/>night owls<\/t[dh]>/g)?.length, 2)
  assert.is(text.match(/&lt;b onclick=1&gt;/g)?.length, 2)
  assert.not.match(text, /<b onclick/)
  assert.match(await (await ask(run, `/nodes/${KEYS[0]}`)).text(), /for the team night owls/)
})

test('every answer is bound to its own place by its headers, and calls under another name are turned away', async () => {
  const run = await shown(runOf('busy', 0))
  for (const path of ['/', '/healthz', '/nothing', '/assets/dashboard.css']) {
    const { headers } = await ask(run, path)
    const policy = headers.get('content-security-policy')!
    assert.match(policy, /default-src 'none'/)
    assert.not.match(policy, /unsafe|\*|http/)
    assert.is(headers.get('x-content-type-options'), 'nosniff')
    assert.is(headers.get('referrer-policy'), 'same-origin')
  }
  const { hostname, port } = new URL(run.dashboard.url)
  // fetch does not let its Host be chosen.
  const status = await new Promise((resolve, reject) => {
    const asked = request(
      { hostname, port, path: '/', headers: { host: 'evil.example' }, signal: patience() },
      (response) => {
        response.resume()
        resolve(response.statusCode)
      },
    )
    asked.once('error', reject).end()
  })
  assert.is(status, 403)
  assert.is((await ask(run, '/', { origin: 'http://evil.example' })).status, 403)
})

test('open pages get a new revision after an event, and then show the event', async () => {
  const run = await shown(runOf('busy', 0))
  const stream = await ask(run, '/live')
  const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader()
  const before = run.report.revision
  let understood = ''
  const hear = async (what: string): Promise<void> => {
    while (!understood.includes(what)) {
      const { done: over, value } = await reader.read()
      assert.not.ok(over, `the stream ended without ${what}`)
      understood += value
    }
  }
  await hear(`data: ${before}\n`)
  for (const event of done('late', run.report.nodes.report(0)[0]!.node, 24))
    await run.recorder.record(() => ({ ...event, atMs: LATER_MS }))
  await hear(`data: ${before + 2}\n`)
  assert.match(await (await ask(run, '/groups')).text(), /href="\/groups\/late"/)
  await reader.cancel()
})

test('the number of pages with live updates is limited, and a page that closes makes place for another', async () => {
  const run = await shown(runOf('empty', 0))
  const pages = await Promise.all(Array.from({ length: DASHBOARD_LIMITS.livePages }, () => ask(run, '/live')))
  assert.ok(pages.every(({ status }) => status === 200))
  assert.is((await ask(run, '/live')).status, 503)
  await pages[0]!.body!.cancel()
  for (let status = 503; status !== 200; ) {
    const next = await ask(run, '/live')
    status = next.status
    pages.push(next)
  }
  for (const { body } of pages.slice(1)) await body?.cancel()
})

test('an adapter is given away whole under its hash, and one that the disk has lost is not', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'prove-dashboard-'))
  opened.push(() => rm(folder, { recursive: true }))
  const path = join(folder, 'blob')
  await writeFile(path, BODY)
  const whole = new Set(['1'.padStart(64, 'a')])
  const run = await shown(
    runOf('busy', 0),
    {},
    { blobs: { path: () => path, isWhole: async (hash) => whole.has(hash) } },
  )
  const answer = await ask(run, '/versions/1/adapter.gguf')
  assert.is(answer.headers.get('content-disposition'), 'attachment; filename="version-1.gguf"')
  const digest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
  assert.is(digest(new Uint8Array(await answer.arrayBuffer())), digest(BODY))
  assert.is((await ask(run, '/versions/2/adapter.gguf')).status, 404)
  assert.is((await ask(run, '/versions/x/adapter.gguf')).status, 404)
  // Below a file there is no folder to look into: nobody knows whether it is lost.
  const unread = await shown(
    runOf('busy', 0),
    {},
    { blobs: { path: () => join(path, 'below'), isWhole: async () => true } },
  )
  assert.is((await ask(unread, '/versions/1/adapter.gguf')).status, 500)
})

test('a run that takes no events any more is not healthy', async () => {
  const run = await shown(runOf('busy', 0), {}, { isSound: () => false })
  assert.is((await ask(run, '/healthz')).status, 503)
})

test('a port that is taken is named, with what to do', async () => {
  const run = await shown([...runOf('empty', 0)])
  const listen = run.dashboard.url.replace('http://', '')
  await showRun(runOf('empty', 0), { listen }).then(
    () => assert.unreachable(),
    (error) => {
      assert.is(error.code, 'not_listening')
      assert.match(error.detail, new RegExp(`${listen}: another program listens at this address`))
    },
  )
})

test.run()
