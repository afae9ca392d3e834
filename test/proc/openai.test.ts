// needs: python

import '../../swarm/polyfill.js'
import { join } from 'node:path'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { type JSONValue, jsonSchema, stepCountIs, ToolLoopAgent, tool } from 'ai'
import { execa } from 'execa'
import OpenAI, { APIError } from 'openai'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { HERMES } from '../../rollout/episode/tool-call-formats/hermes.js'
import {
  type ApiServer,
  createChatSession,
  promptOf,
  type ServedPolicy,
  serveOpenAi,
} from '../../rollout/inference/index.js'
import { generateSeedState, offeredTool, Session } from '../../servers/kernel/index.js'
import { CATALOGUE } from '../support/catalogue.js'
import { checkout } from '../support/checkout.js'
import { openDemoPolicy } from '../support/demo-policy.js'
import { PATIENCE_MS, patience } from '../support/patience.js'
import { stated } from '../support/stated.js'
import { withServedModel } from './served-model.js'

const PYTHON = join(checkout, '.venv', 'bin', 'python')
const test = suite<{ policy: ServedPolicy; served: ApiServer; client: OpenAI }>('OpenAI’s protocol')

const clientOf = ({ url }: ApiServer, apiKey = 'none') =>
  new OpenAI({ baseURL: url, apiKey, maxRetries: 0, timeout: PATIENCE_MS })

test.before(
  stated(async (context) => {
    context.policy = await openDemoPolicy()
    context.served = await serveOpenAi(context.policy, { port: 0, token: null })
    context.client = clientOf(context.served)
  }),
)
test.after(async ({ policy, served }) => {
  await served.close()
  await policy.close()
})

const banking = CATALOGUE.get('banking')!
const offered = banking.tools.filter(({ name }) => name === 'list_accounts').map((tool) => offeredTool(tool))
const tools = offered.map(({ name, description, inputSchema }) => ({
  type: 'function' as const,
  function: { name, description, parameters: inputSchema as Record<string, unknown> },
}))
const user = { role: 'user' as const, content: 'List my checking accounts.' }
const asked = { model: 'demo', messages: [user], tools, temperature: 0, max_completion_tokens: 96 }

const errorOf = async (work: PromiseLike<unknown>): Promise<APIError> => {
  const error = await Promise.resolve(work).catch((why: unknown) => why)
  assert.instance(error, APIError)
  return error as APIError
}

test('it lists the one model that it has', async ({ client }) => {
  const models = await client.models.list()
  assert.equal(
    models.data.map(({ id }) => id),
    ['demo'],
  )
  assert.is((await client.models.retrieve('demo')).id, 'demo')
  assert.is((await errorOf(client.models.retrieve('gpt-4o'))).code, 'model_not_found')
})

test('a call comes as a tool call with an id, and its result leads to an answer', async ({ client }) => {
  const first = await client.chat.completions.create(asked)
  const [choice] = first.choices
  assert.is(choice!.finish_reason, 'tool_calls')
  const call = choice!.message.tool_calls![0]!
  assert.is(call.type, 'function')
  assert.match(call.id, /^call_[0-9a-f]{24}$/)
  assert.is(call.type === 'function' && call.function.name, 'list_accounts')
  assert.type(JSON.parse(call.type === 'function' ? call.function.arguments : ''), 'object')
  const results = choice!.message.tool_calls!.map(({ id }) => ({
    role: 'tool' as const,
    tool_call_id: id,
    content: '{"accounts":[{"account":"ACC-1","kind":"checking","balance":12.5}]}',
  }))
  const second = await client.chat.completions.create({ ...asked, messages: [user, choice!.message, ...results] })
  assert.ok(second.choices[0]!.message.content)
  assert.ok(second.usage!.prompt_tokens > first.usage!.prompt_tokens + first.usage!.completion_tokens)
})

/** It calls, answers its calls, streams, and gets its own errors. */
async function askFromPython(url: string): Promise<void> {
  const job = { url, request: asked, result: { accounts: [{ account: 'ACC-1', balance: 12.5 }] } }
  const { stdout } = await execa(PYTHON, [join(checkout, 'test', 'proc', 'openai_client.py')], {
    input: JSON.stringify(job),
    timeout: PATIENCE_MS,
  })
  const stated = JSON.parse(stdout)
  assert.equal([stated.models, stated.finish], [['demo'], 'tool_calls'])
  const [[id, name, args]] = stated.calls
  assert.match(id, /^call_[0-9a-f]{24}$/)
  assert.equal([name, typeof args], ['list_accounts', 'object'])
  assert.ok(stated.answer)
  assert.equal([stated.streamed, stated.streamed_tokens], [stated.answer, stated.tokens])
  assert.equal(stated.refused, [
    [400, 'unsupported_value', 'top_p'],
    [404, 'model_not_found', 'model'],
  ])
}

/** An agent makes its calls in an environment by itself, and ends with an answer. */
async function workAsAgent(url: string, how: 'generate' | 'stream'): Promise<void> {
  const provider = createOpenAICompatible({ name: 'prove', baseURL: url, includeUsage: true })
  const seedState = generateSeedState(banking, 7)
  const [session, again] = [Session.open(seedState), Session.open(seedState)]
  const results: unknown[] = []
  const agent = new ToolLoopAgent({
    ...{ model: provider('demo'), temperature: 0, maxOutputTokens: 96, maxRetries: 0, stopWhen: stepCountIs(4) },
    tools: Object.fromEntries(
      offered.map(({ name, description, inputSchema }) => [
        name,
        tool({
          ...{ description, inputSchema: jsonSchema(inputSchema) },
          execute: async (args) => {
            const result = session.call(name, args)
            results.push(result)
            return (result.ok ? result.output : result) as JSONValue
          },
        }),
      ]),
    ),
  })
  const asking = { prompt: 'Which accounts do I have of the kind checking?', abortSignal: patience() }
  const done = await agent[how](asking)
  const steps = await done.steps
  assert.equal(
    steps.map(({ finishReason }) => finishReason),
    ['tool-calls', 'stop'],
    how,
  )
  assert.equal(results, [again.call('list_accounts', steps[0]!.toolCalls[0]!.input)])
  assert.ok((results[0] as { ok: boolean }).ok, 'the environment accepted the call')
  assert.ok(await done.text)
  assert.ok((await done.totalUsage).outputTokens! > 0)
}

test('OpenAI’s client for Python and an agent of the AI SDK find in prove-node serve what they expect', () => {
  const model = [
    '--model',
    `${checkout}/models/demo/prove-demo-base-f16.gguf`,
    '--model-name',
    'demo',
    '--context',
    '1024',
  ]
  return withServedModel(model, { cwd: checkout, env: {} }, async (url) => {
    await askFromPython(url)
    for (const how of ['generate', 'stream'] as const) await workAsAgent(url, how)
  })
})

test('a stream brings, piece by piece, what the same request brings at once', async ({ client }) => {
  for (const seed of [1, 2, 3, 4]) {
    const request = { ...asked, temperature: 1, seed, logprobs: true }
    const whole = (await client.chat.completions.create(request)).choices[0]!
    const stream = await client.chat.completions.create({
      ...request,
      stream: true,
      stream_options: { include_usage: true },
    })
    const [texts, calls, logprobs]: [string[], unknown[], number[]] = [[], [], []]
    let [finish, sampled] = ['', 0]
    for await (const { choices, usage } of stream) {
      const [choice] = choices
      if (choice?.delta.content) texts.push(choice.delta.content)
      for (const made of choice?.delta.tool_calls ?? []) calls.push(made.function)
      for (const { logprob } of choice?.logprobs?.content ?? []) logprobs.push(logprob)
      finish = choice?.finish_reason ?? finish
      sampled = usage?.completion_tokens ?? sampled
    }
    assert.is(texts.join(''), whole.message.content ?? '')
    const made = whole.message.tool_calls ?? []
    assert.equal(
      calls,
      made.map((call) => call.type === 'function' && call.function),
    )
    assert.is(finish, whole.finish_reason)
    const wanted = whole.logprobs!.content!.map(({ logprob }) => logprob)
    assert.equal(logprobs, wanted, 'every token with its log-probability, those of calls too')
    assert.ok(wanted.length > 0 && wanted.every((logprob) => logprob <= 0))
    assert.ok(sampled >= wanted.length)
  }
})

test('a seed decides an answer, several answers differ, and the length is bounded', async ({ client }) => {
  const request = { ...asked, tools: [], temperature: 1, seed: 7, n: 2, max_completion_tokens: 12 }
  const answers = async () =>
    (await client.chat.completions.create(request)).choices.map(({ message }) => message.content)
  const [one, two] = [await answers(), await answers()]
  assert.equal(one, two)
  assert.is.not(one[0], one[1])
  const { choices, usage } = await client.chat.completions.create({ ...request, n: 1, max_completion_tokens: 3 })
  assert.is(choices[0]!.finish_reason, 'length')
  assert.is(usage!.completion_tokens, 3)
})

test('a request as BFCL’s handler makes it is answered', async ({ client }) => {
  const answer = await client.chat.completions.create({
    messages: [
      { role: 'system', content: 'You are a helpful assistant.' },
      { role: 'user', content: [{ type: 'text', text: 'List my checking accounts.' }] },
    ],
    model: 'demo',
    temperature: 0.001,
    tools,
    store: false,
    metadata: { benchmark: 'bfcl' },
  })
  assert.ok(answer.choices[0]!.message.tool_calls ?? answer.choices[0]!.message.content)
})

test('a parameter that may be null, as agent frameworks write optional ones, is one of its own type', async ({
  client,
}) => {
  const kind = { type: 'string', enum: ['checking', 'savings'] }
  const inputOf = (properties: Record<string, unknown> | undefined) => [
    { type: 'function' as const, function: { name: 'list_accounts', parameters: { type: 'object', properties } } },
  ]
  const answer = async (properties: Record<string, unknown> | undefined) => {
    const { choices, usage } = await client.chat.completions.create({ ...asked, tools: inputOf(properties) })
    return [
      choices[0]!.message.tool_calls?.map((call) => call.type === 'function' && call.function),
      usage!.prompt_tokens,
    ]
  }
  const plain = await answer({ kind })
  assert.equal(await answer({ kind: { anyOf: [kind, { type: 'null' }] } }), plain)
  assert.equal(await answer({ kind: { ...kind, type: ['string', 'null'] } }), plain)
  assert.equal(await answer(undefined), await answer({}))
  const error = await errorOf(answer({ kind: { anyOf: [kind, { type: 'integer' }] } }))
  assert.equal([error.status, error.code, error.param], [400, 'not_written', null])
})

test('what cannot be done is refused in OpenAI’s form, by the name of the field', async ({ client, policy }) => {
  const refusals: readonly (readonly [object, string | null, string])[] = [
    [{ top_p: 0.5 }, 'top_p', 'unsupported_value'],
    [{ stop: ['\n'] }, 'stop', 'unsupported_value'],
    [{ tool_choice: 'required' }, 'tool_choice', 'unsupported_value'],
    [{ parallel_tool_calls: false }, 'parallel_tool_calls', 'unsupported_value'],
    [{ response_format: { type: 'json_object' } }, 'response_format', 'unsupported_value'],
    [{ n: 3 }, 'n', 'unsupported_value'],
    [{ temperature: -1 }, 'temperature', 'invalid_value'],
    [{ messages: [] }, 'messages', 'invalid_value'],
    [{ messages: [{ role: 'user', content: 'a <|im_end|> b' }] }, 'messages', 'reserved_tag'],
    [{ messages: [{ role: 'user', content: 'x '.repeat(2000) }] }, 'messages', 'context_length_exceeded'],
    [{ messages: [user, { role: 'tool', tool_call_id: 'x', content: '1' }] }, 'messages', 'bad_order'],
    [{ messages: [user, { role: 'assistant', content: 'So' }] }, 'messages', 'bad_order'],
    [{ messages: [{ role: 'user', content: [{ type: 'image_url' }] }] }, 'messages.0', 'unsupported_value'],
    [{ model: 'other' }, 'model', 'model_not_found'],
  ]
  for (const [change, param, code] of refusals) {
    const error = await errorOf(client.chat.completions.create({ ...asked, ...change } as typeof asked))
    assert.equal([error.code, error.param], [code, param], JSON.stringify(change))
  }
  const fitting = promptOf({ tools: [], messages: [{ role: 'user', text: 'Hello.' }] }, policy)
  assert.ok(fitting.length > 0)
})

test('a conversation has the very tokens of an episode, whatever order results come in', ({ policy }) => {
  const { renderer, tokenizer } = policy
  const calls = ['a', 'b'].map((id) => ({ id, name: 'list_accounts', arguments: { kind: id } }))
  const said = calls.map((call) => HERMES.writeCall(call.name, call.arguments)).join('\n')
  const found = promptOf(
    {
      tools: offered,
      messages: [
        { role: 'user', text: 'List my checking accounts.' },
        { role: 'assistant', text: '', calls },
        { role: 'tool', callId: 'b', text: 'plain text' },
        { role: 'tool', callId: 'a', text: '{"n":1}' },
      ],
    },
    policy,
  )
  assert.equal(found, [
    ...renderer.firstPrompt(offered, 'List my checking accounts.'),
    ...tokenizer.tokenize(said, false),
    ...tokenizer.tokenize(HERMES.turnEnd, true),
    ...renderer.toolResults(['{"n":1}', '"plain text"']),
  ])
})

test('a client that disconnects in the middle of its answer delays no other', async ({ client }) => {
  const leaving = await client.chat.completions.create({ ...asked, tools: [], temperature: 1, stream: true })
  for await (const _ of leaving) break
  leaving.controller.abort()
  const { choices } = await client.chat.completions.create({ ...asked, max_completion_tokens: 4 })
  assert.is(choices.length, 1)
})

test('with a token, only who sends it is answered; without one, no other host name and no page is', async ({
  policy,
  served,
}) => {
  const guarded = await serveOpenAi(policy, { port: 0, token: 'secret' })
  try {
    assert.is((await errorOf(clientOf(guarded, 'guess').models.list())).status, 401)
    assert.is((await clientOf(guarded, 'secret').models.list()).data.length, 1)
  } finally {
    await guarded.close()
  }
  const page = await fetch(`${served.url}/models`, { headers: { origin: 'https://page.example' } })
  assert.is(page.status, 403)
  const reached = await serveOpenAi(policy, { host: '0.0.0.0', port: 0, token: null }).catch((why: Error) => why)
  assert.instance(reached, TypeError)
})

test('a chat session makes the calls of a policy in an environment, returns the results, and can be reset', async ({
  policy,
}) => {
  const seen: string[] = []
  const news = {
    onText: (text: string) => void seen.push(text),
    onCall: () => void seen.push('call'),
    onResult: (text: string, ok: boolean) => void seen.push(ok ? `result ${Object.keys(JSON.parse(text))}` : 'error'),
    onTurn: () => void seen.push('turn'),
  }
  const options = { environments: [banking], seed: 7, tools: new Set(['list_accounts']), temperature: 0, drawSeed: 7 }
  const table = await createChatSession(policy, options)
  try {
    assert.is(await table.say('Which accounts do I have of the kind checking?', news, patience()), 'answered')
    const story = seen.filter((what) => /^(call|turn|result|error)/.test(what))
    assert.equal(story, ['turn', 'call', 'result found,accounts', 'turn'])
    const { length } = table
    const tooLong = await table.say('x '.repeat(3000), news, patience()).catch((why: Error) => why)
    assert.is((tooLong as { code?: string }).code, 'context_full')
    assert.is(table.length, length, 'what cannot be said leaves the conversation as it was')
    await table.reset()
    assert.is(table.length, 0)
  } finally {
    await table.close()
  }
})

test.run()
