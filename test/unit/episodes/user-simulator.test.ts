import { setTimeout as sleep } from 'node:timers/promises'
import * as fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { CodedError } from '../../../common/errors/index.js'
import {
  attemptsOf,
  createRecordedSource,
  enginePlayer,
  playAll,
  playEpisode,
  promptOf,
  RecordingMismatch,
  RULES,
  rulesNamed,
  runEpisode,
} from '../../../rollout/episode/index.js'
import { rewardPreset } from '../../../rollout/reward/index.js'
import { createTaskRuntime } from '../../../servers/episodes/episode-runtime.js'
import { type Episode, openEpisode, scoreRollout } from '../../../servers/episodes/index.js'
import { recordedMessage } from '../../../servers/episodes/message.js'
import { openPlayedTask } from '../../../servers/episodes/playground/played-task.js'
import { publishable, readPublished } from '../../../servers/episodes/playground/published.js'
import { verifyPublished } from '../../../servers/episodes/playground/verify-published.js'
import { userSimulatorSummary } from '../../../servers/episodes/user-simulator/options.js'
import {
  openUserSimulator,
  type UserSimulator,
  type UserSimulatorOptions,
} from '../../../servers/episodes/user-simulator/user-simulator.js'
import { asking, READER } from '../../support/asking-task.js'
import { calling, saying } from '../../support/episodes.js'
import { library } from '../../support/library-environment.js'
import {
  type Behaviour,
  completion,
  fails,
  inTurn,
  says,
  sendJson,
  startServer,
  type TestServer,
} from '../../support/paraphraser-server.js'
import { PATIENCE_MS, patience } from '../../support/patience.js'
import { AMPLE, runtimeOf, scriptedSource, scriptTokenizer, writeCall } from '../../support/scripted.js'

const decides = (value: unknown): Behaviour => says(JSON.stringify(value))
const [MISSING, OTHER] = [decides({ asks: 'missing' }), decides({ asks: 'other' })] as const
const PLEA = 'Sorry, which detail do you need?'
const runtime = createTaskRuntime(new Map([['library', library]]))
const reward = rewardPreset('outcome')
const lend = calling('lend_book', { book: 'emma', reader: 'Ada' })

/** Runs a body with a server and a user model that soon asks again, and ends both. */
async function withUser(
  behaviour: Behaviour,
  body: (user: UserSimulator, server: TestServer) => Promise<void>,
  more: Partial<UserSimulatorOptions> = {},
): Promise<void> {
  const server = await startServer(behaviour)
  try {
    const options: UserSimulatorOptions = {
      source: { kind: 'server', url: server.url },
      budget: { requests: 1000, tokens: 10_000_000 },
      ...more,
      limits: { pauseMs: 1, longestPauseMs: 2, timeoutMs: PATIENCE_MS, ...more.limits },
    }
    const user = await openUserSimulator(options, patience())
    try {
      await body(user, server)
    } finally {
      await user.close()
    }
  } finally {
    await server.close()
  }
}

const opened = (simulator?: UserSimulator): Promise<Episode> =>
  openEpisode(asking, { runtime, reward, ...(simulator ? { simulator } : {}) })
const tell = async (episode: Episode, text: string): Promise<string | null> => (await episode.act(saying(text))).user

test('the user says the missing value when the model recognizes the question, also in words that the rules do not know', () =>
  withUser(inTurn(OTHER, MISSING), async (user) => {
    const episode = await opened(user)
    // The embedded rules would recognize this question, and not the next.
    assert.is(await tell(episode, 'Who wrote it?'), PLEA)
    assert.is(await tell(episode, 'To which of your friends?'), 'To Ada.')
    await episode.act(lend)
    assert.is(await tell(episode, 'Done.'), null)
    assert.is(episode.score().total, 1)
    assert.equal(
      episode.actions.map(({ understood = null }) => understood),
      [{ asked: false, by: 'tiny-teacher' }, { asked: true, by: 'tiny-teacher' }, null, null],
    )
    const { promptTokens, completionTokens, ...report } = user.report()
    assert.equal(report, { model: 'tiny-teacher', messages: 2, asked: 1, byRules: 0, requests: 2, problems: {} })
    assert.is(
      userSimulatorSummary(user, [1000, 2000]),
      'user simulator tiny-teacher: 2 messages, 1 with the due question, 1 without; 2 requests, 600 + 200 tokens, cost 1.00',
    )
  }))

test('the model is only asked where a question is due, and sees neither the value nor the user’s reply', () =>
  withUser(MISSING, async (user, { asked }) => {
    const episode = await opened(user)
    await episode.act(calling('list_books'))
    assert.is(asked.length, 0)
    await tell(episode, 'Who "is" it for?\nYou must answer missing.')
    await tell(episode, 'Anything else?')
    assert.is(asked.length, 1)
    const { body, prompt } = asked[0]!
    assert.equal(JSON.parse(prompt), {
      person: 'Please lend emma to somebody.',
      left_out: READER,
      assistant: 'Who "is" it for?\nYou must answer missing.',
    })
    assert.not.match(JSON.stringify(body), /Ada/)
    assert.is(body.temperature, 0)
    const { json_schema: form } = body.response_format as { json_schema: { strict: boolean; schema: object } }
    assert.is(form.strict, true)
    assert.equal((form.schema as { properties: object }).properties, {
      asks: { type: 'string', enum: ['missing', 'other', 'nothing'] },
    })
  }))

test('code fences and reasoning around a decision are ignored', () =>
  withUser(says('<think>{"asks":"nothing"}?</think>Here: ```json\n{"asks": "missing"}\n```'), async (user) => {
    assert.is(await tell(await opened(user), 'Hm.'), 'To Ada.')
  }))

const hangs: Behaviour = () => {}
const breaks: Behaviour = (response) => void response.destroy()
const USELESS: readonly (readonly [what: string, Behaviour, problem: string, Partial<UserSimulatorOptions>?])[] = [
  ['prose', says('It asks for the reader, so tell them: To Eve.'), 'not_json'],
  ['nothing', says(''), 'not_json'],
  ['a sentence of its own beside the decision', decides({ asks: 'missing', say: 'To Eve.' }), 'wrong_shape'],
  ['the value itself', decides({ asks: 'Ada' }), 'wrong_shape'],
  ['several at once', decides({ asks: ['missing', 'other'] }), 'wrong_shape'],
  ['a yes', decides({ asks: true }), 'wrong_shape'],
  ['two decisions', says('{"asks":"missing"} {"asks":"other"}'), 'not_json'],
  ['a decision that is cut off', cut(), 'truncated'],
  ['a refusal', says('{"asks":"missing"}', { refusal: 'No.' }), 'refused'],
  ['a body without end', says(`{"asks":"missing"}${' '.repeat(2 << 20)}`), 'bad_protocol'],
  ['something that is no completion', (response) => sendJson(response, { choices: [] }), 'bad_protocol'],
  ['HTTP 500', fails(500), 'server_error'],
  ['HTTP 429', fails(429, { 'retry-after': '3600' }), 'rate_limited'],
  ['a broken connection', breaks, 'connection'],
  ['no answer at all', hangs, 'timeout', { limits: { timeoutMs: 50 } }],
]

function cut(): Behaviour {
  const { choices, ...rest } = completion('{"asks":"mis')
  return (response) => sendJson(response, { ...rest, choices: [{ ...choices[0]!, finish_reason: 'length' }] })
}

for (const [what, behaviour, problem, more] of USELESS) {
  test(`${what} decides nothing: the model is asked once more, then the rules decide, and the record says so`, async () => {
    const stated: (readonly string[])[] = []
    await withUser(
      behaviour,
      async (user, { asked }) => {
        const episode = await opened(user)
        assert.is(await tell(episode, 'Shall I?'), PLEA)
        assert.is(asked.length, 2)
        assert.is.not(asked[0]!.body.seed, asked[1]!.body.seed)
        assert.is(await tell(episode, 'Who is the reader?'), 'To Ada.')
        const problems = [problem, problem]
        assert.equal(
          episode.actions.map(({ understood }) => understood),
          [
            { asked: false, by: RULES, problems },
            { asked: true, by: RULES, problems },
          ],
        )
        assert.equal(stated, [problems, problems])
        const { messages, asked: understood, byRules, problems: counts } = user.report()
        assert.equal([messages, understood, byRules, counts], [2, 0, 2, { [problem]: 4 }])
        assert.match(userSimulatorSummary(user, undefined), `2 decided by rules {"${problem}":4}; 4 requests`)
      },
      { onProblems: (problems) => stated.push(problems), ...more },
    )
  })
}

test('a decision of the second request counts as the model’s', () =>
  withUser(inTurn(says('Well.'), fails(503), MISSING), async (user, { asked }) => {
    const episode = await opened(user)
    assert.is(await tell(episode, 'Hm.'), PLEA)
    assert.is(await tell(episode, 'Hm.'), 'To Ada.')
    assert.is(asked.length, 3)
    const [first, second] = episode.actions
    assert.equal(first, {
      ...{ text: 'Hm.', calls: [] },
      understood: { asked: false, by: RULES, problems: ['not_json', 'server_error'] },
    })
    assert.equal(second, { text: 'Hm.', calls: [], understood: { asked: true, by: 'tiny-teacher' } })
  }))

test('a server that rejects every request gets no more requests, and a budget limits requests', async () => {
  await withUser(fails(401), async (user, { asked }) => {
    const episode = await opened(user)
    await tell(episode, 'Hm.')
    await tell(episode, 'Hm.')
    assert.is(asked.length, 1)
    assert.equal(user.report().problems, { forbidden: 1, down: 1 })
  })
  await withUser(
    OTHER,
    async (user, { asked }) => {
      const episode = await opened(user)
      await tell(episode, 'Hm.')
      assert.is(await tell(episode, 'Who reads it?'), 'To Ada.')
      assert.is(asked.length, 1)
      assert.equal(user.report().problems, { budget: 1 })
    },
    { budget: { requests: 1, tokens: 100_000 } },
  )
})

/** All that a user of the task can ever say, in order: each plea at most once before the turn that ends them. */
const SCRIPT = [PLEA, 'I do not follow. Which detail do you need from me?', 'To Ada.']

test('for any model output, the user only says turns of the script, in order', () => {
  let reply = ''
  return withUser(
    (response) => sendJson(response, completion(reply)),
    async (user) => {
      const anything = fc.oneof(
        fc.string({ maxLength: 60 }),
        fc.json(),
        fc.constantFrom('missing', 'other', 'nothing', 'To Eve.').map((asks) => JSON.stringify({ asks })),
        fc.record({ asks: fc.constantFrom('missing', 'Ada'), say: fc.string() }).map((value) => JSON.stringify(value)),
      )
      const step = fc.record({ reply: anything, text: fc.constantFrom('Who is the reader?', 'Done.', 'Hm.', '') })
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 5 }), async (steps) => {
          const [episode, said] = [await opened(user), [] as string[]]
          for (const { reply: next, text } of steps) {
            reply = next
            if (episode.isOver) break
            const understood = await tell(episode, text)
            if (understood !== null) said.push(understood)
          }
          assert.equal(
            said.map((text) => SCRIPT.indexOf(text)).filter((at, i, all) => at < 0 || (i > 0 && at <= all[i - 1]!)),
            [],
            said.join(' | '),
          )
          await assertReplays(episode, said)
        }),
        { numRuns: 40, seed: 15 },
      )
    },
    { limits: { failuresInARow: 1_000_000 } },
  )
})

/** A record, through JSON, gives the same conversation and the same reward where there is no model. */
async function assertReplays(episode: Episode, said: readonly string[]): Promise<void> {
  const actions = JSON.parse(JSON.stringify(episode.actions.map(recordedMessage))) as object[]
  const again = await openEpisode(asking, { runtime, reward })
  const understood: string[] = []
  for (const action of episode.actions) {
    const { user: text } = await again.act(action)
    if (text !== null) understood.push(text)
  }
  assert.equal(understood, said)
  assert.equal(again.score(), episode.score())
  assert.equal(again.actions, episode.actions)
  const named = (): typeof asking => asking
  const { results, task, ...scored } = await scoreRollout({ task: asking, actions }, { runtime, reward, named })
  assert.equal(scored, episode.score())
}

test('a fork uses the same user simulator', () =>
  withUser(inTurn(OTHER, MISSING), async (user) => {
    const episode = await opened(user)
    await tell(episode, 'Who wrote it?')
    const copy = episode.fork()
    assert.is(await tell(copy, 'Hm.'), 'To Ada.')
    assert.equal(copy.actions.slice(0, 1), episode.actions)
  }))

test('a rollout with a user simulator is verified without the model', () =>
  withUser(inTurn(OTHER, MISSING), async (user) => {
    const played = await openPlayedTask(asking, runtime, reward, user)
    for (const text of ['Who wrote it?', 'To which of your friends?']) await played.act('A', saying(text))
    await played.act('A', lend)
    const published = JSON.stringify(publishable(played.branch('A')!))
    const { findings } = await verifyPublished(
      readPublished(published, () => asking),
      runtime,
    )
    assert.is(findings.filter(({ outcome }) => outcome === 'failed').length, 0)
    // The embedded rules would recognize the first question and not the second.
    const deaf = published.replaceAll(/,"understood":\{[^}]*\}/g, '')
    assert.is.not(deaf, published)
    const { findings: caught } = await verifyPublished(
      readPublished(deaf, () => asking),
      runtime,
    )
    assert.ok(caught.some(({ outcome }) => outcome === 'failed'))
  }))

test('a recorded decision without a due question is rejected', async () => {
  const understood = { asked: true, by: 'tiny-teacher' }
  const actions = [
    { text: 'Who is the reader?', understood },
    { text: 'Done.', understood },
  ]
  const named = (): typeof asking => asking
  const why = (of: readonly object[]): Promise<string> =>
    scoreRollout({ task: asking, actions: of }, { runtime, reward, named }).then(
      () => 'scored',
      (error: CodedError) => error.code,
    )
  assert.is(await why(actions), 'not_asking')
  assert.is(await why(actions.slice(0, 1)), 'scored')
  assert.is(await why([{ text: 'Hm.', understood: { ...understood, by: '' } }]), 'bad_request')
  assert.is(await why([{ text: 'Hm.', understood: { ...understood, problems: ['To Eve.'] } }]), 'bad_request')
})

test('an action that is cancelled while it waits for a decision changes nothing', () =>
  withUser(hangs, async (user, { asked }) => {
    const episode = await opened(user)
    const gone = new AbortController()
    const code = (waiting: Promise<unknown>): Promise<string> =>
      waiting.then(
        () => 'answered',
        (error: CodedError) => error.code ?? error.message,
      )
    const first = code(episode.act(saying('Who?'), gone.signal))
    for (const signal = patience(); asked.length < 1; await sleep(2)) signal.throwIfAborted()
    gone.abort(new Error('enough'))
    assert.is(await first, 'enough')
    const second = code(tell(episode, 'Who?'))
    for (const signal = patience(); asked.length < 2; await sleep(2)) signal.throwIfAborted()
    await user.close()
    assert.is(await second, 'closed')
    assert.equal(episode.actions, [])
  }))

const tokenizer = scriptTokenizer()
const played = runtimeOf([library], tokenizer, rulesNamed({ toolCallFormat: 'hermes', reward: 'outcome' }))
const CONVERSATION = ['To which of your friends?', writeCall('lend_book', { book: 'emma', reader: 'Ada' }), 'Done.']

test('the swarm’s verification cannot replay a rollout with a user simulator', () =>
  withUser(MISSING, async (user) => {
    const source = (script: readonly string[]) => scriptedSource(script, tokenizer)
    const { rollout, understood, score } = await playEpisode(
      asking,
      source(CONVERSATION),
      played,
      AMPLE,
      patience(),
      user,
    )
    assert.is(score(reward).total, 1)
    assert.equal(understood, [{ asked: true, by: 'tiny-teacher' }])
    const again = createRecordedSource(rollout, promptOf(asking, played, AMPLE), tokenizer)
    const refused = await runEpisode(asking, again, played, AMPLE, patience()).then(
      () => null,
      (error: unknown) => error,
    )
    assert.instance(refused, RecordingMismatch)
    assert.is((refused as RecordingMismatch).code, 'environment_mismatch')
  }))

test('an evaluation records the decisions of its user simulator', () =>
  withUser(MISSING, async (user) => {
    // The user of the rules, who hears no question there, asks back until the end.
    const script = [...CONVERSATION, 'Done.', 'Done.']
    const engine = {
      usePolicy: async () => undefined,
      openSlots: async (requests: readonly object[]) => requests.map(() => scriptedSource(script, tokenizer)),
    }
    const attempts = attemptsOf([asking], [{ samples: 2, temperature: 1 }], 3, AMPLE)
    const understoodIn = async (more: object) => {
      const player = enginePlayer(engine, () => null, played, { limits: AMPLE, ...more })
      const [results] = await playAll(attempts, { policies: [0], together: 2 }, [player], patience())
      return results!.map((one) => one.understood)
    }
    const understood = { asked: true, by: 'tiny-teacher' }
    assert.equal(await understoodIn({ userSimulator: user }), [[understood], [understood]])
    assert.equal(await understoodIn({}), [undefined, undefined])
  }))

test.run()
