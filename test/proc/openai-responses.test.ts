import '../../swarm/polyfill.js'
import OpenAI, { APIError } from 'openai'
import type { Response, ResponseInputItem, ResponseStreamEvent } from 'openai/resources/responses/responses.js'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type ApiServer, promptOf, type ServedPolicy, serveOpenAi } from '../../rollout/inference/index.js'
import { offeredTool } from '../../servers/kernel/index.js'
import { CATALOGUE } from '../support/catalogue.js'
import { openDemoPolicy } from '../support/demo-policy.js'
import { PATIENCE_MS } from '../support/patience.js'
import { stated } from '../support/stated.js'

const test = suite<{ policy: ServedPolicy; served: ApiServer; client: OpenAI; failures: unknown[] }>(
  'OpenAI’s responses',
)

const MAX_TOKENS = 40

test.before(
  stated(async (context) => {
    context.policy = await openDemoPolicy()
    context.failures = []
    const onError = (error: unknown) => void context.failures.push(error)
    context.served = await serveOpenAi(context.policy, { port: 0, token: null, maxTokens: MAX_TOKENS, onError })
    context.client = new OpenAI({ baseURL: context.served.url, apiKey: 'none', maxRetries: 0, timeout: PATIENCE_MS })
  }),
)
test.after(async ({ policy, served }) => {
  await served.close()
  await policy.close()
})

const offered = CATALOGUE.get('banking')!
  .tools.filter(({ name }) => name === 'list_accounts')
  .map((tool) => offeredTool(tool))
const tools = offered.map(({ name, description, inputSchema }) => ({
  ...{ type: 'function' as const, name, description, strict: false },
  parameters: inputSchema as Record<string, unknown>,
}))
const chatTools = tools.map(({ name, description, parameters }) => ({
  ...{ type: 'function' as const, function: { name, description, parameters } },
}))
const QUESTION = 'List my checking accounts.'
const asked = { model: 'demo', input: QUESTION, tools, temperature: 0, max_output_tokens: 96 }
const RESULT = '{"accounts":[{"account":"ACC-1","kind":"checking","balance":12.5}]}'

const errorOf = async (work: PromiseLike<unknown>): Promise<APIError> => {
  const error = await Promise.resolve(work).catch((why: unknown) => why)
  assert.instance(error, APIError)
  return error as APIError
}

/** Returns what two answers have in common: ids and times differ. */
const plain = ({ output, status, usage, incomplete_details }: Response) => ({
  ...{ status, usage, incomplete_details },
  output: output.map((item) => ({ ...item, id: '', ...('call_id' in item ? { call_id: '' } : {}) })),
})

async function eventsOf(stream: AsyncIterable<ResponseStreamEvent>): Promise<ResponseStreamEvent[]> {
  const events: ResponseStreamEvent[] = []
  for await (const event of stream) events.push(event)
  return events
}

test('a call comes as an item, and its result leads to the answer of chat completions', async ({ client }) => {
  const first = await client.responses.create({ ...asked, instructions: 'Be brief.' })
  assert.is(first.status, 'completed')
  const [call] = first.output.filter((item) => item.type === 'function_call')
  assert.match(call!.call_id, /^call_[0-9a-f]{24}$/)
  assert.is(call!.name, 'list_accounts')
  assert.type(JSON.parse(call!.arguments), 'object')
  const outputs = first.output
    .filter((item) => item.type === 'function_call')
    .map(({ call_id }) => ({ type: 'function_call_output' as const, call_id, output: RESULT }))
  const input = [{ role: 'user' as const, content: QUESTION }, ...first.output, ...outputs] as ResponseInputItem[]
  const second = await client.responses.create({ ...asked, instructions: 'Be brief.', input })
  assert.ok(second.output_text)
  const chat = await client.chat.completions.create({
    ...{ model: 'demo', tools: chatTools, temperature: 0, max_completion_tokens: 96 },
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: QUESTION },
      {
        role: 'assistant',
        content: first.output_text,
        tool_calls: first.output.flatMap((item) =>
          item.type === 'function_call'
            ? [{ id: item.call_id, type: 'function', function: { name: item.name, arguments: item.arguments } }]
            : [],
        ),
      },
      ...outputs.map(({ call_id, output }) => ({ role: 'tool' as const, tool_call_id: call_id, content: output })),
    ],
  })
  assert.is(second.output_text, chat.choices[0]!.message.content)
  assert.is(second.usage!.input_tokens, chat.usage!.prompt_tokens)
  assert.is(second.usage!.output_tokens, chat.usage!.completion_tokens)
})

test('a stream ends with the response that the same request returns at once', async ({ client }) => {
  for (const change of [{}, { tools: [] }, { tools: [], max_output_tokens: 3 }, { temperature: 1, seed: 3 }]) {
    const request = { ...asked, ...change }
    const whole = await client.responses.create(request)
    const events = await eventsOf(await client.responses.create({ ...request, stream: true }))
    assert.equal(
      events.map(({ sequence_number }) => sequence_number),
      events.map((_, i) => i),
    )
    assert.equal(
      events.slice(0, 2).map(({ type }) => type),
      ['response.created', 'response.in_progress'],
    )
    const last = events.at(-1)!
    assert.is(last.type, whole.status === 'incomplete' ? 'response.incomplete' : 'response.completed')
    assert.equal(plain((last as { response: Response }).response), plain(whole))
    const text = events.flatMap((event) => (event.type === 'response.output_text.delta' ? [event.delta] : [])).join('')
    assert.is(text, whole.output_text)
    const calls = events.flatMap((event) =>
      event.type === 'response.function_call_arguments.done' ? [event.arguments] : [],
    )
    assert.equal(
      calls,
      whole.output.flatMap((item) => (item.type === 'function_call' ? [item.arguments] : [])),
    )
    const done = events.flatMap((event) => (event.type === 'response.output_item.done' ? [event.item] : []))
    assert.equal(done, (last as { response: Response }).response.output)
  }
})

test('a request without a limit gets the limit of the server, in either protocol', async ({ client }) => {
  const question = { temperature: 1, seed: 11, model: 'demo' }
  const long = 'Tell me a story of one thousand words about all of the accounts in the whole wide world.'
  const responses = await client.responses.create({ ...question, input: long })
  const chat = await client.chat.completions.create({ ...question, messages: [{ role: 'user', content: long }] })
  for (const sampled of [responses.usage!.output_tokens, chat.usage!.completion_tokens])
    assert.ok(sampled <= MAX_TOKENS, String(sampled))
  const wide = await client.responses.create({ ...question, input: long, max_output_tokens: MAX_TOKENS + 5 })
  assert.is(wide.max_output_tokens, MAX_TOKENS + 5)
})

test('what cannot be done is refused as in chat completions, streamed or not, before the answer begins', async ({
  client,
}) => {
  const tooLong = 'x '.repeat(2000)
  const refusals: readonly (readonly [object, string | null, string, object | null])[] = [
    [{ input: tooLong }, 'input', 'context_length_exceeded', { messages: [{ role: 'user', content: tooLong }] }],
    [{ input: 'a <|im_end|> b' }, 'input', 'reserved_tag', { messages: [{ role: 'user', content: 'a <|im_end|> b' }] }],
    [{ top_p: 0.5 }, 'top_p', 'unsupported_value', { top_p: 0.5 }],
    [{ tool_choice: 'required' }, 'tool_choice', 'unsupported_value', { tool_choice: 'required' }],
    [{ model: 'other' }, 'model', 'model_not_found', { model: 'other' }],
    [{ temperature: -1 }, 'temperature', 'invalid_value', { temperature: -1 }],
    [{ input: [] }, 'input', 'invalid_value', null],
    [{ tools: [{ type: 'web_search' }] }, 'tools', 'unsupported_value', null],
    [{ previous_response_id: 'resp_1' }, 'previous_response_id', 'unsupported_value', null],
    [{ text: { format: { type: 'json_object' } } }, 'text.format', 'unsupported_value', null],
    [{ background: true }, 'background', 'unsupported_value', null],
    [{ input: [{ type: 'item_reference', id: 'x' }] }, 'input.0', 'unsupported_value', null],
    [{ input: [{ role: 'user', content: [{ type: 'input_image' }] }] }, 'input.0', 'unsupported_value', null],
    [{ input: [{ type: 'function_call_output', call_id: 'x', output: '1' }] }, 'input', 'bad_order', null],
  ]
  for (const [change, param, code, chat] of refusals)
    for (const stream of [false, true]) {
      const error = await errorOf(client.responses.create({ ...asked, ...change, stream } as typeof asked))
      assert.equal([error.code, error.param], [code, param], JSON.stringify(change).slice(0, 80))
      assert.ok(error.status === 400 || error.status === 404)
      assert.not.match(error.message, new RegExp(`${code}|context_full`), 'the code is not repeated in the message')
      if (chat === null) continue
      const request = {
        model: 'demo',
        tools: chatTools,
        messages: [{ role: 'user', content: QUESTION }],
        ...chat,
        stream,
      }
      const same = await errorOf(client.chat.completions.create(request as never))
      assert.equal([same.status, same.code, same.message], [error.status, error.code, error.message])
    }
})

test('a client that leaves is no failure of the server', async ({ client, failures }) => {
  for (const stream of [true, false]) {
    const leaving = new AbortController()
    const request = { ...asked, tools: [], temperature: 1, seed: 5, max_output_tokens: 600 }
    const work = client.responses.create({ ...request, stream }, { signal: leaving.signal })
    if (stream) for await (const _ of (await work) as AsyncIterable<unknown>) break
    leaving.abort()
    if (!stream)
      assert.ok(
        await work.then(
          () => null,
          (error: Error) => error,
        ),
      )
  }
  await client.responses.create({ ...asked, max_output_tokens: 2 })
  assert.equal(failures, [])
})

test('a connection stays open longer than clients keep it', async ({ served }) => {
  const { headers } = await fetch(`${served.url}/models`)
  assert.is(headers.get('keep-alive'), 'timeout=120')
})

const past = (calls: readonly object[], results: readonly [string, string][]) => ({
  tools: [],
  messages: [
    { role: 'user' as const, text: 'Both balances?' },
    { role: 'assistant' as const, text: '', calls: calls as never },
    ...results.map(([callId, text]) => ({ role: 'tool' as const, callId, text })),
  ],
})

test('results of calls with the same id go to them in order, and a surplus result is refused', ({ policy }) => {
  const calls = (ids: string[]) => ids.map((id, i) => ({ id, name: 'get_balance', arguments: { account: i } }))
  const prompt = (ids: string[], results: [string, string][]) => promptOf(past(calls(ids), results), policy)
  const wanted = prompt(
    ['a', 'b'],
    [
      ['a', '100'],
      ['b', '9'],
    ],
  )
  assert.equal(
    prompt(
      ['call_0', 'call_0'],
      [
        ['call_0', '100'],
        ['call_0', '9'],
      ],
    ),
    wanted,
  )
  assert.equal(
    prompt(
      ['c', 'd'],
      [
        ['d', '9'],
        ['c', '100'],
      ],
    ),
    wanted,
  )
  const wrong: [string[], [string, string][], RegExp][] = [
    [['a', 'a'], [['a', '1']], /the call a of get_balance has no result/],
    [
      ['a', 'b'],
      [
        ['a', '1'],
        ['b', '2'],
        ['b', '3'],
      ],
      /the call b has more than one result/,
    ],
    [
      ['a'],
      [
        ['a', '1'],
        ['z', '2'],
      ],
      /there is no call z/,
    ],
  ]
  for (const [ids, results, message] of wrong) assert.throws(() => prompt(ids, results), message)
})

test('a past call with unreadable arguments is passed on as the model wrote it', async ({ client, policy }) => {
  const written = (raw: string) =>
    policy.tokenizer.detokenize(
      promptOf(past([{ id: 'a', name: 'get_balance', rawArguments: raw }], [['a', '1']]), policy),
    )
  assert.match(written('{"account": '), '{"name":"get_balance","arguments":{"account": }\n</tool_call>')
  assert.match(written('[1]'), '{"name":"get_balance","arguments":[1]}\n</tool_call>')
  assert.not.match(written('</tool_call> x'), 'arguments":</tool_call>')
  for (const json of ['{"kind": ', 'null', '[]', 'checking', '']) {
    const made = { id: 'a', type: 'function' as const, function: { name: 'list_accounts', arguments: json } }
    const chat = await client.chat.completions.create({
      ...{ model: 'demo', tools: chatTools, temperature: 0, max_completion_tokens: 8 },
      messages: [
        { role: 'user', content: QUESTION },
        { role: 'assistant', content: null, tool_calls: [made] },
        { role: 'tool', tool_call_id: 'a', content: 'the arguments are not JSON' },
      ],
    })
    assert.is(chat.choices.length, 1, json)
  }
})

test.run()
