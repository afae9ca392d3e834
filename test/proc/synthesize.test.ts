import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openEventLog } from '../../coordinator/ledger/event-log.js'
import { openDataFolder } from '../../coordinator/settings/data-folder.js'
import { openIdentity } from '../../swarm/index.js'
import { checkout } from '../support/checkout.js'
import { DEMO_ENVIRONMENTS } from '../support/demo-tasks.js'
import { PATIENCE_MS } from '../support/patience.js'
import { agreed } from '../support/run-events.js'

const test = suite('prove-lab synthesize')
const program = join(checkout, 'dist', 'lab', 'main.js')

let folder = ''
test.before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'prove-synthesize-'))
})
test.after(() => rm(folder, { recursive: true, force: true }))

const lab = (...args: string[]) =>
  execa(process.execPath, [program, ...args], {
    cwd: folder,
    env: { NO_COLOR: '1', FORCE_COLOR: undefined },
    reject: false,
    timeout: PATIENCE_MS,
    stdin: 'ignore',
  })
const FLAGS = [
  '--profile',
  'demo',
  '--environments',
  DEMO_ENVIRONMENTS.join(','),
  '--examples',
  '150',
  '--seed',
  '3',
] as const
const synthesize = (out: string, ...more: string[]) => lab('synthesize', ...FLAGS, '--out', out, ...more)

const files = (out: string): string[] =>
  readdirSync(join(folder, out), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(join(folder, out).length + 1))
    .sort()

test('synthesize writes a data set that verifies, and does not overwrite it', async () => {
  const made = await synthesize('first')
  assert.is(made.exitCode, 0, made.stderr)
  assert.match(made.stderr, /150 of 150 examples/)
  assert.ok(files('first').includes('manifest.json'))
  assert.not(existsSync(join(folder, 'first.parts')))
  const verified = await lab('dataset', 'verify', 'first')
  assert.is(verified.exitCode, 0, verified.stderr)
  const shown = await lab('dataset', 'inspect', 'first/data/train.jsonl', '--index', '1')
  assert.match(shown.stdout, /user: /)
  const again = await synthesize('first')
  assert.is(again.exitCode, 1)
  assert.match(again.stderr, /already_there/)
})

test('a killed synthesis leaves no data set, and resumes to the same bytes', async () => {
  // The program reports the first batch when it is on disk. This module kills the process at the first report.
  const die = 'process.stderr.write=()=>process.kill(process.pid,9)'
  const killed = await execa(process.execPath, [program, 'synthesize', ...FLAGS, '--out', 'second', '--workers', '1'], {
    cwd: folder,
    env: { NO_COLOR: '1', FORCE_COLOR: undefined, NODE_OPTIONS: `--import=data:text/javascript,${die}` },
    reject: false,
    timeout: PATIENCE_MS,
    stdin: 'ignore',
  })
  assert.equal([killed.signal, killed.timedOut], ['SIGKILL', false])
  assert.not(existsSync(join(folder, 'second')))
  assert.ok(existsSync(join(folder, 'second.parts', '0-0.json')))
  const other = await lab('synthesize', ...FLAGS, '--out', 'second', '--seed', '4')
  assert.is(other.exitCode, 1)
  assert.match(other.stderr, /other_plan/)
  const resumed = await synthesize('second')
  assert.is(resumed.exitCode, 0, resumed.stderr)
  assert.equal(files('second'), files('first'))
  for (const file of files('first'))
    assert.ok(readFileSync(join(folder, 'first', file)).equals(readFileSync(join(folder, 'second', file))), file)
})

test('a missing or unsuitable paraphraser is reported in one line', async () => {
  const away = await lab('synthesize', '--examples', '2', '--out', 'third', '--paraphraser', 'http://127.0.0.1:9/v1')
  assert.is(away.exitCode, 1)
  assert.match(away.stderr.split('\n').at(-1)!, /^prove-lab: the language model's server does not list its models/)
  assert.not(existsSync(join(folder, 'third')))
  const plain = await synthesize('fourth', '--paraphraser', 'http://127.0.0.1:9/v1')
  assert.match(plain.stderr, /no_paraphraser/)
})

test('a coordinator does not start its run with another data set', async () => {
  const log = await openEventLog((await openDataFolder(join(folder, 'data'))).log)
  await openIdentity(join(folder, 'data'))
  await log.append(agreed({ dataset: { sha256: 'f'.repeat(64), tasks: 3 } }))
  await log.close()
  const model = join(checkout, 'models', 'demo', 'prove-demo-base-f16.gguf')
  const listen = ['/ip4/127.0.0.1/tcp/0']
  const run = { dataDir: 'data', listen, base: { path: model, name: 'demo' }, tasks: { dataset: 'first' } }
  await writeFile(join(folder, 'run.yaml'), JSON.stringify(run))
  const program = join(checkout, 'dist', 'coordinator', 'main.js')
  const started = await execa(process.execPath, [program, 'start', '--config', 'run.yaml'], {
    cwd: folder,
    reject: false,
    timeout: PATIENCE_MS,
    stdin: 'ignore',
  })
  assert.is(started.exitCode, 2, started.stderr)
  assert.match(started.stderr, /dataset\.sha256 was "f+" when the run started/)
  assert.match(started.stderr, /Name the data set that the run started with/)
})

test.run()
