// needs: python

import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { stringify } from 'yaml'
import { openEventLog } from '../../coordinator/ledger/event-log.js'
import { readConfig } from '../../coordinator/settings/config.js'
import { openNodeStore } from '../../node/store/store.js'
import { checkout } from '../support/checkout.js'
import { writeDemoTasks } from '../support/demo-tasks.js'
import { frameOf, textOf } from '../support/invitations.js'
import { PATIENCE_MS } from '../support/patience.js'
import { createMachine, demoModel, type Machine } from '../support/programs.js'
import { createTestRun, type TestRun } from '../support/test-run.js'

const model = demoModel()
const NOBODY = '12D3KooWKRYhZeD3sAWvz1zaSsEXnwnktvv4iaprLHrCgZBZWyEq'
/** Nothing listens there. */
const DEAD_END = `/ip4/127.0.0.1/tcp/1/p2p/${NOBODY}`

/** Signed by its key, and made by a program that is not there yet. */
const LATER = textOf(await frameOf(4, new Uint8Array([1, 2, 3])))

let folder = ''
test.before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'prove-cli-'))
  await writeFile(join(folder, 'notes.txt'), 'not a model')
  await writeDemoTasks(join(folder, 'tasks'), 8, 1)
})
test.after(() => rm(folder, { recursive: true, force: true }))

const closing: (TestRun | Machine)[] = []
test.after.each(async () => {
  for (const open of closing.splice(0)) await open.close()
})

interface Failure {
  readonly code: number | undefined
  readonly stderr: string
}

/** Runs a program that must fail with one line for the user, and no stack trace. */
async function failure(program: 'coordinator' | 'lab' | 'node', ...args: string[]): Promise<Failure> {
  const result = await execa(process.execPath, [join(checkout, 'dist', program, 'main.js'), ...args], {
    cwd: folder,
    // uvu sets FORCE_COLOR, and Node warns of the contradiction on stderr.
    env: { NO_COLOR: '1', FORCE_COLOR: undefined },
    reject: false,
    timeout: PATIENCE_MS,
    stdin: 'ignore',
  })
  assert.not.ok(result.timedOut, `${args.join(' ')} did not end`)
  assert.ok(result.exitCode !== 0, `${args.join(' ')} went well`)
  assert.not.match(result.stderr, /^\s+at .+:\d+/m)
  // Log lines are JSON objects; what is left is for the user.
  const lines = result.stderr.split('\n').filter((line) => !line.startsWith('{'))
  assert.is(lines.length, 1, result.stderr)
  return { code: result.exitCode, stderr: lines[0]! }
}

async function config(name: string, change: object = {}): Promise<string> {
  const file = join(folder, `${name}.yaml`)
  const content = {
    dataDir: `${name}-data`,
    listen: ['/ip4/127.0.0.1/tcp/0'],
    base: { path: model, name: 'prove-demo-base' },
    tasks: { dataset: 'tasks' },
    ...change,
  }
  await writeFile(file, stringify(content))
  return file
}

const COMMAND_LINES: readonly (readonly [string, 'coordinator' | 'lab' | 'node', readonly string[], RegExp])[] = [
  ['an address that is none', 'node', ['join', 'nonsense'], /not a network address: nonsense/],
  ['an address without a key', 'node', ['join', '/ip4/127.0.0.1/tcp/1'], /must end in \/p2p\//],
  ['a key that is none', 'node', ['join', '/ip4/127.0.0.1/tcp/1/p2p/xyz'], /not a peer id: xyz/],
  ['an address without a port', 'node', ['join', `/ip4/127.0.0.1/p2p/${NOBODY}`], /needs a \/tcp\/ part/],
  ['no run', 'node', ['join'], /missing required argument 'run'/],
  ['an invitation that is cut off', 'node', ['join', 'prove3-Aw'], /^prove-node: cut_off: .*copy all of it/],
  [
    'an invitation that is changed',
    'node',
    ['join', `prove3-${'A'.repeat(400)}`],
    /^prove-node: changed: .*copy it again/,
  ],
  [
    'an invitation of a later version',
    'node',
    ['join', LATER],
    /^prove-node: newer: .*version 4.*install a newer version/,
  ],
  ['slots that are no count', 'node', ['join', DEAD_END, '--slots', '0'], /an integer from 1 to 256/],
  ['an option that does not exist', 'node', ['join', DEAD_END, '--fast'], /unknown option '--fast'/],
  ['a log level that does not exist', 'node', ['join', DEAD_END, '--log-level', 'loud'], /Allowed choices/],
  ['a missing model', 'node', ['join', DEAD_END, '--model', 'gone.gguf', '--data-dir', 'n'], /wrong_base.*gone\.gguf/],
  [
    'a model that is none',
    'node',
    ['join', DEAD_END, '--model', 'notes.txt', '--data-dir', 'n'],
    /model_refused.*GGUF/,
  ],
  [
    'a data directory that is a file',
    'node',
    ['join', DEAD_END, '--model', model, '--data-dir', 'notes.txt', '--cpu'],
    /EEXIST.*notes\.txt/,
  ],
  [
    'an address to listen on that is none',
    'node',
    ['join', DEAD_END, '--model', model, '--data-dir', 'n', '--cpu', '--listen', 'here'],
    /bad_listen: here/,
  ],
  ['adapters of a coordinator that is away', 'node', ['adapters', 'list', DEAD_END, '--data-dir', 'n'], /unreachable/],
  ['a key that cannot be imported', 'node', ['identity', 'import', 'abc', '--data-dir', 'n'], /not_a_key/],
  ['a command that does not exist', 'node', ['dance'], /unknown command 'dance'/],
  [
    'no configuration',
    'coordinator',
    ['start'],
    /run\.yaml: there is no such file: run the command in the folder of run\.yaml/,
  ],
  [
    'a missing configuration',
    'coordinator',
    ['start', '--config', 'gone.yaml'],
    /gone\.yaml: there is no such file.*--config/,
  ],
  ['no base model', 'coordinator', ['init'], /init: give --model, a GGUF file, or --model demo/],
  [
    'a base model that is none',
    'coordinator',
    ['init', 'x', '--model', 'notes.txt'],
    /model_refused.*notes\.txt.*GGUF/,
  ],
  [
    'an adapter that is missing',
    'lab',
    ['eval', '--model', model, '--adapter', 'gone.gguf', '--dataset', 'tasks'],
    /ENOENT.*gone/,
  ],
  [
    'a data set that is missing',
    'lab',
    ['eval', '--model', model, '--adapter', 'x', '--dataset', 'gone'],
    /gone: missing_file/,
  ],
  [
    'samples that are all alike',
    'lab',
    ['eval', '--model', model, '--adapter', 'x', '--dataset', 'tasks', '--temperature', '0', '--samples', '2'],
    /--temperature 0 gives the same rollout for every sample/,
  ],
  ['a temperature that is none', 'lab', ['eval', '--temperature', '-1'], /a number from 0 to 10/],
  ['no data set', 'lab', ['eval', '--model', model], /required option '--dataset/],
  [
    'two names for two policies in one option',
    'lab',
    ['profile', '--model', model, '--adapter', 'x', 'y', '--dataset', 'tasks', '--label', 'mine'],
    /--label names one policy, and there are 2: name each one/,
  ],
  ['an unknown environment', 'lab', ['synthesize', '--out', 'x', '--environments', 'zoo'], /No environment "zoo"/],
  ['a count of nothing', 'lab', ['synthesize', '--out', 'x', '--examples', '0'], /an integer from 1/],
  ['a share that is none', 'lab', ['synthesize', '--out', 'x', '--held-out', '2'], /a number from 0 to 1/],
  ['no folder', 'lab', ['synthesize', '--examples', '1'], /required option '--out/],
  ['a folder that exists', 'lab', ['synthesize', '--examples', '1', '--out', 'tasks'], /already_there.*tasks/],
  [
    'a world to hold out that is not used',
    'lab',
    ['synthesize', '--out', 'x', '--environments', 'maps', '--held-out-environments', 'crm'],
    /names crm, which is not in use/,
  ],
]
for (const [what, program, args, expected] of COMMAND_LINES) {
  test(`${program} ${args[0]} with ${what} says so in one line`, async () => {
    assert.match((await failure(program, ...args)).stderr, expected)
  })
}

const CONFIGS: readonly (readonly [string, object, RegExp])[] = [
  ['a data set that is missing', { tasks: { dataset: 'gone' } }, /gone: missing_file/],
  ['a group of one', { groupSize: 1 }, /bad-\d+\.yaml: groupSize: /],
  ['a field that does not exist', { groupsize: 8 }, /bad-\d+\.yaml: the file: Unrecognized key: "groupsize"/],
  ['no base model', { base: undefined }, /bad-\d+\.yaml: base: /],
  ['a base model that is missing', { base: { path: 'gone.gguf', name: 'x' } }, /model_refused: .*gone\.gguf.*ENOENT/],
  ['a base model that is none', { base: { path: 'notes.txt', name: 'x' } }, /model_refused: .*GGUF/],
  ['an address to listen on that is none', { listen: ['here'] }, /listen: here: /],
  ['limits that no task fits', { limits: { maxRolloutTokens: 40 } }, /limits\.maxRolloutTokens is too small/],
  ['a Python that is missing', { trainer: { python: 'no-such-python' } }, /trainer_unusable: no-such-python/],
  [
    'settings that the trainer would refuse',
    { trainer: { settings: { optimizer: { lr: -1 } } } },
    /bad-\d+\.yaml: trainer\.settings\.optimizer\.lr: /,
  ],
]
for (const [i, [what, change, expected]] of CONFIGS.entries()) {
  test(`a configuration with ${what} stops the coordinator with one line`, async () => {
    assert.match(
      (await failure('coordinator', 'start', '--no-dry-run', '--config', await config(`bad-${i}`, change))).stderr,
      expected,
    )
  })
}

test('a configuration that is no YAML is named with the place of the mistake', async () => {
  await writeFile(join(folder, 'broken.yaml'), 'base: [')
  const { code, stderr } = await failure('coordinator', 'start', '--config', 'broken.yaml')
  assert.is(code, 2)
  assert.match(stderr, /^prove-coordinator: broken\.yaml: .*line 1/)
})

test('a new run.yaml is written for the data set that is there, and never over another one', async () => {
  const args = ['init', 'fresh', '--model', model, '--dataset', join(folder, 'tasks'), '--operator', 'Ada']
  const program = join(checkout, 'dist', 'coordinator', 'main.js')
  const { stdout } = await execa(process.execPath, [program, ...args], { cwd: folder, timeout: PATIENCE_MS })
  assert.match(stdout, /fresh\/run\.yaml is written and valid[\s\S]*prove-coordinator start --config fresh\/run\.yaml/)
  assert.not.match(stdout, /prove-lab/, 'data set and calibration are there')
  const file = join(folder, 'fresh', 'run.yaml')
  const config = readConfig(file)
  assert.equal([config.base.path, config.base.name, config.about.operator], [model, 'prove-demo-base', 'Ada'])
  assert.match(config.audit.calibrations.join(), /calibration-f16\.json$/, 'the model of the package has one')
  const before = await readFile(file, 'utf8')
  assert.match(before, /The longest first prompt of the data set has \d+ tokens/)
  assert.match((await failure('coordinator', ...args)).stderr, /run\.yaml exists already and was not changed/)
  assert.is(await readFile(file, 'utf8'), before)
})

test('a set-up without a Python that can be used says what to install', async () => {
  const { code, stderr } = await failure(
    'coordinator',
    'setup',
    '--venv',
    'python',
    '--python',
    join(folder, 'no-python'),
  )
  assert.is(code, 1)
  assert.match(stderr, /^prove-coordinator: no_python: Python 3\.10 or newer .* was not found: install it/)
})

test('a trainer that lacks its packages is given up after some attempts, with its last words', async () => {
  // Python's own -S leaves the packages out, but the arguments are the coordinator's: a script puts it before them.
  const python = join(folder, 'bare-python')
  await writeFile(python, '#!/bin/sh\nexec python3 -S -E "$@"\n', { mode: 0o755 })
  const file = await config('bare', { trainer: { python } })
  assert.match(
    (await failure('coordinator', 'start', '--no-dry-run', '--config', file)).stderr,
    /trainer_failed: .*No module named.*trainer\.log.*prove-coordinator setup/,
  )
})

test('a second process on one data directory is refused with what to do', async () => {
  const log = await openEventLog(join(folder, 'busy-data', 'log'))
  const store = await openNodeStore(join(folder, 'busy-node', 'store'), NOBODY)
  try {
    const coordinator = await failure('coordinator', 'start', '--config', await config('busy'))
    assert.match(coordinator.stderr, /^prove-coordinator: in_use: another process uses .*stop it/)
    const node = await failure('node', 'join', DEAD_END, '--model', model, '--data-dir', 'busy-node', '--cpu')
    assert.match(node.stderr, /^prove-node: in_use: another process uses .*--data-dir/)
  } finally {
    await log.close()
    await store.close()
  }
})

test('a node with another base model than the run’s stops with both hashes', async () => {
  const run = await createTestRun()
  closing.push(run)
  const other = join(folder, 'other.gguf')
  await copyFile(model, other)
  const [address] = run.coordinator.node.host.addresses()
  const { stderr } = await failure('node', 'join', address!, '--model', other, '--data-dir', 'other', '--cpu')
  assert.match(
    stderr,
    /^prove-node: wrong_base: the run uses village-model with SHA-256 [0-9a-f]{64}; this node has [0-9a-f]{64}/,
  )
})

test('a node whose owner allows too few tokens for the run’s rollouts says how many it needs', async () => {
  const machine = await createMachine()
  closing.push(machine)
  const file = await config('long', { limits: { maxRolloutTokens: 2048 } })
  const coordinator = machine.start('coordinator', ['start', '--config', file, '--json', '--no-dry-run'])
  const { addresses } = await coordinator.until('its address', ({ type }) => type === 'listening')
  await coordinator.until(
    'its policy',
    ({ type, event }) => type === 'event' && JSON.stringify(event).includes('published'),
  )
  const [address] = addresses as string[]
  const here = ['--model', model, '--data-dir', 'small', '--cpu', '--context', '1024']
  const { stderr } = await failure('node', 'join', address!, ...here)
  assert.match(stderr, /incompatible: .* up to 2048 tokens, but this node accepts 1024: start it without --context/)
})

test('a coordinator that is started with --public shows its run to those without the token, and no more', async () => {
  const machine = await createMachine()
  closing.push(machine)
  await writeFile(join(folder, 'dashboard.token'), 'a-token-that-nobody-guesses')
  const dashboard = { listen: '127.0.0.1:0', tokenFile: 'dashboard.token' }
  const file = await config('shown', { dashboard })
  const coordinator = machine.start('coordinator', ['start', '--config', file, '--json', '--no-dry-run', '--public'])
  const { url } = await coordinator.until('its dashboard', ({ type }) => type === 'dashboard')
  const statusOf = async (path: string) => (await fetch(`${String(url)}${path}`, { redirect: 'manual' })).status
  assert.is(await statusOf('/'), 200)
  assert.is(await statusOf('/metrics'), 401)
})

test('a node that cannot reach its coordinator says so, goes on trying, and stops when it is told to', async () => {
  const machine = await createMachine()
  closing.push(machine)
  const node = machine.start('node', ['join', DEAD_END, '--model', model, '--data-dir', 'n', '--cpu', '--json'])
  await node.until('word that nobody answers', ({ type }) => type === 'offline')
  node.kill('SIGTERM')
  assert.is(await node.ended, 0, node.stderr)
  assert.equal(machine.processes(), [])
})

test.run()
