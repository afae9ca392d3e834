import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { lineOf, recordOf, writeDataset } from '../../tasks/dataset/index.js'
import { checkout } from '../support/checkout.js'
import { catalogue, info, makeExamples, stream } from '../support/dataset-examples.js'
import { PATIENCE_MS } from '../support/patience.js'

const examples = makeExamples(15)
const test = suite('prove-lab dataset')
let folder = ''
let train = ''

test.before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'prove-dataset-command-'))
  await writeDataset(join(folder, 'village'), stream(examples), info, catalogue)
  train = join(folder, 'village', 'data', 'train.jsonl')
})
test.after(() => rm(folder, { recursive: true, force: true }))

interface Ended {
  readonly code: number | undefined
  readonly stdout: string
  readonly stderr: string
}

async function dataset(...args: string[]): Promise<Ended> {
  const result = await execa(process.execPath, [join(checkout, 'dist/lab/main.js'), 'dataset', ...args], {
    // uvu sets FORCE_COLOR, and Node warns of the contradiction on stderr.
    env: { NO_COLOR: '1', FORCE_COLOR: undefined },
    reject: false,
    timeout: PATIENCE_MS,
    stdin: 'ignore',
  })
  assert.not.ok(result.timedOut, `${args.join(' ')} did not end`)
  assert.not.match(result.stderr, /^\s+at .+:\d+/m)
  return { code: result.exitCode, stdout: result.stdout, stderr: result.stderr }
}

test('verify replays a folder or a file and exits with status 0', async () => {
  const all = await dataset('verify', join(folder, 'village'))
  assert.equal([all.code, all.stderr], [0, ''])
  assert.match(all.stdout, /^15 examples with \d+ calls/)
  const one = await dataset('verify', train)
  assert.is(one.code, 0)
  assert.match(one.stdout, new RegExp(`^${examples.filter(({ split }) => split === 'train').length} examples`))
})

test('verify exits with status 1 at the first example that does not reproduce, and names it', async () => {
  const path = join(folder, 'changed.jsonl')
  const line = lineOf(recordOf(examples[2]!, catalogue))
  await writeFile(path, `${line}\n${line.replace('"content":"{', '"content":"{ ')}\n`)
  const { code, stdout, stderr } = await dataset('verify', path)
  assert.equal([code, stdout], [1, ''])
  const { id } = examples[2]!.task
  assert.match(stderr, new RegExp(`^prove-lab: other_response: changed\\.jsonl, line 2: task ${id}: call 0`))
})

/** Unreadable data sets, and wrong commands. */
const REFUSED: readonly (readonly [string, () => Promise<string[]>, RegExp, status?: 2])[] = [
  ['a missing path', async () => ['verify', join(folder, 'nowhere')], /missing_file/],
  ['a folder without a data set', async () => ['verify', folder], /missing_file: .*manifest\.json/],
  [
    'a truncated file',
    async () => {
      const path = join(folder, 'cut.jsonl')
      await writeFile(path, (await readFile(train)).subarray(0, 20_000))
      return ['verify', path]
    },
    /truncated_file: cut\.jsonl, line \d+/,
  ],
  ['a file that is no data set', async () => ['inspect', join(checkout, 'package.json')], /damaged_record/],
  ['an unknown example', async () => ['inspect', train, '--index', '99'], /no_such_example/],
  [
    'two options that exclude each other',
    async () => ['inspect', train, '--index', '1', '--task', 'a'],
    /both --task and --index/,
    2,
  ],
  ['no path', async () => ['verify'], /missing required argument/, 2],
  ['an unknown command', async () => ['admire', train], /unknown command/, 2],
]

for (const [what, args, message, status = 1] of REFUSED) {
  test(`${what} exits with status ${status}`, async () => {
    const { code, stdout, stderr } = await dataset(...(await args()))
    assert.equal([code, stdout], [status, ''], stderr)
    assert.match(stderr, message)
    assert.is(stderr.trim().split('\n').length, 1, stderr)
  })
}

test('inspect shows statistics of a file, or one example by index or task', async () => {
  const overview = await dataset('inspect', train)
  assert.equal([overview.code, overview.stderr], [0, ''])
  assert.match(overview.stdout, /train +│/)
  const { index, task } = examples.find(({ split }) => split === 'train')!
  const byIndex = await dataset('inspect', train, '--index', String(index))
  assert.match(byIndex.stdout, new RegExp(`task ${task.id}`))
  assert.is((await dataset('inspect', train, '--task', task.id.slice(0, 12))).stdout, byIndex.stdout)
})

test('help exits with status 0', async () => {
  const { code, stdout } = await dataset('verify', '--help')
  assert.is(code, 0)
  assert.match(stdout, /Replay every example/)
})

test.run()
