// needs: python, chromium

import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { execa } from 'execa'
import OpenAI from 'openai'
import type { BrowserContext, Page } from 'playwright-core'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { parseDocument } from 'yaml'
import '../../swarm/polyfill.js'
import { checkout } from '../support/checkout.js'
import { DESKTOP, openChromium, overflow, PHONE, PICTURES, settle } from '../support/chromium.js'
import { PATIENCE_MS, patience } from '../support/patience.js'
import { type Machine, machinesOf, type Program } from '../support/programs.js'
import { nobodyLeft, peerOf, readLog, stop, tells } from './runs.js'
import { withServedModel } from './served-model.js'

/** A run from its first command to its last as the guides for operators and researchers tell it, in the order of docs/operate/start-a-run.md. */

const PYTHON = join(checkout, '.venv', 'bin', 'python')
const DEMO_TASKS = ['--profile', 'demo', '--environments', 'banking,calendar,email,issue_tracker', '--examples', '60']

const test = suite('a run from its first command to its last')
const machine = machinesOf(test)
type ProgramName = 'coordinator' | 'lab' | 'node'

/** What somebody types in a folder, with a home of their own. */
interface Terminal {
  readonly folder: string
  /** For programs that are started otherwise. */
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Everything that it has shown. */
  readonly shown: readonly string[]
  type(program: ProgramName, args: readonly string[], input?: string): Promise<string>
  /** What ends with status 1 and a line of why. */
  refused(program: ProgramName, args: readonly string[]): Promise<string>
}

async function terminal(on: Machine, name: string): Promise<Terminal> {
  const folder = join(on.folder, name)
  await mkdir(folder)
  const env = { HOME: folder, XDG_DATA_HOME: undefined, NO_COLOR: '1', FORCE_COLOR: undefined }
  const shown: string[] = []
  const run = async (program: ProgramName, args: readonly string[], input?: string) => {
    const said = await execa(process.execPath, [join(checkout, 'dist', program, 'main.js'), ...args], {
      ...{ cwd: folder, reject: false, timeout: PATIENCE_MS, env },
      ...(input === undefined ? { stdin: 'ignore' as const } : { input }),
    })
    shown.push(`${said.stdout}\n${said.stderr}`)
    return said
  }
  return {
    ...{ folder, cwd: folder, env, shown },
    async type(program, args, input) {
      const { exitCode, stdout, stderr } = await run(program, args, input)
      assert.is(exitCode, 0, `${args.join(' ')}: ${stderr}`)
      return stdout
    },
    async refused(program, args) {
      const { exitCode, stderr } = await run(program, args)
      assert.is(exitCode, 1, `${args.join(' ')}: ${stderr}`)
      return stderr
    },
  }
}

/** The operator's hand in run.yaml. */
async function edit(file: string, fields: readonly (readonly [path: string, value: unknown])[]): Promise<void> {
  const document = parseDocument(await readFile(file, 'utf8'))
  for (const [path, value] of fields) {
    if (value === undefined) document.deleteIn(path.split('.'))
    else document.setIn(path.split('.'), value)
  }
  await writeFile(file, document.toString())
}

async function eventually(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (const signal = patience(); !(await holds()); await sleep(200))
    assert.not(signal.aborted, `${what} took too long`)
}

const published = (version: number) => tells('published', (event) => event.version === version)

test('an operator sets it up, watches, steers, moves and exports it; a researcher gets, checks, tries and loads what it made', async () => {
  const on = await machine()
  const operator = await terminal(on, 'operator')
  const { folder } = operator
  const file = join(folder, 'my-run', 'run.yaml')
  const byConfig = ['--config', 'my-run/run.yaml']

  const next = await operator.type('coordinator', [
    ...[
      'init',
      'my-run',
      '--yes',
      '--model',
      'demo',
      '--operator',
      'Ada Lovelace',
      '--purpose',
      'A walk through a run',
    ],
  ])
  assert.match(next, /prove-lab synthesize --out my-run\/tasks --profile demo/)
  assert.match(next, /prove-coordinator start --config my-run\/run\.yaml/)
  await operator.type('lab', ['synthesize', '--out', 'my-run/tasks', ...DEMO_TASKS])
  const token = randomBytes(24).toString('hex')
  await writeFile(join(folder, 'dashboard.token'), `${token}\n`)
  // Small groups and no audits, so that versions come soon; one machine, so that nobody else can reach it.
  await edit(file, [
    ['listen', ['/ip4/127.0.0.1/tcp/0']],
    ['dashboard', { listen: '127.0.0.1:0', tokenFile: '../dashboard.token' }],
    ['audit', undefined],
    ['groupSize', 4],
    ['batchGroups', 4],
    ['versions', 100_000],
    ['rounds', { registrationMs: 200 }],
    ['leases', { perNode: 2, durationMs: 4 * PATIENCE_MS }],
    ['trainer.settings.optimizer.lr', 1e-4],
  ])
  const start = (name: string): Program => on.start('coordinator', ['start', ...['--config', file], '--json'], name)
  let coordinator = start('coordinator')
  await coordinator.until('a dry run', tells('rehearsed'))
  const { addresses } = await coordinator.until('its address', ({ type }) => type === 'listening')
  const { invitation } = (await coordinator.until('an invitation', ({ type }) => type === 'invitation')) as unknown as {
    readonly invitation: string
  }
  const { url } = (await coordinator.until('a dashboard', ({ type }) => type === 'dashboard')) as unknown as {
    readonly url: string
  }

  const volunteer = (name: string, ...more: readonly string[]): Program =>
    on.start(
      'node',
      [
        ...['join', invitation, '--yes', '--cpu', '--slots', '4', '--priority', 'normal', '--stay', '--json'],
        ...['--data-dir', join(on.folder, name), ...more],
      ],
      name,
    )
  const [ann, ben, cleo] = [volunteer('ann', '--mirror'), volunteer('ben'), volunteer('cleo')]
  const [annKey, cleoKey] = await Promise.all([ann, cleo].map(peerOf))
  await coordinator.until('a version to go back from', published(2))

  const withToken = ['--at', url, '--token-file', 'dashboard.token']
  const paused = await operator.type('coordinator', ['pause', '--reason', 'to look around', ...withToken])
  assert.match(paused, /the run is paused/)
  assert.match(await operator.type('coordinator', ['pause', ...byConfig]), /paused already/)
  await look(url, token)
  const status = await operator.type('coordinator', ['status', ...byConfig])
  assert.match(status, /paused since .*to look around/)
  assert.match(await operator.type('coordinator', ['nodes', ...byConfig]), new RegExp(cleoKey!))
  const groups = await operator.type('coordinator', ['groups', 'list', ...byConfig])
  assert.match(groups, /accepted/)
  const { leaseId } = coordinator.lines.findLast(tells('judged'))!.event as { readonly leaseId: string }
  assert.match(await operator.type('coordinator', ['groups', 'show', leaseId, ...byConfig]), new RegExp(leaseId))
  assert.match(await operator.type('coordinator', ['metrics', ...byConfig]), /^prove_/m)

  const banned = await operator.type('coordinator', ['ban', cleoKey!.slice(-8), ...withToken])
  assert.ok(banned.startsWith(`${cleoKey} is banned`), banned)
  await operator.type('coordinator', ['rollback', '1', '--reason', 'the second one forgot', ...byConfig])
  // What was in training when the pause began is published first.
  const isReturn = tells('published', ({ version, adapterStep }) => version > 2 && adapterStep === 1)
  const back = (await coordinator.until('the earlier policy', isReturn)).event as unknown as {
    readonly version: number
  }

  const researcher = await terminal(on, 'researcher')
  const listed = async () =>
    JSON.parse(await researcher.type('node', ['adapters', 'list', invitation, '--json'])) as {
      readonly version: number
      readonly files: readonly { readonly sha256: string }[]
    }[]
  const served = (await listed()).map(({ version }) => version)
  assert.equal(
    served,
    served.map((_, i) => back.version - i),
  )

  await operator.type('coordinator', ['resume', ...withToken])
  await coordinator.until(
    'new work',
    tells('judged', ({ accepted, version }) => accepted && version >= back.version),
  )
  const orders = (await operator.type('coordinator', ['events', ...byConfig]))
    .split('\n')
    .map((line) => JSON.parse(line))
    .flatMap(({ type, by }) => (by ? [[type, by.via]] : []))
  assert.equal(orders, [
    ['paused', 'token'],
    ['banned', 'token'],
    ['rollback-ordered', 'control socket'],
    ['resumed', 'token'],
  ])

  // Stopped first, as for every move: volunteers take no earlier round from a run that has forgotten one.
  await stop(coordinator)
  const first = coordinator
  await operator.type('coordinator', ['backup', 'copy', ...byConfig])
  await operator.type('coordinator', ['restore', 'copy', '--data-dir', 'moved'])
  await edit(file, [
    ['dataDir', '../moved'],
    ['listen', [(addresses as string[])[0]!.replace(/\/p2p\/.*$/, '')]],
  ])
  coordinator = start('moved')
  await coordinator.until(
    'a version in its new place',
    tells('published', ({ version }) => version > back.version),
  )
  assert.match(await operator.type('coordinator', ['status', ...byConfig]), /1 key is banned/)
  // A mirror keeps its last versions, so that the run rests before it is asked for the newest one.
  await operator.type('coordinator', ['pause', ...byConfig])
  let wanted = back.version
  await eventually('the mirror', async () => {
    const [newest] = await listed()
    wanted = newest!.version
    return newest!.files.every(({ sha256 }) => existsSync(join(on.folder, 'ann', 'blobs', sha256)))
  })
  await stop(ben, cleo)
  await operator.type('coordinator', ['export', 'tables', '--tensorboard', ...byConfig])
  for (const name of ['events.jsonl', 'versions.csv', 'versions.parquet', 'nodes.csv'])
    assert.ok(existsSync(join(folder, 'tables', name)), name)
  await stop(coordinator)
  const lines = [first, coordinator, ann, ben, cleo].flatMap(({ lines: all, stderr }) => [...all, stderr])
  const exported = await readFile(join(folder, 'tables', 'events.jsonl'), 'utf8')
  await keptSecret(join(folder, 'moved'), [...operator.shown, ...researcher.shown, exported, JSON.stringify(lines)])

  assert.match(await researcher.refused('node', ['adapters', 'list', invitation]), /unreachable/)
  const port = (await readFile(join(on.folder, 'ann', 'listen.port'), 'utf8')).trim()
  const mirror = ['--from', `/ip4/127.0.0.1/tcp/${port}/p2p/${annKey}`]
  const version = ['--policy-version', String(wanted)]
  await researcher.type('node', ['adapters', 'pull', 'my-adapter', invitation, ...version, ...mirror])
  await stop(ann)
  const checked = await researcher.type('node', ['adapters', 'verify', 'my-adapter', '--run', invitation])
  assert.match(checked, new RegExp(`^version ${wanted} of prove-demo`))
  assert.ok(existsSync(join(researcher.folder, 'my-adapter', 'model.sig')))

  const question = 'Which accounts do I have of the kind checking?'
  const onEnvironment = [
    '--environments',
    'banking',
    '--tools',
    'list_accounts',
    '--temperature',
    '0',
    '--seed',
    '7',
    '--cpu',
  ]
  const talk = await researcher.type('node', ['chat', 'my-adapter', ...onEnvironment], `${question}\n/quit\n`)
  assert.match(talk, /^→ list_accounts \{.*\}\n← \{"/m)
  await withServedModel(['my-adapter'], researcher, (baseUrl) => callServed(baseUrl, question))
  const loaded = await execa(PYTHON, [join(checkout, 'test', 'proc', 'load_adapter.py')], {
    input: JSON.stringify({
      base: join(checkout, 'models', 'demo', 'prove-demo-base-f16.gguf'),
      adapter: join(researcher.folder, 'my-adapter'),
    }),
    timeout: PATIENCE_MS,
  })
  const { tokens, finite, change } = JSON.parse(loaded.stdout)
  assert.ok(tokens > 3 && finite && change > 0, loaded.stdout)
  await nobodyLeft(on)
})

/** The seeds of leases follow from the secret of their round, which no surface shows, closed or not; manifests alone tell closed ones. */
async function keptSecret(dataDir: string, shown: readonly string[]): Promise<void> {
  const { events } = await readLog(dataDir)
  const secrets = events.flatMap((event) => ('roundSecret' in event ? [event.roundSecret] : []))
  assert.ok(secrets.length > 3)
  for (const text of shown)
    for (const secret of secrets) assert.not.ok(text.includes(secret), `a secret in ${text.slice(0, 200)}`)
}

/** The dashboard as it is found by whoever has the token, on a desk and in a hand. */
async function look(url: string, token: string): Promise<void> {
  await mkdir(PICTURES, { recursive: true })
  const browser = await openChromium()
  try {
    for (const [name, viewport] of [
      ['desktop', DESKTOP],
      ['phone', PHONE],
    ] as const)
      await visit(await browser.newContext({ viewport }), name, url, token)
  } finally {
    await browser.close()
  }
}

async function visit(context: BrowserContext, name: string, url: string, token: string): Promise<void> {
  context.setDefaultTimeout(PATIENCE_MS)
  const page = await context.newPage()
  await page.goto(url)
  await page.getByLabel('Token of the run').fill(token)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  await page.getByText('to look around').first().waitFor()
  await picture(page, `walk-overview-${name}`)
  await page.getByRole('link', { name: 'Volunteers' }).click()
  await page.getByRole('heading', { name: 'Volunteers' }).waitFor()
  assert.is(await page.locator('a[href^="/nodes/12D3"]').count(), 3, 'all three volunteers are there')
  await page.getByRole('link', { name: 'Groups', exact: true }).click()
  await page.locator('a[href^="/groups/"]').first().click()
  await page.getByRole('heading', { name: 'Group', exact: false }).first().waitFor()
  await picture(page, `walk-group-${name}`)
}

async function picture(page: Page, name: string): Promise<void> {
  await settle(page)
  await page.screenshot({ path: join(PICTURES, `${name}.png`), fullPage: true })
  assert.ok((await overflow(page)) <= 0, `${name} is wider than the screen`)
}

/** What a program of the researcher's gets from the adapter that was pulled. */
async function callServed(baseURL: string, question: string): Promise<void> {
  const client = new OpenAI({ baseURL, apiKey: 'none', maxRetries: 0, timeout: PATIENCE_MS })
  const [model] = (await client.models.list()).data
  const { choices, usage } = await client.chat.completions.create({
    ...{ model: model!.id, temperature: 0, max_completion_tokens: 96 },
    messages: [{ role: 'user', content: question }],
    tools: [{ type: 'function', function: { name: 'list_accounts', parameters: { type: 'object', properties: {} } } }],
  })
  assert.is(choices[0]!.finish_reason, 'tool_calls')
  assert.ok(usage!.completion_tokens > 0)
}

test.run()
