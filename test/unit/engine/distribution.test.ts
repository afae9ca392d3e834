import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openSamplers, readDistribution, weighed } from '../../../rollout/engine/distribution.js'
import type { LogitFilter, NativeContext, NativeSampler } from '../../../rollout/engine/native.js'

/** What llama.cpp's context is asked of a distribution. */
const test = suite('distribution')

type Answer = Awaited<ReturnType<NativeContext['sampleToken']>>
type Asked = (sampler: NativeSampler, logits: boolean | LogitFilter, totalWeight: boolean) => Answer

function context(answer: Asked): NativeContext {
  const none = () => {
    throw new Error('not asked for')
  }
  return {
    ...{ initBatch: none, addToBatch: none, decodeBatch: none, removeTokenCellsFromSequence: none },
    ...{ getSequenceKvCacheMinPosition: none, copySequenceStateFromOtherSequence: none },
    sampleToken: async (_place, sampler, _probabilities, _confidence, logits, totalWeight) =>
      answer(sampler, logits, totalWeight),
  }
}

const samplers = (configured: unknown[] = []) =>
  openSamplers(() => ({ applyConfig: (config) => void configured.push(config), dispose: () => undefined }))
const failure = async (promise: Promise<unknown>): Promise<string> =>
  await promise.then(
    () => 'fulfilled',
    (error: Error) => error.message,
  )

test('the total weight and the logit of one token need one read', async () => {
  const asked: unknown[] = []
  const native = context((_, filter, totalWeight) => {
    asked.push([filter, totalWeight])
    return [7, undefined, undefined, [7, 1.5, 3, 0.5], 2]
  })
  const reader = readDistribution(native, samplers(), 0)
  assert.equal(await reader.weigh(3), { top: 7, topLogit: 1.5, totalWeight: 2, logit: 0.5 })
  assert.equal(await reader.weigh(), { top: 7, topLogit: 1.5, totalWeight: 2, logit: 1.5 })
  assert.equal(asked, [
    [[[3], false, false, true, 0], true],
    [[[], false, false, true, 0], true],
  ])
})

test('the weight of all is to be had without any logit', async () => {
  const asked: unknown[] = []
  const reader = (answer: Answer) =>
    readDistribution(
      context((_, filter, totalWeight) => {
        asked.push([filter, totalWeight])
        return answer
      }),
      samplers(),
      0,
    )
  assert.is(await reader([7, undefined, undefined, [], 2]).totalWeight(), 2)
  assert.equal(asked, [[false, true]])
  for (const answer of [[7, undefined, undefined, [], Number.NaN], [7]] as Answer[])
    assert.match(await failure(reader(answer).totalWeight()), 'not finite numbers')
})

test('of a distribution whose weights are known the likeliest logit is known too', async () => {
  let asked = 0
  const native = context(() => {
    asked += 1
    return [7, undefined, undefined, [7, 1.5, 3, 0.5], 2]
  })
  const distribution = await weighed(readDistribution(native, samplers(), 0))
  assert.is(await distribution.logitOf(7), 1.5)
  assert.is(asked, 1)
  assert.is(await distribution.logitOf(3), 0.5)
  assert.is(asked, 2)
})

test('tokens are raised in one read and not in the next', async () => {
  const configured: { tokenBiasKeys?: Uint32Array }[] = []
  const native = context(() => [7, undefined, undefined, [7, 1.5, 3, 1]])
  const reader = readDistribution(native, samplers(configured), 0)
  const raised = { tokens: Uint32Array.of(3), by: Float32Array.of(2) }
  const pairs = [
    [7, 1.5],
    [3, 1],
  ]
  assert.equal(await reader.near(4, raised), pairs)
  assert.equal(await reader.near(4), pairs)
  assert.equal(
    configured.slice(-2).map(({ tokenBiasKeys }) => tokenBiasKeys),
    [raised.tokens, undefined],
  )
})

test('non-finite logits are an error, not a probability', async () => {
  for (const answer of [
    [7, undefined, undefined, [7, Number.NaN, 3, 1], 2],
    [7, undefined, undefined, [7, 1, 3, Number.NaN], 2],
    [7, undefined, undefined, [7, 1, 3, 1], Number.NaN],
    [7, undefined, undefined, [7, 1], 2],
    [-1],
  ] as Answer[])
    assert.match(
      await failure(
        readDistribution(
          context(() => answer),
          samplers(),
          0,
        ).weigh(3),
      ),
      'not finite numbers',
    )
})

test.run()
