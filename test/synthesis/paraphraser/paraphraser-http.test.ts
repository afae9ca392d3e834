import '../../../swarm/polyfill.js'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { CodedError } from '../../../common/errors/index.js'
import type { Example } from '../../../tasks/dataset/example.js'
import {
  createParaphraser,
  type Paraphraser,
  type ParaphraserError,
  type RephraseContext,
  rephraseAll,
} from '../../../tasks/synthesis/paraphraser/index.js'
import {
  type Behaviour,
  completion,
  fails,
  inTurn,
  never,
  paraphraserAt,
  polite,
  politely,
  says,
  sendJson,
  startServer,
  temporaryFolder,
  withParaphraser,
} from '../../support/paraphraser-server.js'
import { numbered, rent, rentRetold, TODAY, weather } from '../../support/reference-story.js'
import { CATALOGUE } from '../../support/spoken-catalogue.js'

const context = (signal = never()): RephraseContext => ({ today: TODAY, signal })
const retold: Behaviour = says(JSON.stringify({ turns: rentRetold }))
/** Waits for something that happens in the server. */
async function until(ready: () => boolean): Promise<void> {
  for (const signal = never(); !ready(); await sleep(5)) signal.throwIfAborted()
}
const kinds = (problems: readonly { readonly kind: string }[]): string[] => problems.map(({ kind }) => kind)

test('good words are taken, the task gets a new name, and all else stays', () =>
  withParaphraser(retold, async (paraphraser, server) => {
    const { example, attempts, outcome, problems } = await paraphraser.rephrase(rent, context())
    assert.is(outcome, 'paraphrased')
    assert.is(attempts, 1)
    assert.equal(problems, [])
    assert.equal(
      example.exchanges.map(({ user, assistant }) => ({ user, assistant })),
      rentRetold,
    )
    assert.equal(example.task.groundTruth, rent.task.groundTruth)
    assert.equal(example.origins, rent.origins)
    assert.is.not(example.task.id, rent.task.id)
    assert.is(example.speech, 'paraphrased')
    const [{ body, headers }] = server.asked as [(typeof server.asked)[number]]
    assert.is(body.model, 'tiny-teacher')
    assert.equal(Object.keys(body).sort(), [
      'max_tokens',
      'messages',
      'model',
      'response_format',
      'seed',
      'stream',
      'temperature',
    ])
    for (const name of Object.keys(headers)) assert.not.match(name, /^x-stainless|^authorization|^openai/)
    const { problems: counts, ...report } = paraphraser.report()
    assert.equal(counts, {})
    assert.equal(report, {
      paraphraser: 'tiny-teacher',
      examples: 1,
      rephrased: 1,
      kept: 0,
      fromCache: 0,
      requests: 1,
      promptTokens: 300,
      completionTokens: 100,
      damagedCacheLines: 0,
    })
  }))

test('a rejected reply leads to another request with the objections and another seed', () =>
  withParaphraser(
    inTurn(
      says('I’m sorry, I can’t help with that.'),
      says(
        JSON.stringify({ turns: [rentRetold[0], { user: 'The usual.', assistant: 'Maria Lind has been paid 250.' }] }),
      ),
      retold,
    ),
    async (paraphraser, { asked }) => {
      const { attempts, outcome, problems } = await paraphraser.rephrase(rent, context())
      assert.is(outcome, 'paraphrased')
      assert.is(attempts, 3)
      assert.equal(kinds(problems), ['refused', 'missing_phrase', 'missing_phrase'])
      assert.match(asked[2]!.prompt, 'the user must say exactly "250"')
      assert.not.match(asked[0]!.prompt, 'could not be used')
      assert.is(new Set(asked.map(({ body }) => body.seed)).size, 3)
    },
  ))

const UNUSABLE: readonly (readonly [title: string, Behaviour, kind: string])[] = [
  ['rubbish', says('lorem ipsum'), 'not_json'],
  ['nothing', says(''), 'not_json'],
  ['JSON that was cut off', truncated(), 'truncated'],
  ['a refusal in its own field', says('', { refusal: 'No.' }), 'refused'],
  ['a filter', filtered(), 'refused'],
  ['another shape', says('{"turns":[{"user":"a"}]}'), 'wrong_shape'],
  ['too few turns', says(JSON.stringify({ turns: rentRetold.slice(1) })), 'wrong_turns'],
  [
    'the draft',
    (response, { drafts }) => sendJson(response, completion(JSON.stringify({ turns: drafts }))),
    'unchanged',
  ],
  [
    'words without end',
    says(JSON.stringify({ turns: rentRetold.map((turn) => ({ ...turn, user: 'Well. '.repeat(900) })) })),
    'too_long',
  ],
  [
    'a leak',
    says(JSON.stringify({ turns: [{ ...rentRetold[0], user: `${rentRetold[0]!.user} It is 250.` }, rentRetold[1]] })),
    'withheld_value',
  ],
]

function truncated(): Behaviour {
  const choice = { finish_reason: 'length', message: { content: JSON.stringify({ turns: rentRetold }).slice(0, 80) } }
  return (response) => sendJson(response, { choices: [choice] })
}

function filtered(): Behaviour {
  const choice = { finish_reason: 'content_filter', message: { content: null } }
  return (response) => sendJson(response, { choices: [choice] })
}

for (const [title, behaviour, kind] of UNUSABLE) {
  test(`${title} for ever leaves the example as it was, and is counted as ${kind}`, () =>
    withParaphraser(behaviour, async (paraphraser, { asked }) => {
      const { example, outcome, problems, attempts } = await paraphraser.rephrase(rent, context())
      assert.is(outcome, 'kept')
      assert.is(example, rent)
      assert.is(attempts, 3)
      assert.is(asked.length, 3)
      assert.equal([...new Set(kinds(problems))], [kind])
      assert.ok((paraphraser.report().problems[kind as 'refused'] ?? 0) >= 3)
      assert.is(paraphraser.report().kept, 1)
    }))
}

test('HTTP 429 is waited out as long as the server asks', () =>
  withParaphraser(inTurn(fails(429, { 'retry-after': '1' }), retold), async (paraphraser) => {
    const started = performance.now()
    const { outcome, problems, attempts } = await paraphraser.rephrase(rent, context())
    assert.is(outcome, 'paraphrased')
    assert.is(attempts, 2)
    assert.equal(kinds(problems), ['rate_limited'])
    assert.ok(performance.now() - started >= 990)
  }))

test('a server that asks for a pause without end gets the longest one that is allowed', () =>
  withParaphraser(
    inTurn(fails(429, { 'retry-after': '86400' }), retold),
    async (paraphraser) => assert.is((await paraphraser.rephrase(rent, context())).outcome, 'paraphrased'),
    { limits: { longestPauseMs: 30 } },
  ))

const BROKEN: readonly (readonly [title: string, Behaviour, kind: string])[] = [
  ['HTTP 500', fails(500), 'server_error'],
  ['a closed socket', (response) => void response.destroy(), 'connection'],
  [
    'a socket closed in the middle',
    (response) => void response.writeHead(200, { 'content-length': '500' }).write('{"cho', () => response.destroy()),
    'connection',
  ],
  ['an answer that never comes', () => {}, 'timeout'],
  [
    'an answer that never ends',
    (response) => void response.writeHead(200, { 'content-type': 'application/json' }).write('{"choices":'),
    'timeout',
  ],
  ['an answer without bounds', flood, 'bad_protocol'],
  [
    'a page for people',
    (response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Hello</h1>'),
    'bad_protocol',
  ],
  [
    'damaged JSON',
    (response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('{"choices": ['),
    'bad_protocol',
  ],
  ['another protocol', (response) => sendJson(response, { choices: [{ text: 'old' }] }), 'bad_protocol'],
  ['an empty answer', (response) => void response.writeHead(204).end(), 'bad_protocol'],
  ['a redirection', (response) => void response.writeHead(307, { location: '/v1/elsewhere' }).end(), 'connection'],
]

async function flood(response: Parameters<Behaviour>[0]): Promise<void> {
  response.writeHead(200, { 'content-type': 'application/json' })
  const closed = new Promise((resolve) => response.once('close', resolve))
  for (let i = 0; i < 60 && !response.destroyed; i++) {
    if (!response.write(' '.repeat(64 << 10)))
      await Promise.race([new Promise((resolve) => response.once('drain', resolve)), closed])
  }
  // What comes in the end would be good, if anybody still read it.
  response.end(JSON.stringify(completion(JSON.stringify({ turns: rentRetold }))))
}

for (const [title, behaviour, kind] of BROKEN) {
  test(`${title} is tried again, then the example stays as it was, and it is counted as ${kind}`, () =>
    withParaphraser(
      behaviour,
      async (paraphraser, server, folder) => {
        const { example, outcome, problems, attempts } = await paraphraser.rephrase(rent, context())
        assert.is(outcome, 'kept')
        assert.is(example, rent)
        assert.is(attempts, 3)
        assert.equal(kinds(problems), [kind, kind, kind])
        // Failures are not remembered: the next try of the same example asks again. By a teacher that does not lose patience.
        server.behave(retold)
        const again = await paraphraserAt(server.url, folder)
        assert.is((await again.rephrase(rent, context())).outcome, 'paraphrased')
        await again.close()
      },
      { limits: { failures: 3, ...(kind === 'timeout' ? { timeoutMs: 150 } : {}) } },
    ))
}

test('a slow answer within the time limit is taken', () =>
  withParaphraser(
    async (response, asked, nth) => {
      await sleep(200)
      await retold(response, asked, nth)
    },
    async (paraphraser) => assert.is((await paraphraser.rephrase(rent, context())).outcome, 'paraphrased'),
  ))

test('a request that the server does not accept is not sent again', () =>
  withParaphraser(fails(422), async (paraphraser, { asked }) => {
    const { outcome, problems } = await paraphraser.rephrase(rent, context())
    assert.is(outcome, 'kept')
    assert.equal(kinds(problems), ['rejected'])
    assert.is(asked.length, 1)
  }))

test('parameters that a server does not know are left out from then on', () => {
  const picky: Behaviour = (response, asked, nth) => {
    const { body } = asked
    for (const param of ['response_format', 'temperature', 'max_tokens'])
      if (param in body)
        return fails(400, {}, { message: `Unsupported parameter: '${param}'`, param })(response, asked, nth)
    return retold(response, asked, nth)
  }
  return withParaphraser(picky, async (paraphraser, { asked }) => {
    const { outcome, problems } = await paraphraser.rephrase(rent, context())
    assert.is(outcome, 'paraphrased')
    assert.equal(problems, [])
    assert.is(asked.length, 4)
    assert.is(asked[3]!.body.max_completion_tokens, 4096)
    assert.ok(typeof asked[3]!.body.seed === 'number')
    await paraphraser.rephrase(numbered(1), context())
    assert.is(asked.length, 7, 'three replies with the wrong words, none refused for its parameters')
  })
})

test('a server that is down is noticed once and then left alone', () =>
  withParaphraser(
    fails(503),
    async (paraphraser, { asked }) => {
      const all = [0, 1, 2, 3, 4].map(numbered)
      for (const example of all) assert.is((await paraphraser.rephrase(example, context())).example, example)
      assert.is(asked.length, 4)
      const { problems, kept, examples } = paraphraser.report()
      assert.equal({ problems, kept, examples }, { problems: { server_error: 4, down: 4 }, kept: 5, examples: 5 })
    },
    { limits: { failures: 3, failuresInARow: 4 } },
  ))

test('a wrong key for a named model ends it at the first request', () =>
  withParaphraser(fails(401), async (paraphraser, { asked }) => {
    assert.equal(kinds((await paraphraser.rephrase(numbered(1), context())).problems), ['forbidden'])
    assert.equal(kinds((await paraphraser.rephrase(numbered(2), context())).problems), ['down'])
    assert.is(asked.length, 1)
  }))

test('the key goes into the header and nowhere else', async () => {
  const folder = await temporaryFolder()
  const server = await startServer(inTurn(says('rubbish'), fails(500), retold))
  const apiKey = 'sk-very-secret'
  const paraphraser = await createParaphraser(
    {
      source: { kind: 'server', url: server.url, model: 'named', apiKey },
      catalogue: CATALOGUE,
      cacheFolder: folder.path,
      budget: { requests: 9, tokens: 1e6 },
      limits: { backoffMs: 1 },
    },
    never(),
  )
  try {
    const result = await paraphraser.rephrase(rent, context())
    assert.is(result.outcome, 'paraphrased')
    for (const { headers, body } of server.asked) {
      assert.is(headers.authorization, `Bearer ${apiKey}`)
      assert.is(body.model, 'named')
    }
    const written = readFileSync(join(folder.path, 'rephrased.jsonl'), 'utf8')
    for (const text of [written, JSON.stringify(result), JSON.stringify(paraphraser.report())])
      assert.not.match(text, apiKey)
  } finally {
    await paraphraser.close()
    await server.close()
    await folder.remove()
  }
})

async function codeOf(opening: Promise<unknown>): Promise<string> {
  try {
    await opening
    return 'opened'
  } catch (error) {
    assert.instance(error, CodedError)
    return (error as CodedError).code
  }
}

test('a paraphraser that cannot work reports the reason when it is opened', async () => {
  const folder = await temporaryFolder()
  const server = await startServer(retold)
  try {
    for (const url of ['nonsense', 'file:///etc/passwd', 'http://me:pass@127.0.0.1/v1', `${server.url}?key=1`])
      assert.is(await codeOf(paraphraserAt(url, folder.path)), 'bad_options', url)
    assert.is(await codeOf(paraphraserAt('http://127.0.0.1:9/v1', folder.path)), 'unreachable')
    assert.is(await codeOf(paraphraserAt(server.url.replace('/v1', '/v2'), folder.path)), 'unreachable')
    assert.is(
      await codeOf(paraphraserAt(server.url, folder.path, { budget: { requests: 0, tokens: 5 } })),
      'bad_options',
    )
    assert.is(await codeOf(paraphraserAt(server.url, join(folder.path, '\0'))), 'cache_failed')
    const file = { kind: 'file', modelPath: '/nowhere.gguf', threads: 1, gpu: false, contextSize: 512 } as const
    assert.is(await codeOf(paraphraserAt(server.url, folder.path, { source: file })), 'bad_model_file')
  } finally {
    await server.close()
    await folder.remove()
  }
})

const outcomes = async (paraphraser: Paraphraser, examples: readonly Example[], concurrency = 1, signal = never()) => {
  const made: { example: Example; outcome: string }[] = []
  for await (const one of rephraseAll(examples, paraphraser, context(signal), concurrency)) made.push(one)
  return made
}

test('the request budget is never exceeded, and remaining examples stay unchanged', () =>
  withParaphraser(
    polite,
    async (paraphraser, { asked }) => {
      const made = await outcomes(
        paraphraser,
        Array.from({ length: 8 }, (_, i) => numbered(i)),
        4,
      )
      assert.is(asked.length, 5)
      assert.equal(made.map(({ outcome }) => outcome).filter((outcome) => outcome === 'kept').length, 3)
      for (const { example, outcome } of made) assert.is(example.speech, outcome === 'kept' ? 'natural' : 'paraphrased')
      const { requests, rephrased, kept, problems } = paraphraser.report()
      assert.equal(
        { requests, rephrased, kept, problems },
        { requests: 5, rephrased: 5, kept: 3, problems: { budget: 3 } },
      )
    },
    { budget: { requests: 5, tokens: 1e7 } },
  ))

test('the token budget uses the counts of the server, or an estimate without counts', async () => {
  const budget = { requests: 100, tokens: 9_000 }
  const limits = { replyTokens: 1_000 }
  const three = [0, 1, 2].map(numbered)
  await withParaphraser(
    inTurn((response, { drafts }) =>
      sendJson(
        response,
        completion(
          JSON.stringify({ turns: drafts.map(politely) }),
          {},
          { prompt_tokens: 5_000, completion_tokens: 2_500 },
        ),
      ),
    ),
    async (paraphraser) => {
      assert.equal(
        (await outcomes(paraphraser, three)).map(({ outcome }) => outcome),
        ['paraphrased', 'kept', 'kept'],
      )
      assert.is(paraphraser.report().promptTokens, 5_000)
    },
    { budget, limits },
  )
  for (const usage of [undefined, { prompt_tokens: -5, completion_tokens: 1e300 }]) {
    await withParaphraser(
      (response, { drafts }) =>
        sendJson(response, completion(JSON.stringify({ turns: drafts.map(politely) }), {}, usage)),
      async (paraphraser) => {
        assert.is((await outcomes(paraphraser, three.slice(1)))[0]!.outcome, 'paraphrased')
        const { promptTokens, completionTokens } = paraphraser.report()
        assert.ok(promptTokens > 500 && promptTokens < 9_000, `${promptTokens}`)
        assert.ok(completionTokens > 50 && completionTokens < 500, `${completionTokens}`)
      },
      { budget: { requests: 100, tokens: 30_000 }, limits },
    )
  }
})

test('several at a time come out in their own order', () => {
  /** Every second request is answered before the one that came before it; the last has none to wait for. */
  const later = Array.from({ length: 8 }, () => Promise.withResolvers<void>())
  const uneven: Behaviour = async (response, asked, nth) => {
    if (nth % 2 === 0 && nth < 6) await later[nth + 1]!.promise
    await polite(response, asked, nth)
    later[nth]!.resolve()
  }
  return withParaphraser(uneven, async (paraphraser, { asked }) => {
    const made = await outcomes(paraphraser, [...Array.from({ length: 6 }, (_, i) => numbered(i)), weather], 3)
    assert.equal(
      made.map(({ example }) => example.index),
      [0, 1, 2, 3, 4, 5, 0],
    )
    assert.ok(made.every(({ outcome }) => outcome === 'paraphrased'))
    assert.is(asked.length, 7)
  })
})

test('an abort in the middle ends everything at once and gives nothing half-made', () =>
  withParaphraser(
    inTurn(polite, polite, () => {}),
    async (paraphraser, { asked }) => {
      const stop = new AbortController()
      const made: Example[] = []
      const examples = Array.from({ length: 9 }, (_, i) => numbered(i))
      let reason: unknown
      try {
        for await (const { example } of rephraseAll(examples, paraphraser, context(stop.signal), 2)) {
          made.push(example)
          if (made.length === 2) void until(() => asked.length === 4).then(() => stop.abort(new Error('enough')))
        }
      } catch (error) {
        reason = error
      }
      assert.is((reason as Error).message, 'enough')
      assert.equal(
        made.map(({ speech }) => speech),
        ['paraphrased', 'paraphrased'],
      )
      assert.is(asked.length, 4)
    },
  ))

test('closing cancels running requests, and a closed paraphraser rejects new ones', () =>
  withParaphraser(
    () => {},
    async (paraphraser, { asked }) => {
      const waiting = paraphraser.rephrase(rent, context()).then(
        () => 'done',
        (error: ParaphraserError) => error.code,
      )
      await until(() => asked.length === 1)
      await paraphraser.close()
      await paraphraser.close()
      assert.is(await waiting, 'closed')
      assert.is(await codeOf(paraphraser.rephrase(rent, context())), 'closed')
    },
  ))

test.run()
