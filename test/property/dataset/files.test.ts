import { createHash } from 'node:crypto'
import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, truncate, unlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { parse } from 'yaml'
import { z } from 'zod'
import type { Catalogue } from '../../../rollout/episode/index.js'
import { defineEnvironment, type Environment } from '../../../servers/kernel/index.js'
import type { Example } from '../../../tasks/dataset/example.js'
import {
  DatasetError,
  type Manifest,
  openDataset,
  RECORD_LIMITS,
  readExamples,
  recordOf,
  writeDataset,
} from '../../../tasks/dataset/index.js'
import { SPLITS } from '../../../tasks/dataset/profile.js'
import { catalogue, info, makeExamples, stream } from '../../support/dataset-examples.js'

const examples = makeExamples(15)
const test = suite('data set files')
let folder = ''
let manifest: Manifest

test.before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'prove-dataset-'))
  manifest = await writeDataset(join(folder, 'village'), stream(examples), info, catalogue)
})
test.after(() => rm(folder, { recursive: true, force: true }))

/** A data set of its own, to be damaged. */
let copies = 0
async function fresh(): Promise<string> {
  const path = join(folder, `copy-${copies++}`)
  await writeDataset(path, stream(examples), info, catalogue)
  return path
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

async function readAll(path: string, from: Catalogue = catalogue): Promise<Example[]> {
  const dataset = await openDataset(path, from)
  return (await Promise.all(SPLITS.map((split) => collect(dataset.examples(split))))).flat()
}

async function refusal(promise: Promise<unknown>): Promise<DatasetError> {
  try {
    await promise
  } catch (error) {
    assert.instance(error, DatasetError)
    return error as DatasetError
  }
  throw new Error('nothing was refused')
}

test('every example is read back in its split, in order', async () => {
  const dataset = await openDataset(join(folder, 'village'), catalogue)
  for (const split of SPLITS) {
    const expected = examples.filter((example) => example.split === split)
    assert.ok(expected.length > 0)
    assert.equal(await collect(dataset.examples(split)), expected)
    assert.is(dataset.manifest.counts[split].examples, expected.length)
  }
})

test('Parquet files contain the same records, scalars as columns and structures as JSON', async () => {
  for (const split of SPLITS) {
    const file = await asyncBufferFromFile(join(folder, 'village', 'data', `${split.replace('-', '_')}.parquet`))
    const rows = await parquetReadObjects({ file })
    const expected = examples.filter((example) => example.split === split).map((each) => recordOf(each, catalogue))
    assert.is(rows.length, expected.length)
    expected.forEach((record, i) => {
      const { schema, messages, metadata, ...others } = record
      const written = (value: unknown): unknown => (typeof value === 'object' ? JSON.stringify(value) : value)
      const cells = { ...rows[i]! }
      for (const [field, value] of Object.entries({ schema, messages, metadata, ...others })) {
        assert.ok(cells[field] === written(value), `row ${i}: ${field} is ${String(cells[field]).slice(0, 200)}`)
        delete cells[field]
      }
      assert.equal(cells, {
        information: metadata.information,
        recovery: metadata.recovery,
        user_turns: messages.filter(({ role }) => role === 'user').length,
        ground_truth_calls: record.ground_truth.length,
      })
    })
  }
})

test('the same examples give the same bytes', async () => {
  const again = join(folder, 'again')
  await writeDataset(again, stream(makeExamples(15)), info, catalogue)
  const files = ['manifest.json', ...manifest.files.map(({ path }) => path)]
  for (const file of files) {
    assert.ok((await readFile(join(again, file))).equals(await readFile(join(folder, 'village', file))), file)
  }
})

test('the manifest names every file with size and hash', async () => {
  const path = join(folder, 'village')
  const entries = await readdir(path, { recursive: true, withFileTypes: true })
  const found = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const named = manifest.files.map((file) => join(path, file.path))
  assert.equal([...named, join(path, 'manifest.json')].sort(), found.sort())
  for (const { path: file, size, sha256 } of manifest.files) {
    const bytes = await readFile(join(path, file))
    assert.equal([size, sha256], [bytes.length, createHash('sha256').update(bytes).digest('hex')], file)
  }
})

test('the card has the hub’s front matter and the correct counts', async () => {
  const card = await readFile(join(folder, 'village', 'README.md'), 'utf8')
  const [, front] = card.match(/^---\n([\s\S]*?)\n---\n/)!
  const meta = parse(front!) as { license: string; size_categories: string[]; configs: { data_files: unknown }[] }
  assert.is(meta.license, 'apache-2.0')
  assert.equal(meta.size_categories, ['n<1K'])
  assert.equal(meta.configs[0]!.data_files, [
    { split: 'train', path: 'data/train.parquet' },
    { split: 'validation', path: 'data/validation.parquet' },
    { split: 'held_out', path: 'data/held_out.parquet' },
  ])
  assert.match(card, /^# A village of tools\n\n15 conversations .* of 5\n/m)
  const train = examples.filter(({ split }) => split === 'train')
  const kinds = ['multi-turn', 'clarification', 'abstention'].map(
    (kind) => train.filter(({ task }) => task.kind === kind).length,
  )
  assert.match(card, new RegExp(`^\\| \`train\` \\| ${kinds.join(' \\| ')} \\| ${train.length} \\|$`, 'm'))
  const about = examples.filter(({ task }) => task.kind !== 'abstention')
  const distracted = about.filter(({ task }) => new Set(task.toolset.map(({ environment }) => environment)).size > 1)
  const share = ((100 * distracted.length) / about.length).toFixed(1)
  assert.match(card, new RegExp(`distractors of other environments \\| 40.0 % \\| ${share} %`))
  assert.match(card, /`no_walk` \| {2}\| 12 \|/)
  assert.match(card, /`duplicate` \| {2}\| 3 \|/)
  assert.match(card, /reference solution \| 15 \| 1.240 \| 100.0 %/)
  assert.match(card, /No tasks, tools or texts of BFCL or tau2-bench were used/)
  for (const [, image] of card.matchAll(/!\[[^\]]*\]\(([^)]*)\)/g)) {
    assert.match(await readFile(join(folder, 'village', image!), 'utf8'), /^<svg [\s\S]*<\/svg>\n$/)
  }
  const record = recordOf(examples[0]!, catalogue)
  for (const field of Object.keys(record).filter((name) => !['schema', 'split', 'strip_enums'].includes(name)))
    assert.ok(card.includes(`| \`${field}\` |`), `the card does not explain ${field}`)
})

test('coverage counts the examples of every tool and edge', async () => {
  const coverage = JSON.parse(await readFile(join(folder, 'village', 'coverage.json'), 'utf8')) as {
    tools: { tool: string; examples: Record<string, number> }[]
    edges: { from: string; to: string; examples: Record<string, number> }[]
  }
  const total = (counts: Record<string, number>): number => Object.values(counts).reduce((a, b) => a + b, 0)
  const sizes = [...catalogue.values()].map(({ tools }) => tools.length)
  assert.is(
    coverage.tools.length,
    sizes.reduce((a, b) => a + b, 0),
  )
  for (const { tool, examples: counts } of coverage.tools) {
    const [environment, name] = tool.split(':')
    const having = examples.filter(({ exchanges }) =>
      exchanges.some(({ calls }) =>
        calls.some((call) => call.truth !== null && `${call.environment}:${call.name}` === tool),
      ),
    )
    assert.is(total(counts), having.length, `${environment}:${name}`)
  }
  const edges = examples.flatMap(({ task }) =>
    task.groundTruth.flatMap(({ name, after }) => after.map((before) => [task.groundTruth[before]!.name, name])),
  )
  assert.ok(edges.length > 0)
  assert.is(
    coverage.edges.reduce((sum, edge) => sum + total(edge.examples), 0),
    edges.length,
  )
})

test('an error while writing leaves no files', async () => {
  const parent = join(folder, 'failing')
  await mkdir(parent)
  async function* failing(): AsyncGenerator<Example> {
    yield* examples.slice(0, 3)
    throw new RangeError('the well is dry')
  }
  try {
    await writeDataset(join(parent, 'set'), failing(), info, catalogue)
    assert.unreachable('the error was swallowed')
  } catch (error) {
    assert.instance(error, RangeError)
  }
  assert.equal(await readdir(parent), [])
})

test('an existing folder and examples out of order are rejected', async () => {
  const path = join(folder, 'village')
  assert.is((await refusal(writeDataset(path, stream(examples), info, catalogue))).code, 'already_there')
  const twice = writeDataset(join(folder, 'twice'), stream([examples[1]!, examples[1]!]), info, catalogue)
  assert.match((await refusal(twice)).message, /^bad_example: example 1, .* index is not greater than 1/)
})

test('a data set without examples is complete', async () => {
  const path = join(folder, 'empty')
  await writeDataset(path, stream<Example>([]), info, catalogue)
  assert.equal(await readAll(path), [])
  const file = await asyncBufferFromFile(join(path, 'data', 'train.parquet'))
  assert.equal(await parquetReadObjects({ file }), [])
})

test('large splits have several Parquet row groups', async () => {
  const path = join(folder, 'large')
  const [first] = examples.filter(({ split }) => split === 'train')
  const many = Array.from({ length: 1201 }, (_, index) => ({ ...first!, index }))
  await writeDataset(path, stream(many), info, catalogue)
  const file = await asyncBufferFromFile(join(path, 'data', 'train.parquet'))
  const rows = await parquetReadObjects({ file, columns: ['index', 'id'] })
  assert.equal(
    rows.map(({ index }) => index),
    many.map(({ index }) => index),
  )
})

const TRAIN = 'data/train.jsonl'

/** Damages of a folder. */
const DAMAGES: readonly (readonly [string, (path: string) => Promise<unknown>, string])[] = [
  ['a file is truncated', (path) => truncate(join(path, TRAIN), 5000), 'wrong_hash'],
  ['one byte is changed', (path) => flip(join(path, TRAIN), 5000), 'wrong_hash'],
  ['a line is added', (path) => appendFile(join(path, TRAIN), '{}\n'), 'wrong_hash'],
  ['a file is missing', (path) => unlink(join(path, TRAIN)), 'missing_file'],
  ['the manifest is missing', (path) => unlink(join(path, 'manifest.json')), 'missing_file'],
  ['the manifest is truncated', (path) => truncate(join(path, 'manifest.json'), 100), 'bad_manifest'],
  ['the manifest is huge', (path) => appendFile(join(path, 'manifest.json'), ' '.repeat(1 << 20)), 'bad_manifest'],
  ['the manifest is a list', (path) => writeFile(join(path, 'manifest.json'), '[]'), 'bad_manifest'],
  ['the manifest is null', (path) => writeFile(join(path, 'manifest.json'), 'null'), 'bad_manifest'],
  ['the manifest is of another version', (path) => edit(path, (it) => ({ ...it, schema: 3 })), 'other_schema'],
  ['the manifest names no file', (path) => edit(path, (it) => ({ ...it, files: [] })), 'bad_manifest'],
  ['the manifest counts wrongly', (path) => edit(path, miscounted), 'bad_manifest'],
  [
    'the tools had another hash',
    (path) => edit(path, (it) => ({ ...it, toolset_schema_sha256: 'a'.repeat(64) })),
    'other_tools',
  ],
  ['an environment is unknown', (path) => edit(path, (it) => ({ ...it, environments: ['atlantis'] })), 'other_tools'],
]

async function flip(path: string, at: number): Promise<void> {
  const bytes = await readFile(path)
  bytes[at] = bytes[at]! ^ 1
  await writeFile(path, bytes)
}

async function edit(path: string, change: (manifest: Manifest) => unknown): Promise<void> {
  const file = join(path, 'manifest.json')
  await writeFile(file, JSON.stringify(change(JSON.parse(await readFile(file, 'utf8')) as Manifest)))
}

const miscounted = (it: Manifest): unknown => ({
  ...it,
  counts: { ...it.counts, train: { ...it.counts.train, examples: 99 } },
})

for (const [what, damage, code] of DAMAGES) {
  test(`a data set is rejected when ${what}`, async () => {
    const path = await fresh()
    await damage(path)
    const error = await refusal(readAll(path))
    assert.is(error.code, code, error.message)
    assert.ok(error.message.includes(path), `${error.message} does not say which data set`)
  })
}

test('a data set is rejected when an environment offers a tool with another schema', async () => {
  const banking = catalogue.get('banking')!
  const tools = banking.tools.map((tool) =>
    tool.name === 'get_balance' ? { ...tool, input: tool.input.extend({ currency: z.string().optional() }) } : tool,
  )
  const changed = defineEnvironment({ ...banking, tools } as Parameters<typeof defineEnvironment>[0])
  const others = new Map<string, Environment>([...catalogue, ['banking', changed]])
  assert.is((await refusal(readAll(join(folder, 'village'), others))).code, 'other_tools')
})

test('only the requested splits are checked', async () => {
  const path = await fresh()
  await unlink(join(path, TRAIN))
  const dataset = await openDataset(path, catalogue, { splits: ['held-out'] })
  assert.ok((await collect(dataset.examples('held-out'))).length > 0)
  assert.throws(() => dataset.examples('train'), RangeError)
})

/** What may be wrong with a file of records that no manifest speaks for. */
const CONTENTS: readonly (readonly [string, string | Uint8Array, string, RegExp])[] = [
  ['whose last line has no end', '{"schema":2}', 'truncated_file', /line 1/],
  ['with an empty line', '\n', 'damaged_record', /line 1/],
  ['of something else', 'Dear reader,\n', 'damaged_record', /line 1/],
  ['that is not UTF-8', Buffer.from([0xff, 0xfe, 0x0a]), 'damaged_record', /line 1: not UTF-8/],
  ['with a line without end', 'x'.repeat(RECORD_LIMITS.lineBytes + 1), 'line_too_long', /line 1/],
  ['with a line that is too long', `${'x'.repeat(RECORD_LIMITS.lineBytes)}\n`, 'line_too_long', /line 1/],
]

for (const [what, content, code, message] of CONTENTS) {
  test(`a file ${what} is refused`, async () => {
    const path = join(folder, 'strange.jsonl')
    await writeFile(path, content)
    const error = await refusal(collect(readExamples(path)))
    assert.is(error.code, code)
    assert.match(error.message, message)
    assert.match(error.message, /strange\.jsonl/)
  })
}

test('a damaged line is reported by its number after the earlier lines were read', async () => {
  const path = join(await fresh(), TRAIN)
  const lines = (await readFile(path, 'utf8')).split('\n')
  lines[2] = lines[2]!.replace('"user"', '"usher"')
  await writeFile(path, lines.join('\n'))
  const seen: number[] = []
  const reading = (async () => {
    for await (const { line } of readExamples(path)) seen.push(line.number)
  })()
  assert.match((await refusal(reading)).message, /^damaged_record: train\.jsonl, line 3: /)
  assert.equal(seen, [1, 2])
})

test('a missing file or a folder gives missing_file', async () => {
  assert.is((await refusal(collect(readExamples(join(folder, 'nowhere.jsonl'))))).code, 'missing_file')
  assert.is((await refusal(collect(readExamples(folder)))).code, 'missing_file')
})

test.run()
