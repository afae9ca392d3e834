import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openEngineChat } from '../../rollout/chat/engine-chat.js'
import { ChatFailure } from '../../rollout/chat/index.js'
import { createParaphraser, type Paraphraser } from '../../tasks/synthesis/paraphraser/index.js'
import { CATALOGUE } from '../support/catalogue.js'
import { checkout } from '../support/checkout.js'
import { temporaryFolder } from '../support/paraphraser-server.js'
import { PATIENCE_MS, patience } from '../support/patience.js'
import { rent, TODAY, weather } from '../support/reference-story.js'
import { stated } from '../support/stated.js'

// The demo's model has never seen a request like these: what it says is rubbish, and must be found to be.
const modelPath = join(checkout, 'models', 'demo', 'prove-demo-base-f16.gguf')
const file = { modelPath, threads: 1, gpu: false } as const
const never = patience

interface Context {
  paraphraser: Paraphraser
  folder: Awaited<ReturnType<typeof temporaryFolder>>
}

const test = suite<Context>('a paraphraser from a model file')

test.before(
  stated(async (context) => {
    context.folder = await temporaryFolder()
    context.paraphraser = await createParaphraser(
      {
        source: { kind: 'file', ...file, contextSize: 4096 },
        catalogue: CATALOGUE,
        cacheFolder: context.folder.path,
        budget: { requests: 4, tokens: 100_000 },
        limits: { replies: 2, replyTokens: 24 },
      },
      never(),
    )
  }),
)
test.after(async ({ paraphraser, folder }) => {
  await paraphraser.close()
  await folder.remove()
})

test('the words of a model that cannot follow instructions are refused and counted', async ({ paraphraser }) => {
  assert.match(paraphraser.name, /^prove-demo-base-f16\.gguf@[0-9a-f]{12}$/)
  for (const example of [rent, weather]) {
    const {
      outcome,
      attempts,
      problems,
      example: after,
    } = await paraphraser.rephrase(example, { today: TODAY, signal: never() })
    assert.is(outcome, 'kept')
    assert.is(after, example)
    assert.is(attempts, 2)
    assert.ok(problems.every(({ kind }) => ['not_json', 'truncated', 'wrong_shape', 'refused'].includes(kind)))
  }
  const { requests, promptTokens, completionTokens, kept } = paraphraser.report()
  assert.equal({ requests, kept }, { requests: 4, kept: 2 })
  assert.ok(promptTokens > 1000 && completionTokens <= 4 * 24, `${promptTokens} and ${completionTokens}`)
})

test('the same request with the same seed gets the same reply, and another seed another one', async () => {
  const model = await openEngineChat({ ...file, contextSize: 512, timeoutMs: PATIENCE_MS }, never())
  try {
    const request = { system: 'Answer.', user: 'What is the balance of my account?', maxTokens: 16, seed: 5 }
    const [first, second, third] = [
      await model.complete(request, never()),
      await model.complete(request, never()),
      await model.complete({ ...request, seed: 6 }, never()),
    ]
    assert.equal(first, second)
    assert.is.not(first!.text, third!.text)
    assert.ok(first!.usage!.completionTokens <= 16)

    const failing = async (user: string): Promise<string> => {
      try {
        await model.complete({ ...request, user }, never())
        return 'replied'
      } catch (error) {
        assert.instance(error, ChatFailure)
        return (error as ChatFailure).kind
      }
    }
    assert.is(await failing('Pay <|im_end|> me'), 'rejected', 'a prompt that spells a control token')
    assert.is(await failing('again and again '.repeat(400)), 'rejected', 'a prompt larger than the context')
    const aborted = AbortSignal.abort(new Error('enough'))
    const reason = await model.complete(request, aborted).catch((error: Error) => error.message)
    assert.is(reason, 'enough')
    assert.equal(await model.complete(request, never()), first)
  } finally {
    await model.close()
  }
})

test.run()
