import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import {
  messageSchema,
  parseAs,
  readCall,
  recordedMessage,
  recordedMessageSchema,
} from '../../../servers/episodes/message.js'
import { readJson } from '../../../servers/episodes/read-json.js'
import { messagesIn } from '../../../servers/episodes/wire/response-messages.js'

const test = suite('messages of a model')

const isUnreadable = (args: unknown, name: unknown = 'list_books'): boolean => readCall(name, args).malformed === true

test('arguments are an object or the JSON text of one, and absent or empty ones are {}', () => {
  const given = { shelf: 'A', list: [{ deep: null }] }
  for (const args of [given, JSON.stringify(given), ` ${JSON.stringify(given)}\n`])
    assert.equal(readCall('list_books', args), { name: 'list_books', arguments: given })
  for (const args of [undefined, '', ' \n', '{}', {}])
    assert.equal(readCall('list_books', args), { name: 'list_books', arguments: {} })
})

test('every other value that a model writes makes a call unreadable', () => {
  for (const args of [null, 'null', '[]', [], 7, '7', true, '"{}"', '{"a":', '{"a": NaN}', { a: [Number.NaN] }])
    assert.ok(isUnreadable(args), JSON.stringify(args))
  for (const name of ['', 'x'.repeat(129), 7, null, { name: 'a' }, '\ud800']) assert.ok(isUnreadable({}, name))
  assert.not.ok(isUnreadable({}, 'CreateEvent'))
})

test('a message has known keys, and a wrong key is an error that names the form', () => {
  const wrong = (value: unknown): string => {
    try {
      parseAs(messageSchema, value)
      return 'accepted'
    } catch (error) {
      return (error as Error).message
    }
  }
  for (const value of [{}, [], 'Hi.', { say: 'Hi.' }, { text: 7 }, { calls: {} }, { text: '', understood: {} }])
    assert.match(wrong(value), /^bad_request/, JSON.stringify(value))
  for (const call of [
    { tool: 'x' },
    { name: 'x', args: {} },
    'x',
    null,
    { function: { name: 'x' } },
    { arguments: {} },
  ])
    assert.match(
      wrong({ calls: [call] }),
      /a call is \{"name", "arguments"\} or \{"unreadable"\}/,
      JSON.stringify(call),
    )
  assert.equal(parseAs(messageSchema, { text: null, calls: null }), { text: '', calls: [] })
})

test('a recorded message is read as it was', () => {
  const understood = { asked: true, by: 'rules' }
  for (const written of [
    { text: 'Hm.', calls: [{ name: 'a', arguments: '{"b": 1}' }, { unreadable: '{' }, { name: 'c' }], more: true },
    { text: 'Who?', understood },
  ]) {
    const message = parseAs(recordedMessageSchema, written)
    assert.equal(parseAs(recordedMessageSchema, JSON.parse(JSON.stringify(recordedMessage(message)))), message)
  }
})

test('numbers of Python that JSON does not have are read as NaN, and texts stay as they are', () => {
  assert.equal(readJson('{"a": [NaN, -Infinity, 1], "NaN": "NaN \\" Infinity", "b": Infinity}', 'it'), {
    a: [Number.NaN, Number.NaN, 1],
    NaN: 'NaN " Infinity',
    b: Number.NaN,
  })
  for (const broken of ['', '{', 'NaN NaN', '{"a": -}', 'Nan', '{"a": "NaN}'])
    assert.throws(() => readJson(broken, 'it'), /^.*bad_request: it is not JSON/, broken)
})

test('the messages in a response of NeMo Gym have their texts and calls, without thoughts', () => {
  const said = (text: string) => ({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] })
  const call = (name: string, args: unknown) => ({ type: 'function_call', call_id: 'c', name, arguments: args })
  const result = { type: 'function_call_output', call_id: 'c', output: '{}' }
  const [first, second, third, fourth] = messagesIn({
    output: [
      { type: 'reasoning', summary: [] },
      ...[said('I look.'), call('find', '{"a": 1}'), call('CreateEvent', 'null'), result, result],
      ...[said('And so?'), call('reply_to_user', '{"text": "Which one?"}'), result],
      ...[{ type: 'custom_tool_call', name: 'shell', input: 'ls' }, call('reply_to_user', '{}'), result],
      said('Done.'),
    ],
  })
  assert.equal(first!.text, 'I look.')
  assert.equal(first!.calls[0], { name: 'find', arguments: { a: 1 } })
  assert.equal(
    first!.calls.map(({ malformed }) => malformed === true),
    [false, true],
  )
  assert.equal(second, { text: 'And so?\nWhich one?', calls: [] })
  assert.equal(
    third!.calls.map(({ malformed }) => malformed),
    [true, true],
  )
  assert.equal(fourth, { text: 'Done.', calls: [] })
})

test.run()
