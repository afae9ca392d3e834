import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import { test } from 'uvu'
import type { EngineError } from '../../../rollout/engine/errors.js'
import { createLockstep, type LockstepOptions } from '../../../rollout/engine/lockstep.js'
import { type LockstepSequence, placeWithoutGap } from '../../../rollout/engine/slot-caches.js'
import type { LockstepSlot } from '../../../rollout/engine/slot-table.js'
import type { SampledTurn, Token } from '../../../rollout/engine/types.js'
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

/** A group whose sequences count upwards from what they were fed, and the record of what each batch was made of. */
function group(
  slots: number,
  overrides: Partial<LockstepOptions & Pick<LockstepSequence, 'copyFrom' | 'keepPrefix'>> = {},
  places = slots,
) {
  const { copyFrom, keepPrefix, ...options } = overrides
  const batches: number[][] = []
  const moves: (readonly [number, number])[] = []
  const entered: number[] = []
  const fed: { slot: number; feed: readonly Token[]; seed: number }[] = []
  const turns: { slot: number; turn: SampledTurn }[] = []
  const failures: { slot: number; error: EngineError }[] = []
  const time = createVirtualTime(rest)
  let batch: number[] | null = null
  /** Steps asked for at once make up one batch, as in llama.cpp; a slot has one step per batch. */
  const join = async (slot: number) => {
    if (batch === null || batch.includes(slot)) {
      const begun: number[] = []
      batch = begun
      batches.push(begun)
      setImmediate(() => {
        if (batch === begun) batch = null
      })
    }
    batch.push(slot)
    await turn()
    await turn()
  }
  const setups = Array.from({ length: slots }, (_, slot) => ({ prompt: [slot * 10], seeds: [slot, slot + 100] }))
  const sequences: LockstepSequence[] = Array.from({ length: places }, (_, place) => ({
    clear: async () => undefined,
    prefill: async () => undefined,
    keepPrefix: async (tokens) => {
      entered.push(place)
      return (await keepPrefix?.(tokens)) ?? 0
    },
    copyFrom: async (from) => {
      await copyFrom?.(from)
      await turn()
      moves.push([sequences.indexOf(from), place])
    },
    begin: (feed: readonly Token[], seed: number) => {
      const slot = seed % 100
      fed.push({ slot, feed, seed })
      let token = feed.at(-1)!
      const logprobs: number[] = []
      return {
        next: async () => {
          await join(place)
          token++
          if (token === 66) throw new Error('decode failed')
          logprobs.push(-0.5)
          return token
        },
        logprobs: async () => {
          if (token === 77) throw new Error('read failed')
          return logprobs
        },
      }
    },
  }))
  const common = { slotWaitMs: 250, passTokens: 512, time, isEndOfGeneration: (token: Token) => token === END }
  const lockstep = createLockstep(sequences, { ...common, ...options }).open(setups, {
    onTurn: (slot, turn) => turns.push({ slot, turn }),
    onFailed: (slot, error) => failures.push({ slot, error }),
  })
  const turnsOf = (slot: number) => turns.filter((entry) => entry.slot === slot).map(({ turn }) => turn)
  /** Lets so much time pass: no slot is late otherwise, however long the machine takes. */
  const pass = async (ms: number): Promise<void> => {
    let over = false
    time.after(ms, () => {
      over = true
    })
    await time.drive(() => over, ms)
  }
  return { lockstep, pass, batches, moves, entered, fed, turns, failures, turnsOf }
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
    { slot: 0, feed: [0], seed: 0 },
    { slot: 1, feed: [10, 96], seed: 1 },
    { slot: 0, feed: [3, 20, 21], seed: 100 },
    { slot: 1, feed: [END], seed: 101 },
  ])
  lockstep.leave(0)
  lockstep.leave(1)
  await lockstep.over
})

test('no pass starts before all slots have their feed, so that every batch is full', async () => {
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

test('a pass waits for a slot between two turns', async () => {
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
  assert.ok(batches.every((slots) => slots.length === 2))
})

test('a slot later than the bound is left behind and rejoins with its next feed', async () => {
  const { lockstep, pass, batches, turns, turnsOf } = group(2, { slotWaitMs: 20 })
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
  assert.equal(batches.filter((slots) => slots.length === 2).length, 4)
  assert.equal(turnsOf(1)[0]?.tokens.length, 60)
})

test('no slot is late while no other slot could continue', async () => {
  const { lockstep, pass, batches, turns } = group(2, { slotWaitMs: 200 })
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

test('a slot is not late once the slot that waited for it has left, and its feed is used', async () => {
  const { lockstep, pass, batches, turnsOf } = group(2, { slotWaitMs: 20 })
  lockstep.next(1, [], 5)
  await pass(10)
  lockstep.leave(1)
  // Long after its time: while it is looked for in vain no word would come through.
  await pass(50)
  lockstep.next(0, [], 2)
  await until(() => turnsOf(0).length === 1)
  assert.deepEqual(batches, [[0], [0]])
})

test('a slot that leaves stops within one decode and the others continue', async () => {
  const { lockstep, batches, turnsOf } = group(2)
  lockstep.next(0, [100], 1000)
  lockstep.next(1, [], 30)
  await until(() => batches.length === 3)
  lockstep.leave(0)
  const before = batches.length
  await until(() => turnsOf(1).length === 1)
  assert.ok(batches.slice(before).every((slots) => slots.join() === '1'))
  assert.deepEqual(turnsOf(0), [])
  assert.equal(turnsOf(1).length, 1)
  lockstep.leave(0)
  lockstep.leave(1)
  await lockstep.over
})

test('the group is over when every slot has left, also slots that never began', async () => {
  const { lockstep } = group(3)
  for (const slot of [0, 1, 2]) lockstep.leave(slot)
  await lockstep.over
})

test('a slot that begins a turn closes the gap of an ended slot, and batches stay in the order of the places', async () => {
  const { lockstep, batches, moves, turns, turnsOf } = group(4)
  for (const slot of [0, 1, 2, 3]) lockstep.next(slot, [], 1)
  await until(() => turns.length === 4)
  lockstep.leave(1)
  // The order in which feeds come decides nothing.
  for (const slot of [3, 2, 0]) lockstep.next(slot, [], 2)
  await until(() => turns.length === 7)
  assert.deepEqual(moves, [[0, 1]])
  assert.deepEqual(batches, [
    [0, 1, 2, 3],
    [1, 2, 3],
    [1, 2, 3],
  ])
  assert.deepEqual(turnsOf(0)[1]!.tokens, [2, 3], 'it counts on from what it has said')
  for (const slot of [0, 2, 3]) lockstep.leave(slot)
  await lockstep.over
})

test('a slot in the middle of a turn keeps its place, and so does a slot without a better one', async () => {
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

test('slots beyond the sequences enter in their order, in the places of ended slots', async () => {
  const { lockstep, batches, entered, fed, turns, turnsOf } = group(5, {}, 2)
  for (const slot of [4, 3, 2, 1, 0]) lockstep.next(slot, [], slot === 1 ? 4 : 1)
  await until(() => turns.length === 1)
  await rest()
  assert.deepEqual(batches, [[0, 1]], 'the place of a slot that may continue is not given away')
  lockstep.leave(3)
  lockstep.leave(0)
  await until(() => turnsOf(2).length === 1)
  lockstep.leave(2)
  await until(() => turnsOf(4).length === 1)
  lockstep.leave(4)
  await until(() => turnsOf(1).length === 1)
  assert.deepEqual(entered, [0, 1, 0, 0])
  assert.deepEqual(
    batches.map((places) => places.join()),
    ['0,1', '0,1', '0,1', '1'],
  )
  assert.deepEqual(
    fed.map(({ slot, feed }) => [slot, ...feed]),
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

test('a prompt that cannot be put into a place ends its slot alone, and the next slot enters', async () => {
  let entering = 0
  const keepPrefix = async (): Promise<number> => {
    if (entering++ === 1) throw new Error('no memory')
    return 0
  }
  const { lockstep, failures, turnsOf } = group(3, { keepPrefix }, 1)
  for (const slot of [0, 1, 2]) lockstep.next(slot, [], 1)
  await until(() => turnsOf(0).length === 1)
  lockstep.leave(0)
  await until(() => turnsOf(2).length === 1)
  assert.deepEqual(
    failures.map(({ slot, error }) => [slot, error.code, error.detail]),
    [[1, 'engine_failed', 'no memory']],
  )
  lockstep.leave(2)
  await lockstep.over
})

test('a cache that cannot be moved ends its slot alone', async () => {
  const copyFrom = async (): Promise<void> => {
    throw new Error('disk full')
  }
  const { lockstep, failures, turns, turnsOf } = group(3, { copyFrom })
  for (const slot of [0, 1, 2]) lockstep.next(slot, [], 1)
  await until(() => turns.length === 3)
  lockstep.leave(1)
  for (const slot of [0, 2]) lockstep.next(slot, [], 1)
  await until(() => turnsOf(2).length === 2)
  assert.deepEqual(
    failures.map(({ slot, error }) => [slot, error.code, error.detail]),
    [[0, 'engine_failed', 'disk full']],
  )
  lockstep.leave(2)
  await lockstep.over
})

test('slots that begin turn after turn become neighbours, and none takes the place of another', () => {
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

test('a decode that fails ends its slot with an error and leaves the rest of the group', async () => {
  const { lockstep, failures, turnsOf } = group(2)
  lockstep.next(0, [64], 5)
  lockstep.next(1, [], 5)
  await until(() => turnsOf(1).length === 1)
  assert.deepEqual(
    failures.map(({ slot, error }) => [slot, error.code, error.detail]),
    [[0, 'engine_failed', 'decode failed']],
  )
  assert.equal(turnsOf(1).length, 1)
  lockstep.leave(1)
  await lockstep.over
})

test('a turn whose log-probabilities cannot be had is no turn', async () => {
  const { lockstep, failures, turnsOf } = group(2)
  lockstep.next(0, [74], 3)
  lockstep.next(1, [], 3)
  await until(() => turnsOf(1).length === 1)
  assert.deepEqual(
    failures.map(({ slot, error }) => [slot, error.code, error.detail]),
    [[0, 'engine_failed', 'read failed']],
  )
  assert.equal(turnsOf(0).length, 0)
  lockstep.leave(1)
  await lockstep.over
})

test('a turn without a seed, or one begun twice, ends the slot', async () => {
  const { lockstep, failures, turnsOf } = group(2)
  lockstep.next(0, [100], 500)
  lockstep.next(0, [100], 500)
  for (let turn = 1; turn <= 2; turn++) {
    lockstep.next(1, [], 1)
    await until(() => turnsOf(1).length === turn)
  }
  lockstep.next(1, [], 1)
  assert.deepEqual(
    failures.map(({ slot, error }) => [slot, error.code]),
    [
      [0, 'bad_request'],
      [1, 'bad_request'],
    ],
  )
  await lockstep.over
})

/** A context whose policy says something else after every history, and which finds out whoever uses it wrongly. */
function context(places: number, passTokens: number, keepCaches = false) {
  let fedAtOnce = 0
  let most = 0
  let prompts = 0
  const caches = new Map<LockstepSequence, Token[]>()
  const atWork = new Set<LockstepSequence>()
  /** All that is asked for at once is one decode. */
  const decode = async (own: LockstepSequence, tokens: readonly Token[]): Promise<Token[]> => {
    assert.ok(!atWork.has(own), 'one step of a sequence in a pass')
    atWork.add(own)
    fedAtOnce += tokens.length
    most = Math.max(most, fedAtOnce)
    const cache = caches.get(own)!
    cache.push(...tokens)
    await turn()
    fedAtOnce -= tokens.length
    atWork.delete(own)
    return cache
  }
  const sequences = Array.from({ length: places }, () => {
    const own: LockstepSequence = {
      clear: async () => void caches.set(own, []),
      prefill: async (tokens) => {
        prompts += tokens.length
        await decode(own, tokens)
      },
      keepPrefix: async (tokens) => {
        const cache = caches.get(own)!
        const differ = tokens.findIndex((token, i) => token !== cache[i])
        caches.set(own, cache.slice(0, differ === -1 ? tokens.length : differ))
        return caches.get(own)!.length
      },
      copyFrom: async (other, tokens) => {
        assert.ok(!atWork.has(own) && !atWork.has(other), 'nothing is copied during a decode')
        caches.set(own, caches.get(other)!.slice(0, tokens))
      },
      begin: (feed, seed) => {
        let next = feed
        const logprobs: number[] = []
        return {
          next: async () => {
            const hash = hashOf([...(await decode(own, next)), seed, logprobs.length])
            const token = hash % 12 === 0 ? END : hash % 90
            next = [token]
            logprobs.push(-(hash % 1000) / 100)
            return token
          },
          logprobs: async () => logprobs,
        }
      },
    }
    caches.set(own, [])
    return own
  })
  const lockstep = createLockstep(sequences, {
    ...{ slotWaitMs: 60_000, passTokens, keepCaches },
    isEndOfGeneration: (token) => token === END,
  })
  return { lockstep, most: () => most, prompts: () => prompts }
}

const hashOf = (numbers: readonly number[]): number =>
  numbers.reduce((hash, n) => (Math.imul(hash ^ n, 0x01000193) ^ (hash >>> 7)) >>> 0, 0x811c9dc5)

interface Group {
  readonly prompt: readonly Token[]
  readonly rollouts: number
  readonly turns: number
  /** Tokens that the environment says after a turn, at most. */
  readonly feed: number
  /** Passes of the event loop after which it is opened. */
  readonly after: number
  /** The rollout that is given up in its second turn. */
  readonly givenUp: number
}

/** Plays a group as episodes do: what the environment says depends on what was sampled. */
async function play(lockstep: ReturnType<typeof createLockstep>, group: Group, salt: number): Promise<string> {
  const waiting = new Map<number, (turn: SampledTurn | null) => void>()
  const setups: LockstepSlot[] = Array.from({ length: group.rollouts }, (_, slot) => ({
    prompt: group.prompt,
    seeds: Array.from({ length: group.turns }, (_, t) => salt * 10_000 + slot * 100 + t),
  }))
  const open = lockstep.open(setups, {
    onTurn: (slot, sampled) => waiting.get(slot)!(sampled),
    onFailed: (slot, error) => assert.fail(`slot ${slot}: ${error.message}`),
  })
  const rollouts = await Promise.all(
    setups.map(async (_, slot) => {
      const said: SampledTurn[] = []
      for (let t = 0; t < group.turns; t++) {
        const hash = hashOf(said.flatMap(({ tokens }) => tokens))
        const feed = t === 0 ? [] : Array.from({ length: hash % (group.feed + 1) }, (_, i) => (hash + i) % 90)
        const sampled = new Promise<SampledTurn | null>((resolve) => waiting.set(slot, resolve))
        open.next(slot, feed, 1 + (hash % 9))
        if (t === 1 && slot === group.givenUp) break
        said.push((await sampled)!)
      }
      open.leave(slot)
      return said
    }),
  )
  await open.over
  return JSON.stringify(rollouts)
}

const groups = fc.array(
  fc.record<Group>({
    prompt: fc.array(fc.nat(3), { minLength: 1, maxLength: 30 }),
    rollouts: fc.integer({ min: 1, max: 5 }),
    turns: fc.integer({ min: 1, max: 4 }),
    feed: fc.nat(25),
    after: fc.nat(40),
    givenUp: fc.nat(7),
  }),
  { minLength: 1, maxLength: 4 },
)

test('a group is the same to the byte on one slot or on many, alone or among others', async () => {
  await fc.assert(
    fc.asyncProperty(
      groups,
      fc.integer({ min: 1, max: 7 }),
      fc.integer({ min: 8, max: 20 }),
      async (all, places, size) => {
        const shared = context(places, size)
        const together = await Promise.all(
          all.map(async (group, salt) => {
            for (let i = 0; i < group.after; i++) await turn()
            return await play(shared.lockstep, group, salt)
          }),
        )
        for (const [salt, group] of all.entries())
          assert.equal(together[salt], await play(context(1, 512).lockstep, group, salt))
        assert.ok(shared.most() <= size, `${shared.most()} tokens in one pass`)
      },
    ),
    { numRuns: 150 },
  )
})

test('a shared prompt is computed once, in pieces, also when the group comes while another one is made', async () => {
  const { lockstep, prompts, most } = context(4, 16)
  const prompt = (salt: number) => Array.from({ length: 101 }, (_, i) => (salt + i * salt) % 89)
  const common = { rollouts: 4, turns: 2, feed: 0, givenUp: -1 }
  await Promise.all([
    play(lockstep, { ...common, prompt: prompt(3), after: 0 }, 0),
    play(lockstep, { ...common, prompt: prompt(5), after: 0 }, 1),
  ])
  assert.equal([prompts(), most()].join(), '200,16')
})

test('caches that are kept spare what a prompt begins with in common with an earlier one, and change nothing of the group', async () => {
  const common = { rollouts: 1, turns: 3, feed: 5, givenUp: -1, after: 0 }
  const prompt = (salt: number) => Array.from({ length: 60 }, (_, i) => (i < 40 ? i : salt + i))
  const playBoth = async (keepCaches: boolean) => {
    const { lockstep, prompts } = context(1, 16, keepCaches)
    const groups = [await play(lockstep, { ...common, prompt: prompt(1) }, 0)]
    groups.push(await play(lockstep, { ...common, prompt: prompt(7) }, 1))
    return { groups, prompts: prompts() }
  }
  const [kept, cleared] = [await playBoth(true), await playBoth(false)]
  assert.equal(kept.groups.join(), cleared.groups.join())
  assert.equal([kept.prompts, cleared.prompts].join(), [59 + 19, 59 + 59].join())
})

test.run()
