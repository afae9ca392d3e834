import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { nameTask, type Task } from '../../../rollout/episode/index.js'
import { createSeedStateCache, defineEnvironment, type Environment } from '../../../servers/kernel/index.js'
import type { Example, ReferenceCall } from '../../../tasks/dataset/example.js'
import {
  ExampleMismatch,
  lineOf,
  openDataset,
  recordOf,
  renderExample,
  renderOverview,
  verifyDataset,
  verifyExample,
  verifyFile,
  writeDataset,
} from '../../../tasks/dataset/index.js'
import { catalogue, info, makeExamples, seedStates, stream } from '../../support/dataset-examples.js'

const examples = makeExamples(15)
const { signal } = new AbortController()
const test = suite('verifying a data set')
let folder = ''

test.before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'prove-verify-'))
})
test.after(() => rm(folder, { recursive: true, force: true }))

async function mismatch(promise: Promise<unknown>): Promise<ExampleMismatch> {
  try {
    await promise
  } catch (error) {
    assert.instance(error, ExampleMismatch)
    return error as ExampleMismatch
  }
  throw new Error('everything came out as it was')
}

const recovered = examples.find(({ recovery }) => recovery !== null)!
const silent = examples.find(({ task }) => task.groundTruth.length === 0)!

/** The example with one of its calls changed. */
function withCall(example: Example, number: number, change: (call: ReferenceCall) => Partial<ReferenceCall>): Example {
  let at = 0
  const changed = (call: ReferenceCall): ReferenceCall => (at++ === number ? { ...call, ...change(call) } : call)
  return {
    ...example,
    exchanges: example.exchanges.map((exchange) => ({ ...exchange, calls: exchange.calls.map(changed) })),
  }
}

/** The example with another last answer. */
const withAnswer = (example: Example, assistant: string): Example => ({
  ...example,
  exchanges: example.exchanges.with(-1, { ...example.exchanges.at(-1)!, assistant }),
})

/** The example with another task, under that task's name. */
function withTask(example: Example, change: Partial<Task>): Example {
  const { id, ...body } = { ...example.task, ...change }
  return { ...example, task: nameTask(body) }
}

test('every example verifies, in any order', async () => {
  for (const example of [...examples].reverse()) await verifyExample(example, catalogue, seedStates, signal)
})

test('a whole data set verifies', async () => {
  const path = join(folder, 'village')
  await writeDataset(path, stream(examples), info, catalogue)
  const calls = examples.flatMap(({ exchanges }) => exchanges.flatMap((exchange) => exchange.calls))
  const dataset = await openDataset(path, catalogue)
  assert.equal(await verifyDataset(dataset, catalogue, seedStates, signal), { examples: 15, calls: calls.length })
})

/** Changes of an example with the expected code and message. */
const CHANGES: readonly (readonly [string, Example, string, RegExp])[] = [
  [
    'one character of a response is changed',
    withCall(recovered, 1, ({ response }) => ({ response: response.replace(/[a-z]/, 'é') })),
    'other_response',
    /call 1, .* from character \d+ on, expected/,
  ],
  [
    'the message of a failure is changed',
    withCall(recovered, 0, ({ response }) => ({ response: response.replace('"message":"', '"message":"Well. ') })),
    'other_response',
    /call 0, /,
  ],
  [
    'an answer contains a number without a source',
    withAnswer(recovered, 'Done, for 987654.'),
    'other_words',
    /n987654/,
  ],
  ['an answer is empty', withAnswer(recovered, '…'), 'other_words', /state 50 %/],
  [
    'a required fact is in no result',
    withTask(recovered, { facts: [{ turn: 0, value: 'nothing that was said' }] }),
    'other_reward',
    /outcome: the ground truth gets 0\.75/,
  ],
  [
    'an environment has another seed',
    withTask(recovered, { environments: recovered.task.environments.map(elsewhere) }),
    'other_response',
    /./,
  ],
  [
    'a failed call is marked as ground truth',
    withCall(recovered, 0, () => ({ truth: 0 })),
    'other_ground_truth',
    /failed and is part/,
  ],
  [
    'a successful call is not marked as ground truth',
    withCall(recovered, 1, () => ({ truth: null })),
    'other_ground_truth',
    /succeeded and is not part/,
  ],
  [
    'calls are in another order',
    withCall(recovered, 1, () => ({ truth: 1 })),
    'other_ground_truth',
    /call 1 has position/,
  ],
  [
    'the ground truth has another value',
    withTask(recovered, {
      groundTruth: recovered.task.groundTruth.map((call, i) => (i === 0 ? { ...call, arguments: {} } : call)),
    }),
    'other_ground_truth',
    /call 0: from character/,
  ],
  [
    'a call belongs to another turn',
    withTask(recovered, { groundTruth: recovered.task.groundTruth.map((call) => ({ ...call, turn: 0 })) }),
    'other_ground_truth',
    /belongs to turn 0/,
  ],
  [
    'a ground-truth call is missing',
    withTask(recovered, { groundTruth: [...recovered.task.groundTruth, recovered.task.groundTruth[0]!] }),
    'other_ground_truth',
    /has \d+ of \d+ ground-truth calls/,
  ],
  [
    'a call must come after a later one',
    withTask(recovered, { groundTruth: recovered.task.groundTruth.map((call) => ({ ...call, after: [5] })) }),
    'bad_task',
    /forward_edge/,
  ],
  [
    'a tool of the ground truth is not offered',
    withTask(recovered, {
      toolset: recovered.task.toolset.filter(({ tool }) => tool !== recovered.task.groundTruth[0]!.name),
    }),
    'bad_task',
    /does not offer/,
  ],
  [
    'a tool does not exist',
    withTask(silent, { toolset: [{ environment: silent.task.toolset[0]!.environment, tool: 'fly' }] }),
    'bad_task',
    /fly/,
  ],
  [
    'the user says something else',
    { ...silent, exchanges: silent.exchanges.map((exchange) => ({ ...exchange, user: 'Hello.' })) },
    'other_turns',
    /turn 0/,
  ],
  [
    'the answer does not ask for a missing value',
    withTask(silent, { questions: [{ turn: 0, words: ['colour of the moon'] }] }),
    'not_asked',
    /turn 0/,
  ],
  ['a turn is missing', { ...silent, exchanges: [] }, 'other_turns', /0 exchanges for 1/],
]

function elsewhere<W extends { readonly seed: number }>(environment: W): W {
  return { ...environment, seed: environment.seed + 1000 }
}

for (const [what, example, code, message] of CHANGES) {
  test(`an example does not verify when ${what}`, async () => {
    const error = await mismatch(verifyExample(example, catalogue, seedStates, signal))
    assert.is(error.code, code, error.message)
    assert.match(error.message, message)
    assert.is(error.task, example.task.id)
  })
}

test('an example does not verify when an environment answers differently', async () => {
  const [used] = recovered.task.environments
  const environment = catalogue.get(used!.environment)!
  const { name } = recovered.task.groundTruth[0]!
  const tools = environment.tools.map((tool) =>
    tool.name === name
      ? {
          ...tool,
          run: (...input: Parameters<typeof tool.run>) => input[1].fail(Object.keys(environment.failures)[0]!),
        }
      : tool,
  )
  const changed = defineEnvironment({ ...environment, tools } as Parameters<typeof defineEnvironment>[0])
  const others = new Map<string, Environment>([...catalogue, [environment.name, changed]])
  const error = await mismatch(verifyExample(recovered, others, createSeedStateCache(4), signal))
  assert.is(error.code, 'other_response')
})

test('verification of a file stops at the first mismatch and names the example', async () => {
  const path = join(folder, 'third.jsonl')
  const wrong = withCall(recovered, 0, ({ response }) => ({ response: `${response} ` }))
  const lines = [examples[1]!, examples[2]!, wrong, examples[3]!].map((example) => lineOf(recordOf(example, catalogue)))
  await writeFile(path, lines.map((line) => `${line}\n`).join(''))
  const error = await mismatch(verifyFile(path, catalogue, seedStates, signal))
  assert.is(error.where, 'third.jsonl, line 3')
  assert.match(error.message, new RegExp(`^other_response: third\\.jsonl, line 3: task ${recovered.task.id}: call 0`))
})

test('a record with other tools than offered does not verify', async () => {
  const path = join(folder, 'tools.jsonl')
  const line = lineOf(recordOf(silent, catalogue))
  await writeFile(path, `${line.replace('"description":"', '"description":"Very nice: ')}\n`)
  assert.is((await mismatch(verifyFile(path, catalogue, seedStates, signal))).code, 'other_record')
  await writeFile(path, `${line.replace('{"schema":2,', '{ "schema":2,')}\n`)
  assert.is((await mismatch(verifyFile(path, catalogue, seedStates, signal))).code, 'other_record')
})

test('an example is printed with its calls, the origins of their values, and the offered tools', () => {
  const distracted = examples.find(
    ({ task, recovery }) => recovery !== null && new Set(task.toolset.map(({ environment }) => environment)).size > 1,
  )!
  const text = renderExample(distracted)
  const [own, other] = distracted.task.environments.map(({ environment }) => environment)
  assert.match(text, new RegExp(`task ${distracted.task.id}`))
  for (const turn of ['Please do', 'And now the rest']) assert.match(text, new RegExp(`^user: ${turn}`, 'm'))
  assert.match(text, /^ {2}call 0 \(failed\): .*no-such-thing-404/m)
  assert.match(text, new RegExp(`^ {2}call 1 \\(ground truth 0\\): ${own}:`, 'm'))
  assert.match(text, /^ {4}\w+ is from user turn 0: /m)
  assert.match(text, new RegExp(`^ {2}\\* ${own}:`, 'm'))
  assert.match(text, new RegExp(`^ {2}- ${other}:`, 'm'))
  assert.is(text.match(/^ {2}- /gm)!.length, 4)
})

test('a message of several lines keeps its indentation', () => {
  const assistant = 'projects has 2 directories:\n docs/ (3)\n  drafts/ (0).'
  const text = renderExample({ ...silent, exchanges: silent.exchanges.map((exchange) => ({ ...exchange, assistant })) })
  assert.match(text, /^assistant: projects has 2 directories:\n {12}docs\/ \(3\)\n {13}drafts\/ \(0\)\.$/m)
})

test('control characters of a file do not reach the terminal', () => {
  const user = 'Hi \u001b[31mred\u001b]0;title\u0007 \u202egnirts'
  const hostile = { ...silent, exchanges: silent.exchanges.map((exchange) => ({ ...exchange, user })) }
  const text = renderExample(hostile)
  assert.match(text, /Hi \\u001b\[31mred/)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
  assert.not.match(text, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/)
})

test('the overview of a file counts kinds, chain lengths and environments', async () => {
  const text = await renderOverview(stream(examples))
  const train = examples.filter(({ split }) => split === 'train')
  assert.match(text, new RegExp(`train +│.*│ +${train.length} │`))
  const about = examples.filter(({ task }) => task.kind !== 'abstention')
  const { length } = about.filter(({ task }) => task.chain.startsWith('banking:'))
  assert.match(text, new RegExp(`banking +│ +${length} │ +${((100 * length) / about.length).toFixed(1)} %`))
})

test.run()
