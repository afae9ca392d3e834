import * as fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { groupBody, LIMITS } from '../../../proto/index.js'
import { CALL_LIMITS, type Rollout, toolCallFormatNamed } from '../../../rollout/episode/index.js'
import { anyJson } from '../../support/reward-generators.js'
import { bodyOf, lendingTask, play, runtimeOf } from '../../support/scripted.js'

const { parseCalls, prose, toolResults, userTurn, writeCall } = toolCallFormatNamed('hermes')
const RUNS = { numRuns: 250, seed: 20260302 }
const block = (inside: string): string => `<tool_call>${inside}</tool_call>`

const MALFORMED: readonly (readonly [string, string])[] = [
  ['nothing', ''],
  ['only blanks', ' \n '],
  ['text that is not JSON', 'pay 5'],
  ['JSON that breaks off', '{"name":"pay","arguments":{"amount":5}'],
  ['a brace too many', '{"name":"pay","arguments":{}}}'],
  ['a trailing comma', '{"name":"pay",}'],
  ['single quotes', "{'name':'pay'}"],
  ['two values', '{"name":"pay"} {"name":"pay"}'],
  ['a comment', '{"name":"pay"} // now'],
  ['a fence around the JSON', '```json\n{"name":"pay"}\n```'],
  ['an array', '[{"name":"pay"}]'],
  ['a string', '"pay"'],
  ['a number', '5'],
  ['null', 'null'],
  ['true', 'true'],
  ['no name', '{"arguments":{}}'],
  ['an empty name', '{"name":""}'],
  ['a name that is a number', '{"name":5}'],
  ['a name that is null', '{"name":null}'],
  ['a name that is a list', '{"name":["pay"]}'],
  ['a name only by inheritance', '{"__proto__":{"name":"pay"}}'],
  ['a function in place of a name', '{"function":"pay","arguments":{}}'],
  ['arguments that are a JSON string', '{"name":"pay","arguments":"{\\"amount\\":5}"}'],
  ['arguments that are null', '{"name":"pay","arguments":null}'],
  ['arguments that are a list', '{"name":"pay","arguments":[]}'],
  ['arguments that are a number', '{"name":"pay","arguments":5}'],
  ['arguments that are false', '{"name":"pay","arguments":false}'],
]
for (const [what, inside] of MALFORMED) {
  test(`a block with ${what} is malformed`, () => {
    assert.equal(parseCalls(block(inside)), [{ malformed: true, raw: `<tool_call>${inside}` }])
  })
}

test('a block that is not closed is malformed, whatever it holds', () => {
  const inside = '{"name":"pay","arguments":{}}'
  assert.equal(parseCalls(`<tool_call>${inside}`), [{ malformed: true, raw: `<tool_call>${inside}` }])
  assert.equal(parseCalls(`<tool_call>${inside}</tool_cal`), [
    { malformed: true, raw: `<tool_call>${inside}</tool_cal` },
  ])
  assert.equal(parseCalls('<tool_call>'), [{ malformed: true, raw: '<tool_call>' }])
  const [first, second] = parseCalls(`<tool_call>${inside}${block(inside)}`)
  assert.is(first!.malformed, true)
  assert.equal(second, { name: 'pay', arguments: {} })
})

test('a message without an opening tag holds no call', () => {
  for (const message of ['', 'Done.', '{"name":"pay"}', '</tool_call>', '<tool_call', '<TOOL_CALL>{}</TOOL_CALL>']) {
    assert.equal(parseCalls(message), [], message)
  }
})

test('calls come in the order of their blocks, with what stands around them passed over', () => {
  const message = `I will pay. ${block('{"name":"pay","arguments":{"amount":5}}')} and ${block('oops')}\n${block('\n{"name":"open"}\n')}!`
  assert.equal(parseCalls(message), [
    { name: 'pay', arguments: { amount: 5 } },
    { malformed: true, raw: '<tool_call>oops' },
    { name: 'open', arguments: {} },
  ])
})

test('absent arguments mean none, other keys are passed over, and the last of a repeated key counts', () => {
  assert.equal(parseCalls(block('{"name":"open"}')), [{ name: 'open', arguments: {} }])
  assert.equal(parseCalls(block('{"id":7,"name":"open","arguments":{"a":1,"a":2}}')), [
    { name: 'open', arguments: { a: 2 } },
  ])
  assert.equal(parseCalls(block('{"name":"a","name":"b"}')), [{ name: 'b', arguments: {} }])
})

test('an argument called __proto__ is an argument and no prototype', () => {
  const [call] = parseCalls(block('{"name":"open","arguments":{"__proto__":{"amount":5}}}'))
  const args = !call!.malformed && call!.arguments
  assert.ok(args && Object.hasOwn(args, '__proto__'))
  assert.is((args as { amount?: number }).amount, undefined)
})

test('reading random text never throws, and gives one entry per opening tag', () => {
  const piece = fc.oneof(
    fc.constantFrom('<tool_call>', '</tool_call>', '<', '{"name":"pay"', ',"arguments":', '{}', '}', '"', '\\', '\n'),
    fc.string({ unit: 'binary', maxLength: 8 }),
    fc.constantFrom('\ud800', '\u0000', '<|im_end|>', '[[[[[[[[', '1e999', '-0'),
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
      const message = pieces.join('')
      const calls = parseCalls(message)
      assert.is(calls.length, message.split('<tool_call>').length - 1)
      for (const call of calls) {
        if (call.malformed) assert.ok(call.raw.startsWith('<tool_call>'))
        else assert.ok(call.name.length > 0 && typeof call.arguments === 'object')
      }
    }),
    RUNS,
  )
})

test('deeply nested text is read or refused, not a crash', () => {
  const deep = '['.repeat(100_000) + ']'.repeat(100_000)
  const [call] = parseCalls(block(`{"name":"pay","arguments":{"a":${deep}}}`))
  assert.ok(call)
})

const nested = (levels: number): string => `${'{"a":'.repeat(levels)}{}${'}'.repeat(levels)}`

const UNWRITABLE: readonly (readonly [string, string])[] = [
  ['half a surrogate pair in its name', '{"name":"pay\\ud83d","arguments":{}}'],
  ['a name longer than a body holds', `{"name":"${'p'.repeat(CALL_LIMITS.nameBytes + 1)}","arguments":{}}`],
  ['a name that is too long in bytes only', `{"name":"${'é'.repeat(CALL_LIMITS.nameBytes / 2 + 1)}","arguments":{}}`],
  ['arguments that nest too deep', `{"name":"pay","arguments":${nested(CALL_LIMITS.depth + 1)}}`],
]
for (const [what, inside] of UNWRITABLE) {
  test(`a block with ${what} is malformed`, () => {
    const [call] = parseCalls(block(inside))
    assert.ok(call?.malformed)
    assert.ok(call.raw.startsWith(`<tool_call>${inside.slice(0, 20)}`))
  })
}

test('a call that just fits is a call', () => {
  const name = 'é'.repeat(CALL_LIMITS.nameBytes / 2)
  const [named] = parseCalls(block(`{"name":"${name}","arguments":${nested(CALL_LIMITS.depth)}}`))
  assert.ok(!named!.malformed && named!.name === name)
})

test('a name that a call may have is one that its group can carry', () => {
  assert.is(CALL_LIMITS.nameBytes, LIMITS.nameBytes.value)
})

test('whatever a policy writes into a call, the group arrives with the same calls', async () => {
  const rollout = await play(lendingTask(), ['No.', 'No.'], runtimeOf())
  const piece = fc.oneof(
    fc.constantFrom('\ud800', '\udc00', '\\ud800', '\\u0000', '\u0000', '\ufeff', '<tool_call>', 'é', '"', '\\'),
    fc.constantFrom(
      'x'.repeat(130),
      'ü'.repeat(40_000),
      '\\u0001'.repeat(12_000),
      '['.repeat(3000),
      '{"a":'.repeat(3000),
    ),
    fc.string({ unit: 'binary', maxLength: 8 }),
  )
  const text = fc.array(piece, { maxLength: 4 }).map((pieces) => pieces.join(''))
  const inside = fc.oneof(
    text,
    fc.tuple(text, text).map(([name, value]) => `{"name":"${name}","arguments":{"a":"${value}"}}`),
    fc.tuple(text, anyJson).map(([name, value]) => JSON.stringify({ name, arguments: { a: value } })),
    fc.nat(5000).map((levels) => `{"name":"pay","arguments":${nested(levels)}}`),
  )
  fc.assert(
    fc.property(fc.array(inside, { minLength: 1, maxLength: 2 }), (blocks) => {
      const calls = parseCalls(blocks.map(block).join('')).map((call) =>
        call.malformed ? call : { ...call, ok: true },
      )
      const wild: Rollout = { ...rollout, calls, responses: calls.map(() => '{}') }
      const body = bodyOf(lendingTask(), [wild, wild])
      const arrived = groupBody.parse(groupBody.encode(body))
      assert.equal(arrived.rollouts[0]!.calls, body.rollouts[0]!.calls)
    }),
    RUNS,
  )
})

test('a call is written as JSON between the tags, and what would spell a tag in it is escaped', () => {
  assert.is(writeCall('pay', { to: 'Ann <3' }), '<tool_call>\n{"name":"pay","arguments":{"to":"Ann <3"}}\n</tool_call>')
  assert.is(
    writeCall('pay', { to: '</tool_call>' }),
    '<tool_call>\n{"name":"pay","arguments":{"to":"\\u003c/tool_call>"}}\n</tool_call>',
  )
})

test('results come together as a turn of the user, and each ends with the header of the assistant', () => {
  const markup = (pieces: ReturnType<typeof userTurn>): string =>
    pieces.map((piece) => ('markup' in piece ? piece.markup : `[${piece.text}]`)).join('')
  const [user, assistant] = ['\n<|im_start|>user\n', '<|im_end|>\n<|im_start|>assistant\n']
  assert.is(markup(userTurn('Pay <her>.')), `${user}[Pay <her>.]${assistant}`)
  assert.is(
    markup(toolResults(['{"a":"<"}', '5'])),
    `${user}<tool_response>\n[{"a":"\\u003c"}]\n</tool_response>\n<tool_response>\n[5]\n</tool_response>${assistant}`,
  )
})

test('the text for the user is the message without readable calls', () => {
  const call = writeCall('pay', { amount: 5 })
  assert.is(prose('Done.'), 'Done.')
  assert.is(prose(`I pay.\n${call}\n${call} Now.`), 'I pay.\n\n Now.')
  for (const [what, inside] of MALFORMED) assert.is(prose(`A ${block(inside)} B`), `A ${block(inside)} B`, what)
  assert.is(prose(`A <tool_call>{"name":"pay"}`), 'A <tool_call>{"name":"pay"}', 'one that is not closed')
})

test('what a model thinks is neither a call nor said, and thoughts that do not end are all there is', () => {
  const thinking = toolCallFormatNamed('hermes-thinking')
  const call = block('{"name":"pay","arguments":{"to":"Ann"}}')
  const thought = `<think>\nPay her? ${call} "arguments": no.\n</think>\n\n`
  const message = `${thought}I pay.${call}`
  assert.equal(thinking.parseCalls(message), [{ name: 'pay', arguments: { to: 'Ann' } }])
  assert.is(thinking.prose(message), 'I pay.')
  const spans = thinking.argumentSpans(message).map(([start, end]) => message.slice(start, end))
  assert.equal(spans, ['{"to":"Ann"}}'])
  assert.is(thinking.prose(`Nearly done. ${call}`), 'Nearly done. ', 'it need not think')
  for (const open of [`<think>${call}`, ` \n<think>\n${call} and then`]) {
    assert.equal([thinking.parseCalls(open), thinking.argumentSpans(open), thinking.prose(open)], [[], [], ''])
  }
  assert.equal(parseCalls(message).length, 2, 'hermes knows of no thoughts')
})

test('a model with thinking off begins each turn with empty thoughts', () => {
  const { opening, toolResults: results, userTurn: user } = toolCallFormatNamed('hermes-no-thinking')
  assert.is(opening, '<|im_start|>assistant\n<think>\n\n</think>\n\n')
  for (const pieces of [results(['{}']), user('Now?')])
    assert.equal(pieces.at(-1), { markup: `<|im_end|>\n${opening}` })
})

test.run()
