import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  type EpisodeEnd,
  EpisodeError,
  type EpisodeLimits,
  promptOf,
  runEpisode,
  type Task,
} from '../../../rollout/episode/index.js'
import { generateSeedState, Session } from '../../../servers/kernel/index.js'
import { library } from '../../support/library-environment.js'
import {
  AMPLE,
  END,
  groundTruthScript,
  lendingTask,
  play,
  runtimeOf,
  scriptedSource,
  writeCall,
} from '../../support/scripted.js'

const runtime = runtimeOf()
const task = lendingTask()
const truth = groundTruthScript(task)
const lend = writeCall('lend_book', { book: 'emma', reader: 'Ada' })
// All files of a suite are loaded before the first test runs, so a timeout that starts here might be over by then.
const { signal } = new AbortController()
const errorOf = (payload: string | undefined): string => (JSON.parse(payload!) as { error: string }).error

const thrownBy = (run: Promise<unknown>): Promise<Error | undefined> =>
  run.then(
    () => undefined,
    (error: Error) => error,
  )

test('a policy that follows the ground truth earns exactly 1.3 and has solved the task', async () => {
  const rollout = await play(task, truth, runtime)
  assert.is(rollout.reward.total, 1.3)
  assert.is(rollout.solved, true)
  assert.is(rollout.end, 'finished')
  assert.equal(
    rollout.calls,
    task.groundTruth.map(({ name, arguments: args }) => ({ name, arguments: args, ok: true })),
  )
})

test('the transcript is the conversation, message by message, and the mask shows what the policy said', async () => {
  const { tokens, mask, promptLength, logprobs, responses } = await play(task, truth, runtime)
  const header = '<|im_start|>assistant\n'
  const response = (payload: string | undefined) =>
    `\n<|im_start|>user\n<tool_response>\n${payload}\n</tool_response><|im_end|>\n${header}`
  const prompt = `list_books\nlend_book\nreturn_book\n<|im_start|>user\nPlease lend emma to Ada.<|im_end|>\n${header}`
  const parts: [string, 0 | 1][] = [
    [prompt, 0],
    [`${truth[0]}<|im_end|>`, 1],
    [response(responses[0]), 0],
    ['Done.<|im_end|>', 1],
    [`\n<|im_start|>user\nNow take that loan back.<|im_end|>\n${header}`, 0],
    [`${truth[2]}<|im_end|>`, 1],
    [response(responses[1]), 0],
    ['Done.<|im_end|>', 1],
  ]
  assert.is(runtime.tokenizer.detokenize(tokens), parts.map(([text]) => text).join(''))
  const expected = parts.flatMap(([text, bit]) => runtime.tokenizer.tokenize(text, true).map(() => bit))
  assert.equal([...mask], expected)
  assert.is(promptLength, runtime.tokenizer.tokenize(prompt, true).length)
  assert.is(logprobs.length, expected.filter((bit) => bit === 1).length)
})

test('the final state of the environments results from the successful calls', async () => {
  const nothing = await play(task, ['No.', 'No.'], runtime)
  const again = await play(task, [lend, 'Done.', 'Done.'], runtime)
  const whole = await play(task, truth, runtime)
  assert.is(whole.stateHash, nothing.stateHash, 'a book that was lent and brought back')
  assert.is.not(again.stateHash, nothing.stateHash)
  const lookedTwice = await play(task, [writeCall('list_books', {}), lend, lend, 'Done.', 'Done.'], runtime)
  assert.is(lookedTwice.stateHash, again.stateHash)
  assert.equal(
    lookedTwice.calls.map((call) => !call.malformed && call.ok),
    [true, true, false],
  )
})

test('a malformed block, an unknown tool and arguments that do not fit are answered with errors and not executed', async () => {
  const script = [
    '<tool_call>{"name":</tool_call>',
    writeCall('burn_down', { how: 'throwing' }),
    writeCall('lend_book', { book: 'emma' }),
    writeCall('lend_book', { book: 5, reader: 'Ada' }),
    'Done.',
    'Done.',
  ]
  const { calls, responses, stateHash, reward } = await play(task, script, runtime)
  assert.equal(responses.map(errorOf), ['malformed_call', 'unknown_tool', 'invalid_arguments', 'invalid_arguments'])
  assert.is(calls[0]!.malformed, true)
  assert.ok(calls.slice(1).every((call) => !call.malformed && !call.ok))
  assert.is(stateHash, (await play(task, ['No.', 'No.'], runtime)).stateHash)
  assert.is(reward.components!.validity, 2 / 12)
})

test('a call that the environment refuses is answered with its error, escaped', async () => {
  const source = scriptedSource(
    [writeCall('lend_book', { book: 'a<b', reader: 'Ada' }), 'Done.', 'Done.'],
    runtime.tokenizer,
  )
  const { calls, responses } = await runEpisode(task, source, runtime, AMPLE, signal)
  assert.is(calls[0]!.malformed !== true && calls[0]!.ok, false)
  const refused = Session.open(generateSeedState(library, 1)).call('lend_book', { book: 'a<b', reader: 'Ada' })
  assert.equal(JSON.parse(responses[0]!), { error: 'unknown_book', message: !refused.ok && refused.message })
  assert.match(source.feeds[1]!, 'unknown_book')
})

test('undeclared keys pass the reward’s schema check and are left to the environment to refuse', async () => {
  const call = writeCall('lend_book', { book: 'emma', reader: 'Ada', hurry: true })
  const { calls, responses } = await play(task, [call, 'Done.', 'Done.'], runtime)
  assert.is(calls[0]!.malformed !== true && calls[0]!.ok, false)
  assert.is(errorOf(responses[0]), 'invalid_arguments')
  assert.match(responses[0]!, 'hurry')
})

test('calls of one message are executed in order and answered together', async () => {
  const message = `${lend}\n${writeCall('lend_book', { book: 'emma', reader: 'Bo' })}`
  const source = scriptedSource([message, 'Done.', 'Done.'], runtime.tokenizer)
  const { calls, responses } = await runEpisode(task, source, runtime, AMPLE, signal)
  assert.equal(
    calls.map((call) => !call.malformed && call.ok),
    [true, false],
  )
  assert.match(
    source.feeds[1]!,
    `<tool_response>\n${responses[0]}\n</tool_response>\n<tool_response>\n${responses[1]}\n`,
  )
})

test('the next user turn comes only when the policy has stopped calling', async () => {
  const source = scriptedSource([lend, writeCall('list_books', {}), 'There you are.', 'Bye.'], runtime.tokenizer)
  await runEpisode(task, source, runtime, AMPLE, signal)
  const asks = source.feeds.map((feed) => feed.includes('Now take that loan back.'))
  assert.equal(asks, [false, false, false, true])
  assert.is(source.feeds[0], '')
})

const promptLength = promptOf(task, runtime, AMPLE).length
const lendTokens = runtime.tokenizer.tokenize(lend, true).length + 1
const ENDS: readonly (readonly [string, readonly string[], Partial<EpisodeLimits>, EpisodeEnd, number])[] = [
  ['nothing more to say', ['No.', 'No.'], {}, 'finished', 0],
  ['a second call beyond the limit', [`${lend}${lend}`, 'Done.'], { maxCalls: 1 }, 'call_limit', 1],
  ['a call beyond the limit in a later turn', [lend, lend], { maxCalls: 1 }, 'call_limit', 1],
  ['calls exactly up to the limit', [lend, 'Done.', 'Done.'], { maxCalls: 1 }, 'finished', 1],
  ['as many turns as there may be', [lend, lend, lend], { maxAssistantTurns: 2 }, 'turn_limit', 2],
  ['the last turn that may be, well ended', [lend, 'Done.', 'Done.'], { maxAssistantTurns: 3 }, 'finished', 1],
  ['a call longer than a turn', [lend], { maxTurnTokens: 20 }, 'turn_length', 1],
  ['words longer than a turn', ['I will think about it.'], { maxTurnTokens: 5 }, 'turn_length', 0],
  ['a turn that ends on its last token', ['No.', 'No.'], { maxTurnTokens: 4 }, 'finished', 0],
  ['too few tokens for the whole call', [lend], { maxRolloutTokens: promptLength + 20 }, 'rollout_length', 1],
  [
    'tokens for the call but not for the answer',
    [lend],
    { maxRolloutTokens: promptLength + lendTokens + 10 },
    'rollout_length',
    1,
  ],
  ['a single token left', ['No.'], { maxRolloutTokens: promptLength + 1 }, 'rollout_length', 0],
]
for (const [what, script, change, end, calls] of ENDS) {
  test(`with ${what} the episode ends as ${end}`, async () => {
    const limits = { ...AMPLE, ...change }
    const source = scriptedSource(script, runtime.tokenizer)
    const rollout = await runEpisode(task, source, runtime, limits, signal)
    assert.is(rollout.end, end)
    assert.is(rollout.calls.length, calls)
    assert.is(rollout.responses.length, calls)
    assert.ok(rollout.tokens.length <= limits.maxRolloutTokens)
    assert.is(rollout.mask.length, rollout.tokens.length)
    assert.is(rollout.logprobs.length, rollout.mask.filter((bit) => bit === 1).length)
    assert.is(source.closed, true)
  })
}

test('a call block cut off by the limit is malformed, and whole ones before it are executed', async () => {
  const limits = { ...AMPLE, maxTurnTokens: lendTokens + 15 }
  const { calls, stateHash, end } = await play(task, [`${lend}${lend}`], runtime, limits)
  assert.is(end, 'turn_length')
  assert.equal(
    calls.map((call) => call.malformed === true),
    [false, true],
  )
  assert.is(stateHash, (await play(task, [lend, 'Done.', 'Done.'], runtime)).stateHash)
})

test('a prompt that leaves no tokens is refused, and the source is closed', async () => {
  const source = scriptedSource(['No.'], runtime.tokenizer)
  const limits = { ...AMPLE, maxRolloutTokens: promptLength }
  const error = await thrownBy(runEpisode(task, source, runtime, limits, signal))
  assert.ok(error instanceof EpisodeError)
  assert.is(error.code, 'prompt_too_long')
  assert.is(source.closed, true)
})

const BAD_TASKS: readonly (readonly [string, Task])[] = [
  ['names an unknown server in its toolset', lendingTask({ toolset: [{ environment: 'museum', tool: 'list_books' }] })],
  ['names an unknown tool', lendingTask({ toolset: [{ environment: 'library', tool: 'fly' }] })],
  [
    'names an inherited property as a tool',
    lendingTask({ toolset: [{ environment: 'library', tool: 'constructor' }] }),
  ],
  ['opens no session for a tool', lendingTask({ environments: [] })],
  [
    'opens a session of an unknown server',
    lendingTask({
      environments: [
        { environment: 'library', seed: 1 },
        { environment: 'museum', seed: 1 },
      ],
    }),
  ],
  [
    'opens two sessions of one server',
    lendingTask({
      environments: [
        { environment: 'library', seed: 1 },
        { environment: 'library', seed: 2 },
      ],
    }),
  ],
]
for (const [what, bad] of BAD_TASKS) {
  test(`a task that ${what} is refused, and the source is closed`, async () => {
    const source = scriptedSource(['No.'], runtime.tokenizer)
    const error = await thrownBy(runEpisode(bad, source, runtime, AMPLE, signal))
    assert.ok(error instanceof EpisodeError, String(error))
    assert.is(error.code, 'bad_task')
    assert.is(source.closed, true)
  })
}

test('a failing environment voids the rollout instead of blaming the policy', async () => {
  const risky = lendingTask({
    toolset: [...task.toolset, { environment: 'library', tool: 'burn_down' }],
  })
  const source = scriptedSource([writeCall('burn_down', { how: 'throwing' })], runtime.tokenizer)
  const error = await thrownBy(runEpisode(risky, source, runtime, AMPLE, signal))
  assert.is(error?.name, 'EnvironmentDefect')
  assert.is(source.closed, true)
})

test('an aborted episode throws and closes its source', async () => {
  const source = scriptedSource(truth, runtime.tokenizer)
  const error = await thrownBy(
    runEpisode(task, source, runtime, AMPLE, AbortSignal.abort(new Error('the node is closing'))),
  )
  assert.is(error?.message, 'the node is closing')
  assert.is(source.closed, true)
})

test('two tools of one name on two servers make a task that cannot be scored', async () => {
  const twice = lendingTask({ toolset: [...task.toolset, { environment: 'library', tool: 'lend_book' }] })
  const error = await thrownBy(play(twice, ['No.', 'No.'], runtime))
  assert.is((error as { code?: string })?.code, 'duplicate_tool')
})

test('an abstention task is worth 1 when nothing is called and 0 when anything is', async () => {
  const abstain = lendingTask({ kind: 'abstention', groundTruth: [], turns: ['What is the capital of Peru?'] })
  const quiet = await play(abstain, ['Lima.'], runtime)
  assert.is(quiet.reward.total, 1)
  assert.is(quiet.reward.components, null)
  assert.is(quiet.solved, true)
  assert.is((await play(abstain, [writeCall('list_books', {}), 'Lima.'], runtime)).reward.total, 0)
  assert.is((await play(abstain, ['<tool_call>', 'Lima.'], runtime)).reward.total, 0)
})

test('text after the end token of a message cannot occur: an end token ends the turn', async () => {
  const { tokens, mask } = await play(task, truth, runtime)
  for (const [i, token] of tokens.entries()) {
    if (token === END && mask[i] === 1) assert.is(mask[i + 1] ?? 0, 0)
  }
})

test.run()
