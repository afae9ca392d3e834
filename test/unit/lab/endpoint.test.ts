import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { CodedError } from '../../../common/errors/index.js'
import { endpointPlayer } from '../../../lab/evaluation/endpoint-player.js'
import { openToolChat } from '../../../rollout/chat/index.js'
import { attemptsOf, type Played, playedOf, type Task } from '../../../rollout/episode/index.js'
import { PAPER } from '../../../rollout/reward/index.js'
import { createTaskRuntime } from '../../../servers/episodes/episode-runtime.js'
import { openEpisode } from '../../../servers/episodes/play.js'
import { calling, saying } from '../../support/episodes.js'
import { library } from '../../support/library-environment.js'
import {
  type Asked,
  type Behaviour,
  completion,
  fails,
  inTurn,
  says,
  sendJson,
  startServer,
} from '../../support/paraphraser-server.js'
import { PATIENCE_MS, patience } from '../../support/patience.js'
import { AMPLE, lendingTask } from '../../support/scripted.js'

const runtime = createTaskRuntime(new Map([[library.name, library]]))
const task = lendingTask()

interface Wire {
  readonly name: string
  readonly arguments: string
}

/** Answers with calls. */
const calls =
  (...made: readonly Wire[]): Behaviour =>
  (response, _, nth) =>
    sendJson(
      response,
      completion('', {
        tool_calls: made.map((one, i) => ({ id: `call_${nth}_${i}`, type: 'function', function: one })),
      }),
    )

const reference = task.groundTruth.map(({ name, arguments: args }) => calls({ name, arguments: JSON.stringify(args) }))

interface Ran {
  readonly played: Played
  readonly asked: readonly Asked[]
}

async function run(behaviour: Behaviour, { of = task, temperature = 1, limits = AMPLE } = {}): Promise<Ran> {
  const server = await startServer(behaviour)
  try {
    const options = { url: server.url, timeoutMs: PATIENCE_MS, apiKey: 'secret' }
    const model = await openToolChat(options, patience())
    assert.is(model.name, 'tiny-teacher')
    const retries = { attempts: 3, pauseMs: 1, longestPauseMs: 2 }
    const player = endpointPlayer(() => model, runtime, { limits, maxTokens: 77, retries })
    const attempts = attemptsOf([of], [{ temperature, samples: 1 }], 0, limits)
    const [played] = await player.play(0, attempts, patience())
    return { played: played!, asked: server.asked }
  } finally {
    await server.close()
  }
}

const errorOf = (behaviour: Behaviour, more = {}): Promise<CodedError> =>
  run(behaviour, more).then(
    () => assert.unreachable() as never,
    (error: CodedError) => error,
  )

/** Plays actions without a server. */
async function expected(played: Task, actions: Parameters<Awaited<ReturnType<typeof openEpisode>>['act']>[0][]) {
  const episode = await openEpisode(played, { runtime, reward: PAPER })
  for (const action of actions) await episode.act(action)
  return playedOf(played, episode.calls, (preset) => episode.score(preset))
}

test('a model of a server plays the episodes of training: environments, scripted user and rewards', async () => {
  const [lend, giveBack] = task.groundTruth.map(({ name, arguments: args }) => calling(name, args))
  const { played, asked } = await run(inTurn(reference[0]!, says('Lent.'), reference[1]!, says('Taken back.')))
  assert.equal(played, await expected(task, [lend!, saying('Lent.'), giveBack!, saying('Taken back.')]))
  assert.equal([played.failure, played.calls, played.rewards.paper], [null, 2, PAPER.maximum.calls])
  const last = asked.at(-1)!.body as { messages: { role: string; content: string | null; tool_call_id?: string }[] }
  assert.equal(
    last.messages.map(({ role }) => role),
    ['user', 'assistant', 'tool', 'assistant', 'user', 'assistant', 'tool'],
  )
  assert.equal([last.messages[0]!.content, last.messages[4]!.content], task.turns)
  assert.is(last.messages[2]!.tool_call_id, 'call_0_0')
  assert.ok('loan' in JSON.parse(last.messages[2]!.content!))
})

test('tools are passed natively, with the sampling of the evaluation and the key', async () => {
  const { asked } = await run(says('No.'), { temperature: 0 })
  const { headers, body } = asked[0]!
  assert.is(headers.authorization, 'Bearer secret')
  assert.equal(
    (body.tools as { function: { name: string } }[]).map((tool) => tool.function.name),
    ['list_books', 'lend_book', 'return_book'],
  )
  assert.equal([body.temperature, body.max_tokens, body.model], [0, 77, 'tiny-teacher'])
  assert.ok(Number.isInteger(body.seed) && (body.seed as number) < 2 ** 31)
  assert.is.not(body.seed, asked[1]!.body.seed, 'each turn has its own draw')
})

test('a tool that a user adds is offered from that turn on', async () => {
  const brought = lendingTask({
    toolset: [
      { environment: 'library', tool: 'list_books' },
      { environment: 'library', tool: 'return_book' },
      { environment: 'library', tool: 'lend_book', from: 1 },
    ],
    groundTruth: [{ ...task.groundTruth[0]!, turn: 1 }],
  })
  const { played, asked } = await run(inTurn(says('I cannot.'), reference[0]!, says('Lent.')), { of: brought })
  assert.is(played.failure, null)
  assert.equal(
    asked.map(({ body }) => (body.tools as object[]).length),
    [2, 3, 3],
  )
})

test('arguments that are no JSON object are an unreadable call, which the model can see', async () => {
  const { played, asked } = await run(inTurn(calls({ name: 'lend_book', arguments: '{"book":' }), says('Sorry.')))
  assert.equal([played.failure, played.calls], ['unreadable', 1])
  const { messages } = asked[1]!.body as { messages: { content: string }[] }
  assert.match(messages.at(-1)!.content, /malformed_call/)
})

test('a reply that is cut off, a full context and the limit of turns end a rollout', async () => {
  const cut: Behaviour = (response) => {
    const whole = completion('I will')
    sendJson(response, { ...whole, choices: [{ ...whole.choices[0], finish_reason: 'length' }] })
  }
  assert.is((await run(inTurn(reference[0]!, cut))).asked.length, 2)
  const full = fails(400, {}, { message: 'the context is full', code: 'context_length_exceeded' })
  const { played, asked } = await run(inTurn(reference[0]!, full))
  assert.equal([played.failure, asked.length], ['stopped_early', 2])
  const limits = { ...AMPLE, maxAssistantTurns: 3 }
  assert.is((await run(calls({ name: 'list_books', arguments: '' }), { limits })).played.calls, 3)
})

test('a busy server is asked again, and one that stays away ends the evaluation', async () => {
  const busy = fails(429, { 'retry-after': '1' })
  const { played, asked } = await run(inTurn(busy, fails(503), says('No.')))
  assert.equal([played.failure, asked.length], ['no_call', 4])
  const error = await errorOf(fails(500))
  assert.equal(
    [error.code, /3 times in a row.*run the same command again/.test(error.message)],
    ['server_failed', true],
  )
})

test('a server that refuses a request ends the evaluation with its reason', async () => {
  const error = await errorOf(fails(400, {}, { message: 'this model does not\u001b[31m support tools' }))
  assert.is(error.code, 'server_refused')
  assert.match(error.message, /does not \[31m support tools: change the options/)
  assert.is((await errorOf(fails(401))).code, 'server_refused')
})

test('a model without temperatures can be sampled at 1, and not greedily', async () => {
  const picky: Behaviour = (response, asked, nth) =>
    'temperature' in asked.body
      ? fails(400, {}, { message: 'temperature is not supported', param: 'temperature' })(response, asked, nth)
      : says('No.')(response, asked, nth)
  assert.is((await run(picky)).played.failure, 'no_call')
  const error = await errorOf(picky, { temperature: 0 })
  assert.match(error.message, /it takes no temperature 0; measure it with --no-greedy/)
})

test('a hostile reply is refused', async () => {
  const many = Array.from({ length: 200 }, () => ({ name: 'list_books', arguments: '{}' }))
  for (const hostile of [calls(...many), calls({ name: 'x'.repeat(5000), arguments: '{}' })])
    assert.match((await errorOf(hostile)).message, /not a chat completion within the limits/)
})

test.run()
