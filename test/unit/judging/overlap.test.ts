import * as fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { findOverlap } from '../../../judging/index.js'
import { seededRandom } from '../../../servers/kernel/index.js'

const G = 8
/** A group whose rollouts are all different, each as improbable as `nats` says. */
const names = (from: number): string[] => Array.from({ length: G }, (_, i) => `completion ${from + i}`)
const all = (nats: number): number[] => Array.from({ length: G }, () => -nats)

test('a copied group is found among a hundred others, and which one it copies', () => {
  const earlier = Array.from({ length: 100 }, (_, i) => ({ leaseId: `lease ${i}`, completions: names(G * i) }))
  const overlap = findOverlap(names(G * 42), all(6), earlier)
  assert.is(overlap?.leaseId, 'lease 42')
  assert.is(overlap?.rollouts, G)
})

test('the order of the copied rollouts does not matter, and a few of one’s own among them do not help', () => {
  const earlier = [{ leaseId: 'a', completions: names(0) }]
  assert.ok(findOverlap(names(0).reverse(), all(8), earlier))
  assert.ok(findOverlap([...names(0).slice(0, 6), 'own 1', 'own 2'], all(8), earlier))
})

test('short answers of a certain policy are legitimately equal', () => {
  const same = Array.from({ length: G }, () => 'No.')
  const earlier = [{ leaseId: 'a', completions: same }]
  assert.is(findOverlap(same, all(0.1), earlier), null)
  assert.is(findOverlap([...same.slice(1), 'Maybe.'], [...all(0.1).slice(1), -5], earlier), null)
})

test('a group without anything in common with others overlaps with none, nor does the first of its task', () => {
  assert.is(findOverlap(names(0), all(50), [{ leaseId: 'a', completions: names(100) }]), null)
  assert.is(findOverlap(names(0), all(50), []), null)
})

test('a log-probability below what a float can hold is as improbable as it gets', () => {
  const overlap = findOverlap(names(0), all(5000), [{ leaseId: 'a', completions: names(0) }])
  assert.ok(Number.isFinite(overlap!.nats))
})

test('independent samples of one policy are not taken for copies, however peaked it is', () => {
  const random = seededRandom(31)
  let found = 0
  for (let trial = 0; trial < 400; trial++) {
    // Completion k has the probability (1 - q) q^k.
    const q = random.pick([0.05, 0.3, 0.6, 0.9, 0.98])
    const sample = (): number => Math.floor(Math.log(random.int(1, 1e9) / 1e9) / Math.log(q))
    const group = (): number[] => Array.from({ length: G }, sample)
    const earlier = Array.from({ length: 20 }, (_, i) => ({ leaseId: `${i}`, completions: group().map(String) }))
    const own = group()
    const logprobs = own.map((k) => Math.log(1 - q) + k * Math.log(q))
    if (findOverlap(own.map(String), logprobs, earlier)) found += 1
  }
  assert.is(found, 0)
})

test('more equal rollouts never make an overlap less certain', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: G - 1 }), fc.double({ min: 3, max: 40, noNaN: true }), (equal, nats) => {
      const earlier = [{ leaseId: 'a', completions: names(0) }]
      const with_ = (count: number) =>
        findOverlap([...names(0).slice(0, count), ...names(900).slice(count)], all(nats), earlier)?.nats ?? 0
      assert.ok(with_(equal + 1) >= with_(equal))
    }),
    { seed: 3, numRuns: 100 },
  )
})

test.run()
