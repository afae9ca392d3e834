// Checks a release as a new user would use it: packs a clean clone, installs the package into an empty prefix, and lets each program do
// its main job from another folder. Usage: node scripts/release-check.mjs   needs the set-up of the checkout (npm run setup)
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'

const root = fileURLToPath(new URL('..', import.meta.url))
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
/** Time limit of one step. Installing is as slow as the network. */
const STEP_TIMEOUT_MS = 15 * 60_000
/** Folders of a checkout that no user needs. */
const NOT_PACKED = /^(test|bench|scripts|dist\/test|dist\/bench)\/|\.(ts|map)$/

const folder = await mkdtemp(join(tmpdir(), 'prove-release-'))
const [clone, prefix, elsewhere] = ['clone', 'prefix', 'elsewhere'].map((name) => join(folder, name))
const env = { PATH: [join(prefix, 'bin'), process.env.PATH].join(delimiter), NO_COLOR: '1' }
const running = []

/** Runs a command in a folder outside the checkout. */
const run = (command, args, options = {}) =>
  execa(command, args, { cwd: elsewhere, env, timeout: STEP_TIMEOUT_MS, forceKillAfterDelay: 20_000, ...options })

async function step(what, work) {
  const started = performance.now()
  const found = await work()
  console.log(`ok    ${what}${found ? `: ${found}` : ''} (${((performance.now() - started) / 1000).toFixed(1)} s)`)
}

const megabytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`

async function pack() {
  await execa('git', ['clone', '--quiet', root, clone])
  const inClone = { cwd: clone, env }
  await run('npm', ['pack', '--loglevel=error'], { ...inClone, stdout: 'inherit', stderr: 'inherit' })
  // A second command: the output of the build would be on the same stream.
  const { stdout } = await run('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], inClone)
  const [{ files, size, unpackedSize, bundled }] = Object.values(JSON.parse(stdout))
  const own = files.map(({ path }) => path).filter((path) => !path.startsWith('node_modules/'))
  const surplus = own.filter((path) => NOT_PACKED.test(path))
  assert.deepEqual(surplus, [], 'the package contains files that no user needs')
  for (const program of ['node', 'coordinator', 'servers/episodes', 'lab'])
    assert.ok(own.includes(`dist/${program}/main.js`), `dist/${program}/main.js is not in the package`)
  for (const file of [
    'dist/rollout/engine/candidates.wasm',
    'dist/playground/index.html',
    'dist/playground/playground.js',
    'servers/episodes/playground/tasks.jsonl',
  ])
    assert.ok(own.includes(file), `${file} is not in the package`)
  return `${own.length} files and ${bundled.length} bundled packages, ${megabytes(size)}, unpacked ${megabytes(unpackedSize)}`
}

async function install() {
  const tarball = join(clone, `prove-swarm-${version}.tgz`)
  const { stdout, stderr } = await run('npm', [
    ...['install', '--global', '--prefix', prefix, '--no-audit', '--no-fund', tarball],
  ])
  assert.doesNotMatch(stdout + stderr, /EBADENGINE|deprecated/, 'npm warns')
  const programs = await readdir(join(prefix, 'bin'))
  for (const name of ['prove-coordinator', 'prove-lab', 'prove-node', 'prove-server'])
    assert.ok(programs.includes(name), `${name} is not there`)
  const { stdout: sizes } = await run('du', ['-sm', prefix])
  return `${sizes.split('\t')[0]} MB`
}

async function versions() {
  for (const program of ['node', 'coordinator', 'server', 'lab']) {
    const { stdout } = await run(`prove-${program}`, ['--version'])
    assert.equal(stdout.split('\n')[0], version)
  }
  return version
}

async function doctor() {
  const { stdout } = await run('prove-node', ['doctor', '--data-dir', 'nobody', '--cpu', '--json'])
  const { problems, checks } = JSON.parse(stdout)
  assert.equal(problems, 0, stdout)
  return checks.find(({ name }) => name === 'engine').found
}

async function service() {
  if (process.platform !== 'linux') return 'only on Linux'
  const nobody = '/ip4/127.0.0.1/tcp/1/p2p/12D3KooWKRYhZeD3sAWvz1zaSsEXnwnktvv4iaprLHrCgZBZWyEq'
  const { stdout } = await run('prove-node', ['service', 'install', nobody, '--data-dir', 'nobody', '--print'])
  const [, start] = /^ExecStart=(.*)$/m.exec(stdout) ?? []
  assert.ok(start?.includes(join(prefix, 'lib/node_modules/prove-swarm/bin/prove-node.cjs')), stdout)
  assert.ok(start.includes(join(elsewhere, 'nobody')), stdout)
}

async function server() {
  const { Client } = await import('@modelcontextprotocol/sdk/client/index.js')
  const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js')
  const client = new Client({ name: 'release-check', version })
  const command = join(prefix, 'bin', 'prove-server')
  await client.connect(new StdioClientTransport({ command, args: ['banking', '--seed', '7'], cwd: elsewhere, env }))
  try {
    const { tools } = await client.listTools()
    const { isError, content } = await client.callTool({ name: 'list_accounts', arguments: { kind: 'checking' } })
    assert.ok(!isError, JSON.stringify(content))
    return `${tools.length} tools of an environment, and a call`
  } finally {
    await client.close()
  }
}

/** Returns messages with one of a task's reference calls each. */
const messagesOf = (calls) =>
  calls.map(({ name, arguments: args }) => ({ text: '', calls: [{ name, arguments: args }] }))

async function ownEnvironment() {
  await run('prove-server', ['new', 'library'])
  const { stdout } = await run('prove-server', ['check', './library'])
  assert.match(stdout, /all \d+ checks passed/)
  const made = ['--examples', '6', '--seed', '1', '--profile', 'demo', '--validation', '0']
  await run('prove-lab', ['synthesize', '--out', 'own-tasks', '--environments', './library', ...made])
  const [first] = (await readFile(join(elsewhere, 'own-tasks/data/train.jsonl'), 'utf8')).split('\n')
  const { id: task, ground_truth: calls } = JSON.parse(first)
  const scoring = ['score', '--dataset', 'own-tasks', '--environments', './library']
  const { stdout: scored } = await run('prove-server', scoring, {
    input: JSON.stringify({ task, actions: messagesOf(calls) }),
  })
  assert.equal(JSON.parse(scored).solved, true)
  return 'created, checked, used for synthesis, and scored'
}

async function lab() {
  const environments = ['--environments', 'banking,email', '--profile', 'demo', '--validation', '0']
  await run('prove-lab', ['synthesize', '--out', 'my-tasks', '--examples', '40', '--seed', '1', ...environments])
  await run('prove-lab', ['dataset', 'verify', 'my-tasks'])
  const [first] = (await readFile(join(elsewhere, 'my-tasks/data/train.jsonl'), 'utf8')).split('\n')
  const { id: task, ground_truth: calls } = JSON.parse(first)
  const scoring = ['score', '--dataset', 'my-tasks']
  const { stdout } = await run('prove-server', scoring, { input: JSON.stringify({ task, actions: messagesOf(calls) }) })
  assert.equal(JSON.parse(stdout).solved, true)
  return '40 tasks synthesised and verified, and a rollout of one scored'
}

/** Starts a program that reports JSON lines. `until` resolves with the first line that fits. */
function start(program, args) {
  const child = run(program, [...args, '--json'], { buffer: false, timeout: undefined, cancelSignal: closing.signal })
  const lines = createInterface({ input: child.stdout })
  const waiting = []
  const ended = child.then(
    () => new Error(`${program} ended`),
    (error) => error,
  )
  lines.on('line', (text) => {
    const line = JSON.parse(text)
    for (const { fits, resolve } of waiting) if (fits(line)) resolve(line)
  })
  const one = {
    child,
    ended,
    async until(fits) {
      const { promise, resolve } = Promise.withResolvers()
      waiting.push({ fits, resolve })
      const found = await Promise.race([promise, ended])
      if (found instanceof Error) throw found
      return found
    },
    async stop() {
      child.kill('SIGINT')
      assert.equal((await child).exitCode, 0)
    },
  }
  running.push(child)
  return one
}
const closing = new AbortController()

async function swarm() {
  const base = join(prefix, 'lib/node_modules/prove-swarm/models/demo/prove-demo-base-f16.gguf')
  const config = {
    ...{ dataDir: 'run', base: { path: base, name: 'demo' }, tasks: { dataset: 'my-tasks' } },
    ...{ groupSize: 2, batchGroups: 2, versions: 1000, rounds: { registrationMs: 1000 } },
    listen: ['/ip4/127.0.0.1/tcp/0'],
    dashboard: { listen: '127.0.0.1:0' },
    trainer: { python: join(root, '.venv/bin/python') },
  }
  await writeFile(join(elsewhere, 'run.yaml'), JSON.stringify(config))
  const coordinator = start('prove-coordinator', ['start', '--config', 'run.yaml'])
  const dashboard = coordinator.until(({ type }) => type === 'dashboard')
  await coordinator.until(({ type }) => type === 'invitation')
  const { url } = await dashboard
  for (const path of ['/', '/assets/dashboard.css', '/assets/live.js', '/metrics'])
    assert.equal((await fetch(url + path)).status, 200, `${path} of the dashboard`)
  const { stdout: invitation } = await run('prove-coordinator', ['invitation', '--config', 'run.yaml'])
  const { seconds, stop, home } = await volunteer(invitation.trim(), coordinator)
  await stop()
  await run('prove-node', ['adapters', 'pull', 'my-adapter', invitation.trim(), '--data-dir', 'researcher'])
  await coordinator.stop()
  const { stdout: checked } = await run('prove-node', ['adapters', 'verify', 'my-adapter', '--run', invitation.trim()])
  assert.match(checked, /signed by the run/)
  const model = ['my-adapter', '--cpu', '--data-dir', 'researcher']
  const { stdout: said } = await run(
    'prove-node',
    ['chat', ...model, '--environments', 'banking', '--tools', 'list_accounts'],
    {
      input: 'List my accounts.\n/quit\n',
    },
  )
  assert.notEqual(said, '')
  const { stdout } = await run('prove-node', ['verdicts'], home)
  assert.match(stdout, /accepted/)
  return `the first accepted group ${seconds} s after join, with the model from the swarm`
}

/** Joins with an empty home folder and nothing but the invitation, and then controls the node from another terminal. */
async function volunteer(invitation, coordinator) {
  const home = { env: { ...env, HOME: join(folder, 'volunteer'), XDG_DATA_HOME: undefined } }
  await mkdir(home.env.HOME)
  const begun = performance.now()
  const accepted = coordinator.until(({ type, event }) => type === 'event' && event.type === 'judged' && event.accepted)
  // By default the node would listen on the network of this machine.
  const joining = ['join', invitation, '--listen', '/ip4/127.0.0.1/tcp/0']
  const node = run('prove-node', joining, { ...home, timeout: undefined, cancelSignal: closing.signal })
  running.push(node)
  const early = node.then(({ stdout }) => Promise.reject(new Error(`prove-node ended: ${stdout}`)))
  early.catch(() => undefined)
  await Promise.race([accepted, early])
  const seconds = ((performance.now() - begun) / 1000).toFixed(1)
  const type = async (...args) => (await run('prove-node', args, home)).stdout
  assert.match(await type('status'), /accepted/)
  await type('pause', '--now')
  assert.match(await type('status'), /paused/)
  await type('resume')
  assert.doesNotMatch(await type('status'), /paused/)
  const stop = async () => {
    node.kill('SIGINT')
    assert.equal((await node).exitCode, 0)
  }
  return { seconds, stop, home }
}

try {
  await mkdir(elsewhere)
  await import('../dist/swarm/polyfill.js')
  await step('npm pack in a clean clone', pack)
  await step('npm install --global into an empty prefix', install)
  await step('versions', versions)
  await step('prove-node doctor', doctor)
  await step('prove-node service install --print', service)
  await step('prove-server', server)
  await step('an environment of the user', ownEnvironment)
  await step('prove-lab', lab)
  await step('prove-coordinator and prove-node', swarm)
} catch (error) {
  console.error(`FAIL  ${error.stack}`)
  process.exitCode = 1
} finally {
  closing.abort()
  await Promise.allSettled(running)
  await rm(folder, { recursive: true, force: true })
}
