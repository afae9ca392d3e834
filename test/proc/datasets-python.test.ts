// needs: python

import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { writeDataset } from '../../tasks/dataset/index.js'
import { checkout } from '../support/checkout.js'
import { catalogue, info, makeExamples, stream } from '../support/dataset-examples.js'
import { PATIENCE_MS } from '../support/patience.js'

/** Enough without calls that the first of the loader's blocks has none: their structures, and texts for `null`, appear in a later block. */
const [WITHOUT_CALLS, WITH_CALLS] = [2400, 300]
const BLOCK_BYTES = 10 << 20
const python = join(checkout, '.venv', 'bin', 'python')
const test = suite('a written data set in Hugging Face datasets')

interface Loaded {
  readonly splits: Record<string, { expected: string; parquet: string; lines: string; rows: number[] }>
  readonly card_lines: string
  readonly every_line: number
  /** Whether the card, the loaded data and the files agree on the types. */
  readonly declared: boolean
  readonly columns: string[]
  readonly snippets: number
  readonly trl_rows: number
  readonly trl_calls: number
  readonly trl_calls_with_objects: number
  readonly trl_tools: string
  readonly expected_tools: string
}

let folder = ''
let loaded: Loaded
const made = makeExamples(60)
const repeated = (few: typeof made, count: number) => Array.from({ length: count }, (_, i) => few[i % few.length]!)
const examples = [
  ...repeated(
    made.filter(({ task }) => task.groundTruth.length === 0),
    WITHOUT_CALLS,
  ),
  ...repeated(
    made.filter(({ task }) => task.groundTruth.length > 0),
    WITH_CALLS,
  ),
].map((example, index) => ({ ...example, index }))

test.before(async () => {
  assert.ok(existsSync(python), 'the Python packages are missing: run node scripts/setup.mjs --tests')
  folder = await mkdtemp(join(tmpdir(), 'prove-datasets-'))
  await writeDataset(join(folder, 'village'), stream(examples), info, catalogue)
  const train = await readFile(join(folder, 'village', 'data', 'train.jsonl'), 'utf8')
  assert.ok(train.indexOf('"tool_calls"') > BLOCK_BYTES)
  const { stdout } = await execa(python, [join(checkout, 'test', 'proc', 'load_dataset.py')], {
    input: JSON.stringify({ folder: join(folder, 'village'), cache: join(folder, 'cache') }),
    timeout: PATIENCE_MS,
  })
  loaded = JSON.parse(stdout) as Loaded
})
test.after(() => rm(folder, { recursive: true, force: true }))

test('`datasets` loads the Parquet files that the card names, with the contents of the JSON lines', () => {
  for (const [name, split] of Object.entries(loaded.splits)) {
    const count = examples.filter((example) => example.split.replace('-', '_') === name).length
    assert.equal(split.rows, [count, count, count], name)
    assert.is(split.parquet, split.expected, `${name}: the Parquet file holds something else`)
  }
  for (const column of ['index', 'kind', 'information', 'recovery', 'user_turns', 'ground_truth_calls'])
    assert.ok(loaded.columns.includes(column), column)
  assert.ok(loaded.declared)
})

test('with the types of the card `datasets` loads the JSON lines, also those that are empty in the first block', () => {
  for (const [name, split] of Object.entries(loaded.splits))
    assert.is(split.lines, split.expected, `${name}: what is loaded differs from the file`)
  assert.is(loaded.card_lines, loaded.splits.train!.expected)
  assert.is(loaded.every_line, examples.length)
})

test('the card’s snippets convert the data for TRL', () => {
  const train = examples.filter(({ split }) => split === 'train')
  assert.is(loaded.snippets, 3)
  assert.is(loaded.trl_rows, train.length)
  const calls = train.flatMap(({ exchanges }) => exchanges.flatMap((exchange) => exchange.calls))
  assert.equal([loaded.trl_calls, loaded.trl_calls_with_objects], [calls.length, calls.length])
  assert.is(loaded.trl_tools, loaded.expected_tools)
})

test.run()
