import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Example } from '../../../tasks/dataset/example.js'
import {
  DatasetError,
  exampleOfRecord,
  lineOf,
  messagesOf,
  parseRecord,
  RECORD_LIMITS,
  recordOf,
  toolSchemasOf,
} from '../../../tasks/dataset/index.js'
import { catalogue, makeExamples } from '../../support/dataset-examples.js'

const examples = makeExamples(20)
const lines = examples.map((example) => lineOf(recordOf(example, catalogue)))
const read = (line: string): Example => exampleOfRecord(parseRecord(line, 'a file, line 1'), 'a file, line 1')
const withCalls = examples.findIndex(({ recovery }) => recovery !== null)

test('a record gives back its example exactly', () => {
  examples.forEach((example, i) => {
    assert.equal(read(lines[i]!), example)
    assert.is(lineOf(recordOf(read(lines[i]!), catalogue)), lines[i])
  })
})

test('a record is one line for every reader, for any user text', () => {
  assert.ok(examples.some(({ task }) => task.turns.some((turn) => turn.includes('\u2028'))))
  for (const line of lines) assert.not.match(line, /[\n\r\u0085\u2028\u2029]/)
})

test('messages have OpenAI’s form, with a result for every call', () => {
  const example = examples.find(({ task }) => task.system !== undefined)!
  const messages = messagesOf(example, catalogue)
  assert.equal(messages[0], { role: 'system', content: example.task.system })
  assert.equal(
    messages.filter(({ role }) => role === 'user').map(({ content }) => content),
    example.task.turns,
  )
  const calls = messages.flatMap((message) => ('tool_calls' in message ? message.tool_calls : []))
  const answers = messages.flatMap((message) => (message.role === 'tool' ? [message] : []))
  const made = example.exchanges.flatMap((exchange) => exchange.calls)
  assert.ok(made.length > 1)
  assert.equal(
    calls,
    made.map((call, i) => ({
      id: `call_${i}`,
      type: 'function',
      function: { name: call.name, arguments: JSON.stringify(call.arguments) },
    })),
  )
  assert.equal(
    answers,
    made.map(({ response }, i) => ({ role: 'tool', tool_call_id: `call_${i}`, content: response })),
  )
  assert.equal(messages.at(-1), { role: 'assistant', content: example.exchanges.at(-1)!.assistant })
})

test('tools are written as offered, without enum values where the task omits them', () => {
  const hasEnums = (example: Example): boolean => /"enum":\[/.test(JSON.stringify(toolSchemasOf(example, catalogue)))
  const { task } = examples.find((example) => hasEnums(example) && example.task.stripEnums === undefined)!
  assert.ok(task)
  const stripped = examples.filter((example) => example.task.stripEnums)
  assert.ok(stripped.length > 0)
  for (const example of stripped) assert.not.ok(hasEnums(example))
  const [schema] = toolSchemasOf(examples[0]!, catalogue)
  assert.equal(Object.keys(schema!), ['type', 'function'])
  assert.equal(Object.keys(schema!.function), ['name', 'description', 'parameters'])
})

test('an example with exchanges that differ from its task is rejected', () => {
  const example = examples[withCalls]!
  const exchanges = example.exchanges.map((exchange) => ({ ...exchange, user: 'Something else.' }))
  assert.throws(() => recordOf({ ...example, exchanges }, catalogue), isError('bad_example', /user turns/))
  assert.throws(() => recordOf({ ...example, origins: [] }, catalogue), isError('bad_example', /origins/))
})

const isError =
  (code: string, message: RegExp) =>
  (error: unknown): boolean =>
    error instanceof DatasetError && error.code === code && message.test(error.message)

type Loose = Record<string, unknown> & {
  messages: Record<string, unknown>[]
  calls: Record<string, unknown>[]
  ground_truth: Record<string, unknown>[]
  metadata: { origins: Record<string, unknown>[] } & Record<string, unknown>
  toolset: unknown[]
  environments: Record<string, unknown>[]
}

/** Damages of a record with the expected messages. */
const DAMAGES: readonly (readonly [string, (record: Loose) => unknown, RegExp])[] = [
  ['a field is missing', (record) => delete record.chain, /chain/],
  ['a field is unknown', (record) => (record.mood = 'fine'), /mood/],
  ['the id is malformed', (record) => (record.id = 'abc'), /id/],
  ['a user turn is changed', (record) => (firstOf(record, 'user').content = 'Hello.'), /does not have the id/],
  ['an environment has another seed', (record) => (record.environments[0]!.seed = 4), /does not have the id/],
  ['a tool is removed', (record) => record.toolset.pop(), /does not have the id/],
  ['strip_enums is changed', (record) => (record.strip_enums = !record.strip_enums), /does not have the id/],
  ['a ground-truth value is changed', (record) => (record.ground_truth[0]!.arguments = '{"a":1}'), /have the id/],
  ['arguments are not JSON', (record) => (record.ground_truth[0]!.arguments = '{"a":'), /not JSON/],
  ['arguments are a list', (record) => (record.ground_truth[0]!.arguments = '[]'), /not an object/],
  [
    'arguments are nested too deeply',
    (record) => (record.ground_truth[0]!.arguments = `{"a":${'['.repeat(5000)}${']'.repeat(5000)}}`),
    /levels/,
  ],
  ['a message is missing', (record) => record.messages.splice(1, 1), /message/],
  ['the last answer is missing', (record) => record.messages.pop(), /message/],
  [
    'a response is missing',
    (record) => record.messages.splice(record.messages.indexOf(firstOf(record, 'tool')), 1),
    /message/,
  ],
  ['messages are reversed', (record) => record.messages.reverse(), /message/],
  ['a response belongs to another call', (record) => (firstOf(record, 'tool').tool_call_id = 'call_9'), /message/],
  ['an additional call is described', (record) => record.calls.push(record.calls[0]!), /make \d+ calls/],
  ['a call is not described', (record) => record.calls.pop(), /message/],
  ['a call names an unknown ground-truth call', (record) => (record.calls.at(-1)!.truth = 12), /no such ground truth/],
  ['an origin names an unknown call', (record) => (record.metadata.origins[0]!.call = 9), /call 9/],
  ['an argument has two origins', (record) => record.metadata.origins.push(record.metadata.origins[0]!), /two origins/],
  ['an origin has no place', (record) => (record.metadata.origins[0]!.at = null), /no place/],
]

const firstOf = (record: Loose, role: string): Record<string, unknown> =>
  record.messages.find((message) => message.role === role)!

for (const [what, damage, message] of DAMAGES) {
  test(`a record is rejected when ${what}`, () => {
    const record = JSON.parse(lines[withCalls]!) as Loose
    damage(record)
    assert.throws(() => read(JSON.stringify(record)), isError('damaged_record', message))
    assert.throws(() => read(JSON.stringify(record)), /a file, line 1.*make the data set again/)
  })
}

test('a record of another version is rejected as such, also with an unknown shape', () => {
  assert.throws(() => read('{"schema":3,"novel":true}'), isError('other_schema', /version 3 .* reads 2/))
})

test('no line crashes the reader', () => {
  const mutated = fc
    .tuple(fc.constantFrom(...lines), fc.nat(), fc.nat({ max: 255 }), fc.constantFrom('flip', 'cut', 'insert'))
    .map(([line, place, byte, how]) => {
      const at = place % line.length
      const rest = how === 'cut' ? '' : line.slice(how === 'flip' ? at + 1 : at)
      return line.slice(0, at) + (how === 'cut' ? '' : String.fromCharCode(byte)) + rest
    })
  const reshaped = fc
    .tuple(fc.constantFrom(...lines), fc.constantFrom(...Object.keys(JSON.parse(lines[0]!))), fc.jsonValue())
    .map(([line, field, value]) => JSON.stringify({ ...JSON.parse(line), [field]: value }))
  const anything = fc.oneof(fc.string(), fc.json(), mutated, reshaped)
  fc.assert(
    fc.property(anything, (line) => {
      let example: Example
      try {
        example = read(line)
      } catch (error) {
        assert.instance(error, DatasetError)
        assert.ok((error as Error).message.length < 1000)
        return
      }
      // What is read in spite of a change is still a whole example.
      assert.equal(read(lineOf(recordOf(example, catalogue))), example)
    }),
    { numRuns: 600, seed: 11 },
  )
})

test('records stay far below the limits', () => {
  for (const line of lines) assert.ok(Buffer.byteLength(line) * 10 < RECORD_LIMITS.lineBytes)
})

test.run()
