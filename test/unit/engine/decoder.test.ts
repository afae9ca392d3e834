import { setImmediate as turn } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createDecoder, type Feed } from '../../../rollout/engine/decoder.js'
import { EngineError } from '../../../rollout/engine/errors.js'
import type { NativeContext } from '../../../rollout/engine/native.js'

const test = suite('decoder')

/** A context that holds ids instead of caches, and the record of its batches: `[sequence, position, tokens, wanted]`. */
function context(overrides: Partial<NativeContext> = {}) {
  const batches: (readonly [number, number, number[], number[]])[][] = []
  const cells = new Map<number, number[]>()
  let size = 0
  const native: NativeContext = {
    initBatch(tokens) {
      size = tokens
      batches.push([])
    },
    addToBatch(sequence, position, tokens, wanted) {
      const before = batches.at(-1)!.reduce((sum, [, , own]) => sum + own.length, 0)
      batches.at(-1)!.push([sequence, position, [...tokens], [...wanted]])
      cells.set(sequence, [...(cells.get(sequence) ?? []), ...tokens])
      return wanted.map((index) => before + index)
    },
    async decodeBatch() {
      assert.is(
        batches.at(-1)!.reduce((sum, [, , own]) => sum + own.length, 0),
        size,
      )
    },
    sampleToken: () => Promise.reject(new Error('not asked for')),
    removeTokenCellsFromSequence(sequence, from) {
      cells.set(sequence, from < 0 ? [] : cells.get(sequence)!.slice(0, from))
      return true
    },
    getSequenceKvCacheMinPosition: () => 0,
    async copySequenceStateFromOtherSequence(to, from) {
      cells.set(to, [...cells.get(from)!])
      return cells.get(from)!.length - 1
    },
    ...overrides,
  }
  return { native, batches, cells }
}

const fed = (
  sequence: number,
  position: number,
  tokens: readonly number[],
  read: Feed['read'] = async () => {},
): Feed => ({
  ...{ sequence, position, tokens, read, wanted: (index) => index === tokens.length - 1 },
})
const code = async (promise: Promise<unknown>): Promise<string> =>
  await promise.then(
    () => 'fulfilled',
    (error: unknown) => (error instanceof EngineError ? error.code : String(error)),
  )

test('what is fed at the same time is one decode, also by what waited for something together', async () => {
  const { native, batches } = context()
  const decoder = createDecoder(native, { batchTokens: 16, contextSize: 100, inOrder: false })
  const places: number[] = []
  const waited = Promise.resolve()
  await Promise.all(
    [3, 1, 2].map(async (sequence) => {
      await waited
      if (sequence === 1) await null
      await decoder.feed(fed(sequence, 5, [sequence, 7], async (place) => void places.push(place)))
    }),
  )
  assert.equal(batches, [
    [
      [3, 5, [3, 7], [1]],
      [2, 5, [2, 7], [1]],
      [1, 5, [1, 7], [1]],
    ],
  ])
  assert.equal(places.sort(), [1, 3, 5])
})

test('tokens beyond one decode continue in the next, in the order of arrival', async () => {
  const { native, batches } = context()
  const decoder = createDecoder(native, { batchTokens: 4, contextSize: 100, inOrder: false })
  const read: number[] = []
  await Promise.all([
    decoder.feed(fed(0, 0, [1, 2, 3, 4, 5, 6], async (_, index) => void read.push(index))),
    decoder.feed(fed(1, 9, [7])),
  ])
  assert.equal(batches, [
    [[0, 0, [1, 2, 3, 4], []]],
    [
      [0, 4, [5, 6], [1]],
      [1, 9, [7], [0]],
    ],
  ])
  assert.equal(read, [5])
})

test('no decode begins while a distribution of the one before is looked at', async () => {
  const { native, batches } = context()
  const decoder = createDecoder(native, { batchTokens: 16, contextSize: 100, inOrder: false })
  let read = () => {}
  const looking = new Promise<void>((resolve) => {
    read = resolve
  })
  const first = decoder.feed(fed(0, 0, [1], () => looking))
  const before: number[] = []
  const second = decoder.feed({ ...fed(0, 1, [2]), meanwhile: () => before.push(batches.length) })
  // Both came at the same time, so they are in one decode; the third one waits.
  await turn()
  const third = first.then(() => decoder.feed(fed(0, 2, [3])))
  const copied = decoder.copy(0, 1)
  await second
  assert.equal(before, [1])
  assert.is(batches.length, 1)
  read()
  await Promise.all([third, copied])
  assert.is(batches.length, 2)
})

test('a failed read ends its own feed alone, a failed decode ends all feeds in it', async () => {
  let broken = false
  const { native } = context({
    decodeBatch: async () => {
      if (broken) throw new Error('no memory')
    },
  })
  const decoder = createDecoder(native, { batchTokens: 16, contextSize: 100, inOrder: false })
  const bad = () => Promise.reject(new EngineError('engine_failed', 'no logits'))
  assert.equal(await Promise.all([fed(0, 0, [1], bad), fed(1, 0, [1])].map((feed) => code(decoder.feed(feed)))), [
    'engine_failed',
    'fulfilled',
  ])
  broken = true
  assert.equal(await Promise.all([fed(0, 0, [1]), fed(1, 0, [1])].map((feed) => code(decoder.feed(feed)))), [
    'Error: no memory',
    'Error: no memory',
  ])
  broken = false
  assert.is(await code(decoder.feed(fed(0, 0, [1]))), 'fulfilled')
})

test('in order, a read is requested after the decode is and before the decode ends', async () => {
  for (const inOrder of [true, false]) {
    const said: string[] = []
    let decoded = () => {}
    const { native } = context({
      decodeBatch: () => {
        said.push('decode')
        return new Promise((resolve) => {
          decoded = resolve
        })
      },
    })
    const decoder = createDecoder(native, { batchTokens: 16, contextSize: 100, inOrder })
    const meanwhile = (): void => void said.push('meanwhile')
    const done = decoder
      .feed({ ...fed(0, 0, [1], async () => void said.push('read')), meanwhile })
      .then(() => said.push('fed'))
    await turn()
    said.push('decoded')
    decoded()
    await done
    assert.equal(
      said,
      inOrder ? ['decode', 'meanwhile', 'read', 'decoded', 'fed'] : ['decode', 'meanwhile', 'decoded', 'read', 'fed'],
    )
  }
})

test('a failed decode is reported with its own error, whatever a read after it finds', async () => {
  const { native } = context({ decodeBatch: () => Promise.reject(new Error('no memory')) })
  const decoder = createDecoder(native, { batchTokens: 16, contextSize: 100, inOrder: true })
  const late = () => turn().then(() => undefined)
  const bad = () => Promise.reject(new EngineError('engine_failed', 'no logits'))
  assert.equal(
    await Promise.all(
      [fed(0, 0, [1], late), fed(1, 0, [1], bad), fed(2, 0, [1])].map((feed) => code(decoder.feed(feed))),
    ),
    ['Error: no memory', 'Error: no memory', 'Error: no memory'],
  )
})

test('tokens beyond the context of a sequence are refused before they are fed', async () => {
  const { native, batches } = context()
  const decoder = createDecoder(native, { batchTokens: 16, contextSize: 10, inOrder: false })
  assert.is(await code(decoder.feed(fed(0, 8, [1, 2]))), 'context_full')
  assert.equal(batches, [])
  assert.is(await code(decoder.feed(fed(0, 7, [1, 2]))), 'fulfilled')
})

test('what cannot be removed alone is removed with all that is before it', async () => {
  const { native, cells } = context()
  const decoder = createDecoder(native, { batchTokens: 16, contextSize: 100, inOrder: false })
  await decoder.feed(fed(0, 0, [1, 2, 3, 4]))
  assert.is(await decoder.remove(0, 3), true)
  assert.equal(cells.get(0), [1, 2, 3])
  assert.is(await decoder.copy(0, 1), 2)
  assert.is(await decoder.remove(0, 0), true)
  assert.equal(cells.get(0), [])
  // As with a cache that holds but the last tokens: what lies before the first of them is gone already.
  const sliding = context({ getSequenceKvCacheMinPosition: () => 2 })
  const other = createDecoder(sliding.native, { batchTokens: 16, contextSize: 100, inOrder: false })
  await other.feed(fed(0, 0, [1, 2, 3, 4]))
  assert.is(await other.remove(0, 2), false)
  assert.equal(sliding.cells.get(0), [])
})

test.run()
