import { createHmac } from 'node:crypto'
import * as fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { DEFAULT_LIMITS, samplerSeed, taskIndex, turnSeeds } from '../../../rollout/episode/index.js'
import { leaseSeed, newRoundSecret, roundSecretHash } from '../../../rollout/verification/lease-seed.js'

const RUNS = { numRuns: 300, seed: 20260302 }
const leaseSeeds = fc.uint8Array({ minLength: 32, maxLength: 32 })
const counting = Uint8Array.from({ length: 32 }, (_, i) => i)

/** No task rests. */
const none = (): boolean => false

test('a sampler seed is an integer that llama.cpp does not read as "random"', () => {
  fc.assert(
    fc.property(leaseSeeds, fc.nat({ max: 63 }), fc.nat({ max: 9 }), (seed, rollout, turn) => {
      const drawn = samplerSeed(seed, rollout, turn)
      assert.ok(Number.isInteger(drawn) && drawn >= 0 && drawn <= 2 ** 32 - 2)
      assert.is(samplerSeed(Uint8Array.from(seed), rollout, turn), drawn)
    }),
    RUNS,
  )
})

test('every rollout and turn of a lease has a seed of its own', () => {
  const seeds = Array.from({ length: 64 }, (_, rollout) => turnSeeds(counting, rollout, DEFAULT_LIMITS)).flat()
  assert.is(seeds.length, 64 * DEFAULT_LIMITS.maxAssistantTurns)
  assert.is(new Set(seeds).size, seeds.length)
  assert.equal(
    turnSeeds(counting, 5, DEFAULT_LIMITS),
    seeds.slice(5 * DEFAULT_LIMITS.maxAssistantTurns, 6 * DEFAULT_LIMITS.maxAssistantTurns),
  )
})

test('rollout and turn are not interchangeable, and neighbours in their digits do not meet', () => {
  assert.is.not(samplerSeed(counting, 1, 2), samplerSeed(counting, 2, 1))
  assert.is.not(samplerSeed(counting, 1, 11), samplerSeed(counting, 11, 1))
})

// Computed apart, with Python's hmac: a change here would void every lease in flight.
test('the seeds of a lease never change', () => {
  assert.is(samplerSeed(counting, 0, 0), 3_285_828_793)
  assert.is(samplerSeed(counting, 7, 9), 2_254_768_929)
  assert.is(taskIndex(counting, 1000, none), 826)
  assert.is(
    leaseSeed(counting, 'policy', 'node', 3).toString('hex'),
    '5db19549814a7c4c99b8f542822713f1033bf318699f25679c915a1cc97546b6',
  )
  assert.is(roundSecretHash(counting), '630dcd2966c4336691125448bbb25b4ff412a49c732db2c8abc1b8581bd710dd')
})

test('a task index lies in the list, and all tasks have their turn', () => {
  fc.assert(
    fc.property(leaseSeeds, fc.integer({ min: 1, max: 2 ** 31 }), (seed, count) => {
      const index = taskIndex(seed, count, none)
      assert.ok(Number.isInteger(index) && index >= 0 && index < count)
    }),
    RUNS,
  )
  const drawn = new Set(
    Array.from({ length: 200 }, (_, i) => taskIndex(leaseSeed(counting, 'policy', 'node', i), 8, none)),
  )
  assert.is(drawn.size, 8)
})

test('a resting task gives way to the next draw of the same seed, and to any when all of them rest', () => {
  const words = createHmac('sha256', counting).update('["prove/task/1"]').digest()
  const draws = Array.from({ length: 8 }, (_, i) => words.readUInt32LE(4 * i) % 1000)
  assert.is(new Set(draws).size, 8)
  for (const [i, draw] of draws.entries())
    assert.is(
      taskIndex(counting, 1000, (index) => draws.indexOf(index) < i && draws.includes(index)),
      draw,
    )
  assert.is(
    taskIndex(counting, 1000, () => true),
    draws[7],
  )
})

test('a lease seed depends on the secret, the policy, the node and the index', () => {
  const other = counting.map((byte) => byte ^ 1)
  const seeds = [
    leaseSeed(counting, 'policy', 'node', 0),
    leaseSeed(other, 'policy', 'node', 0),
    leaseSeed(counting, 'policy 2', 'node', 0),
    leaseSeed(counting, 'policy', 'node 2', 0),
    leaseSeed(counting, 'policy', 'node', 1),
    leaseSeed(counting, 'node', 'policy', 0),
    leaseSeed(counting, 'policynode', '', 0),
  ].map((seed) => seed.toString('hex'))
  assert.is(new Set(seeds).size, seeds.length)
  assert.ok(seeds.every((seed) => /^[0-9a-f]{64}$/.test(seed)))
})

test('round secrets are 32 bytes and differ', () => {
  const [one, two] = [newRoundSecret(), newRoundSecret()]
  assert.is(one.length, 32)
  assert.not(one.equals(two))
  assert.is.not(roundSecretHash(one), roundSecretHash(two))
})

test.run()
