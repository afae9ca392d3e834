import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { lookAt, openSamplers } from '../../../engine/distribution.js'
import type { NativeContext, NativeSampler } from '../../../engine/native.js'

/** What llama.cpp's context is asked of a distribution, and when. */
const test = suite('distribution')

type Asked = (sampler: NativeSampler, place: number) => ReturnType<NativeContext['sampleToken']>

function context(sampleToken: Asked): NativeContext {
  const none = () => {
    throw new Error('not asked for')
  }
  return {
    ...{ initBatch: none, addToBatch: none, decodeBatch: none, removeTokenCellsFromSequence: none },
    ...{ getSequenceKvCacheMinPosition: none, copySequenceStateFromOtherSequence: none },
    sampleToken: (place, sampler) => sampleToken(sampler, place),
  }
}

const samplers = (configured: unknown[] = []) =>
  openSamplers(() => ({ applyConfig: (config) => void configured.push(config), dispose: () => undefined }))
const raised = { tokens: Uint32Array.of(3), by: Float32Array.of(2) }

test('what is asked for ahead is asked for with the first look, and is there when it is wanted', async () => {
  const configured: { temperature: number; minP?: number }[] = []
  const looking = samplers(configured)
  const asked: string[] = []
  let answer = () => {}
  const told = new Promise<void>((resolve) => {
    answer = resolve
  })
  const native = context(async (sampler) => {
    asked.push(sampler === looking.greedy ? 'first' : 'near')
    await told
    return sampler === looking.greedy
      ? [7, undefined, undefined, [7, 1.5], 2]
      : [7, undefined, undefined, [7, 1.5, 3, 1]]
  })
  const looked = lookAt(native, looking, 0, 10, { reach: 4, raised })
  assert.equal(asked, ['first', 'near'])
  answer()
  const distribution = await looked
  assert.equal([distribution.top, distribution.topLogit, distribution.totalWeight], [7, 1.5, 2])
  const pairs = [
    [7, 1.5],
    [3, 1],
  ]
  assert.equal(await distribution.near(3, raised), pairs)
  assert.is(asked.length, 2)
  // Further down, or with other tokens raised, it is another question.
  for (const [reach, by] of [
    [5, raised],
    [3, undefined],
  ] as const) {
    asked.length = 0
    await distribution.near(reach, by)
    assert.equal(asked, ['near'])
  }
  assert.is(configured.filter(({ temperature }) => temperature === 0).length, 1)
})

test('a look that fails is over only when the other one is', async () => {
  for (const failing of ['greedy', 'drawing'] as const) {
    const looking = samplers()
    let over = false
    const native = context(async (sampler) => {
      if (sampler === looking[failing]) throw new Error('broken')
      for (let i = 0; i < 10; i++) await null
      over = true
      return [7, undefined, undefined, [7, 1.5], 2]
    })
    const failed = await lookAt(native, looking, 0, 10, { reach: 4, raised }).catch((error: Error) => error.message)
    assert.is(failed, 'broken')
    assert.is(over, true)
  }
})

test.run()
