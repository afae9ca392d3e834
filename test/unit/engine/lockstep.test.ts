import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import { test } from 'uvu'
import type { EngineError } from '../../../engine/errors.js'
import type { LlamaSequence } from '../../../engine/llama.js'
import { createLockstep, type LockstepOptions, placeWithoutGap } from '../../../engine/lockstep.js'
import type { SampledTurn, Token } from '../../../engine/types.js'
import { createVirtualTime } from '../../chaos/virtual-time.js'
import { patience } from '../../support/patience.js'

const END = 99

async function until(condition: () => boolean): Promise<void> {
  for (const signal = patience(); !condition(); await turn())
    assert.ok(!signal.aborted, `waited in vain for ${condition}`)
}

/** Lets everything run that can: what has not happened then waits for something else. */
async function rest(): Promise<void> {
  for (let turns = 0; turns < 20; turns++) await turn()
}

type Sequence = Pick<LlamaSequence, 'begin'> & { readonly place: number }

/** A group whose sequences count upwards from what they were fed, and the record of what each batch was made of. */
function group(lanes: number, overrides: Partial<LockstepOptions<Sequence>> = {}, places = lanes) {
  const batches: number[][] = []
  const moves: (readonly [number, number])[] = []
  const fed: { lane: number; feed: readonly Token[]; seed: number }[] = []
  const turns: { lane: number; turn: SampledTurn }[] = []
  const failures: { lane: number; error: EngineError }[] = []
  const time = createVirtualTime(rest)
  let batch: number[] | null = null
  /** Steps asked for at once make up one batch, as in llama.cpp; a lane has one step per batch. */
  const join = async (lane: number) => {
    if (batch === null || batch.includes(lane)) {
      const begun: number[] = []
      batch = begun
      batches.push(begun)
      setImmediate(() => {
        if (batch === begun) batch = null
      })
    }
    batch.push(lane)
    await turn()
    await turn()
  }
  const setups = Array.from({ length: lanes }, (_, lane) => ({ last: lane * 10, seeds: [lane, lane + 100] }))
  const sequences = Array.from({ length: places }, (_, place) => ({
    place,
    begin: (feed: readonly Token[], seed: number) => {
      const lane = seed % 100
      fed.push({ lane, feed, seed })
      let token = feed.at(-1)!
      return {
        next: async () => {
          await join(place)
          token++
          if (token === 66) throw new Error('decode failed')
          return { token, logprob: -0.5 }
        },
      }
    },
  }))
  const lockstep = createLockstep(setups, sequences, {
    laneWaitMs: 250,
    time,
    move: async (from, to) => {
      await turn()
      moves.push([from.place, to.place])
    },
    isEndOfGeneration: (token) => token === END,
    onTurn: (lane, turn) => turns.push({ lane, turn }),
    onFailed: (lane, error) => failures.push({ lane, error }),
    ...overrides,
  })
  const turnsOf = (lane: number) => turns.filter((entry) => entry.lane === lane).map(({ turn }) => turn)
  /** Lets so much time pass: nobody is late otherwise, however long the machine takes. */
  const pass = async (ms: number): Promise<void> => {
    let over = false
    time.after(ms, () => {
      over = true
    })
    await time.drive(() => over, ms)
  }
  return { lockstep, pass, batches, moves, fed, turns, failures, turnsOf }
}

test('a turn starts with the last token and the feed, and ends at the limit or at the end token', async () => {
  const { lockstep, fed, turns, turnsOf } = group(2)
  lockstep.next(0, [], 3)
  lockstep.next(1, [96], 10)
  await until(() => turns.length === 2)
  assert.deepEqual(turnsOf(0), [{ tokens: [1, 2, 3], logprobs: [-0.5, -0.5, -0.5], stop: 'length' }])
  assert.deepEqual(turnsOf(1), [{ tokens: [97, 98, END], logprobs: [-0.5, -0.5, -0.5], stop: 'end' }])
  lockstep.next(0, [20, 21], 1)
  lockstep.next(1, [], 1)
  await until(() => turns.length === 4)
  assert.deepEqual(fed, [
    { lane: 0, feed: [0], seed: 0 },
    { lane: 1, feed: [10, 96], seed: 1 },
    { lane: 0, feed: [3, 20, 21], seed: 100 },
    { lane: 1, feed: [END], seed: 101 },
  ])
  lockstep.leave(0)
  lockstep.leave(1)
  await lockstep.over
})

test('no pass starts before all lanes have their feed, so that every batch is full', async () => {
  const { lockstep, batches, turns } = group(3)
  lockstep.next(0, [], 4)
  await rest()
  lockstep.next(2, [], 4)
  await rest()
  assert.deepEqual(batches, [])
  lockstep.next(1, [], 4)
  await until(() => turns.length === 3)
  assert.deepEqual(
    batches,
    Array.from({ length: 4 }, () => [0, 1, 2]),
  )
})

test('a pass waits for a lane between two turns', async () => {
  const { lockstep, batches, turns } = group(2)
  lockstep.next(0, [], 2)
  lockstep.next(1, [], 6)
  await until(() => turns.length === 1)
  await rest()
  assert.deepEqual(batches, [
    [0, 1],
    [0, 1],
  ])
  lockstep.next(0, [5], 4)
  await until(() => turns.length === 3)
  assert.equal(batches.length, 6)
  assert.ok(batches.every((lanes) => lanes.length === 2))
})

test('a lane later than the bound is left behind and rejoins with its next feed', async () => {
  const { lockstep, pass, batches, turns, turnsOf } = group(2, { laneWaitMs: 20 })
  lockstep.next(0, [], 1)
  lockstep.next(1, [100], 60)
  await until(() => turns.length === 1)
  await pass(19)
  assert.deepEqual(batches, [[0, 1]])
  await pass(1)
  await until(() => batches.length > 4)
  assert.deepEqual(batches.at(-1), [1])
  lockstep.next(0, [], 3)
  await until(() => turns.length === 2)
  await pass(20)
  await until(() => turns.length === 3)
  assert.equal(turnsOf(0).length, 2)
  assert.equal(batches.filter((lanes) => lanes.length === 2).length, 4)
  assert.equal(turnsOf(1)[0]?.tokens.length, 60)
})

test('nobody is late while nothing could go on anyway', async () => {
  const { lockstep, pass, batches, turns } = group(2, { laneWaitMs: 200 })
  await pass(250)
  lockstep.next(1, [], 2)
  await pass(199)
  lockstep.next(0, [], 2)
  await until(() => turns.length === 2)
  assert.deepEqual(batches, [
    [0, 1],
    [0, 1],
  ])
})

test('a lane that leaves stops within one decode and the others go on', async () => {
  const { lockstep, batches, turnsOf } = group(2)
  lockstep.next(0, [100], 1000)
  lockstep.next(1, [], 30)
  await until(() => batches.length === 3)
  lockstep.leave(0)
  const before = batches.length
  await until(() => turnsOf(1).length === 1)
  assert.ok(batches.slice(before).every((lanes) => lanes.join() === '1'))
  assert.deepEqual(turnsOf(0), [])
  assert.equal(turnsOf(1).length, 1)
  lockstep.leave(0)
  lockstep.leave(1)
  await lockstep.over
})

test('the group is over when every lane has left, also those which never began', async () => {
  const { lockstep } = group(3)
  for (const lane of [0, 1, 2]) lockstep.leave(lane)
  await lockstep.over
})

test('a lane that begins a turn closes the gap of one that is over, and batches stay in the order of the places', async () => {
  const { lockstep, batches, moves, turns, turnsOf } = group(4)
  for (const lane of [0, 1, 2, 3]) lockstep.next(lane, [], 1)
  await until(() => turns.length === 4)
  lockstep.leave(1)
  // The order in which feeds come decides nothing.
  for (const lane of [3, 2, 0]) lockstep.next(lane, [], 2)
  await until(() => turns.length === 7)
  assert.deepEqual(moves, [[0, 1]])
  assert.deepEqual(batches, [
    [0, 1, 2, 3],
    [1, 2, 3],
    [1, 2, 3],
  ])
  assert.deepEqual(turnsOf(0)[1]!.tokens, [2, 3], 'it counts on from what it has said')
  for (const lane of [0, 2, 3]) lockstep.leave(lane)
  await lockstep.over
})

test('a lane in the middle of its turn stays where it is, and so does one that has nothing to gain', async () => {
  const { lockstep, batches, moves, turns } = group(3)
  lockstep.next(0, [], 1)
  lockstep.next(1, [], 4)
  lockstep.next(2, [], 1)
  await until(() => turns.length === 2)
  lockstep.leave(0)
  lockstep.next(2, [], 3)
  await until(() => turns.length === 4)
  assert.deepEqual(batches, [
    [0, 1, 2],
    [1, 2],
    [1, 2],
    [1, 2],
  ])
  assert.deepEqual(moves, [])
  lockstep.leave(1)
  lockstep.leave(2)
  await lockstep.over
})

test('lanes beyond the sequences come in, in their order, in the places of those that are over', async () => {
  const entered: (readonly [number, number])[] = []
  const enter = async (lane: number, { place }: Sequence): Promise<void> => void entered.push([lane, place])
  const { lockstep, batches, fed, turns, turnsOf } = group(5, { enter }, 2)
  for (const lane of [4, 3, 2, 1, 0]) lockstep.next(lane, [], lane === 1 ? 4 : 1)
  await until(() => turns.length === 1)
  await rest()
  assert.deepEqual(batches, [[0, 1]], 'the place of a lane that may go on is not given away')
  lockstep.leave(3)
  lockstep.leave(0)
  await until(() => turnsOf(2).length === 1)
  lockstep.leave(2)
  await until(() => turnsOf(4).length === 1)
  lockstep.leave(4)
  await until(() => turnsOf(1).length === 1)
  assert.deepEqual(entered, [
    [2, 0],
    [4, 0],
  ])
  assert.deepEqual(
    batches.map((places) => places.join()),
    ['0,1', '0,1', '0,1', '1'],
  )
  assert.deepEqual(
    fed.map(({ lane, feed }) => [lane, ...feed]),
    [
      [0, 0],
      [1, 10],
      [2, 20],
      [4, 40],
    ],
  )
  lockstep.leave(1)
  await lockstep.over
})

test('a prompt that cannot be put into a place ends its lane alone, and the next one comes in', async () => {
  const enter = async (lane: number): Promise<void> => {
    if (lane === 1) throw new Error('no room')
  }
  const { lockstep, failures, turnsOf } = group(3, { enter }, 1)
  for (const lane of [0, 1, 2]) lockstep.next(lane, [], 1)
  await until(() => turnsOf(0).length === 1)
  lockstep.leave(0)
  await until(() => turnsOf(2).length === 1)
  assert.deepEqual(
    failures.map(({ lane, error }) => [lane, error.code, error.detail]),
    [[1, 'engine_failed', 'no room']],
  )
  lockstep.leave(2)
  await lockstep.over
})

test('a cache that cannot be moved ends its lane alone', async () => {
  const move = async (): Promise<void> => {
    throw new Error('disk full')
  }
  const { lockstep, failures, turns, turnsOf } = group(3, { move })
  for (const lane of [0, 1, 2]) lockstep.next(lane, [], 1)
  await until(() => turns.length === 3)
  lockstep.leave(1)
  for (const lane of [0, 2]) lockstep.next(lane, [], 1)
  await until(() => turnsOf(2).length === 2)
  assert.deepEqual(
    failures.map(({ lane, error }) => [lane, error.code, error.detail]),
    [[0, 'engine_failed', 'disk full']],
  )
  lockstep.leave(2)
  await lockstep.over
})

test('lanes that begin turn after turn end up side by side, and none takes the place of another', () => {
  const rows = fc.uniqueArray(fc.nat(15), { minLength: 1, maxLength: 16 })
  fc.assert(
    fc.property(rows, (places) => {
      const now = [...places]
      for (let turns = 0; turns < 16; turns++) {
        for (const [i, place] of now.entries()) {
          now[i] = placeWithoutGap(
            place,
            now.filter((_, other) => other !== i),
            16,
          )
        }
      }
      const row = [...now].sort((a, b) => a - b)
      assert.equal(new Set(now).size, places.length)
      assert.equal(row.at(-1)! - row[0]! + 1, row.length)
    }),
  )
})

test('a decode that fails ends its lane with an error and leaves the rest of the group', async () => {
  const { lockstep, failures, turnsOf } = group(2)
  lockstep.next(0, [64], 5)
  lockstep.next(1, [], 5)
  await until(() => turnsOf(1).length === 1)
  assert.deepEqual(
    failures.map(({ lane, error }) => [lane, error.code, error.detail]),
    [[0, 'engine_failed', 'decode failed']],
  )
  assert.equal(turnsOf(1).length, 1)
  lockstep.leave(1)
  await lockstep.over
})

test('a turn without a seed, or one begun twice, ends the lane', async () => {
  const { lockstep, failures, turnsOf } = group(2)
  lockstep.next(0, [100], 500)
  lockstep.next(0, [100], 500)
  for (let turn = 1; turn <= 2; turn++) {
    lockstep.next(1, [], 1)
    await until(() => turnsOf(1).length === turn)
  }
  lockstep.next(1, [], 1)
  assert.deepEqual(
    failures.map(({ lane, error }) => [lane, error.code]),
    [
      [0, 'bad_request'],
      [1, 'bad_request'],
    ],
  )
  await lockstep.over
})

test.run()
