import * as fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { decodeSketch, encodeSketch, likeness, sketchOf } from '../../../rollout/verification/likeness.js'
import { type CompletionDigests, completionDigests, findOverlap } from '../../../rollout/verification/overlap.js'
import { seededRandom } from '../../../servers/kernel/index.js'

const G = 8
/** A group whose rollouts are all different, each as improbable as `nats` says, with nothing to compare but names. */
const names = (from: number): string[] => Array.from({ length: G }, (_, i) => `completion ${from + i}`)
const named = (completions: readonly string[], nats: number | readonly number[]): CompletionDigests => ({
  completions,
  logprobs: typeof nats === 'number' ? completions.map(() => -nats) : nats,
  sketches: [],
})
const earlierGroup = (leaseId: string, completions: readonly string[], nats: number | readonly number[] = 6) => ({
  leaseId,
  ...named(completions, nats),
})

test('a copied group is found among a hundred others, and which one it copies', () => {
  const earlier = Array.from({ length: 100 }, (_, i) => earlierGroup(`lease ${i}`, names(G * i)))
  assert.equal(findOverlap(named(names(G * 42), 6), earlier), { leaseId: 'lease 42', rollouts: G, kind: 'equal' })
})

test('a copy is found whatever it claims of its own likelihood, as long as one of both tells the truth', () => {
  for (const [own, earlier] of [
    [0, 8],
    [2.5, 8],
    [8, 0],
  ] as const)
    assert.ok(findOverlap(named(names(0), own), [earlierGroup('a', names(0), earlier)]))
})

test('the order of the copied rollouts does not matter, and a few of one’s own among them do not help', () => {
  const earlier = [earlierGroup('a', names(0), 8)]
  assert.ok(findOverlap(named(names(0).reverse(), 8), earlier))
  assert.ok(findOverlap(named([...names(0).slice(0, 6), 'own 1', 'own 2'], 8), earlier))
})

test('short answers of a certain policy are legitimately equal', () => {
  const same = Array.from({ length: G }, () => 'No.')
  const earlier = [earlierGroup('a', same, 0.1)]
  assert.is(findOverlap(named(same, 0.1), earlier), null)
  const other = [...same.slice(1).map(() => -0.1), -5]
  assert.is(findOverlap(named([...same.slice(1), 'Maybe.'], other), earlier), null)
})

test('a group without anything in common with others overlaps with none, nor does the first of its task', () => {
  assert.is(findOverlap(named(names(0), 50), [earlierGroup('a', names(100))]), null)
  assert.is(findOverlap(named(names(0), 50), []), null)
})

test('a log-probability below what a float can hold is as improbable as it gets', () => {
  assert.ok(findOverlap(named(names(0), 5000), [earlierGroup('a', names(0))]))
})

test('independent samples of one policy are not taken for copies, however peaked it is', () => {
  const random = seededRandom(31)
  let found = 0
  for (let trial = 0; trial < 400; trial++) {
    // Completion k has the probability (1 - q) q^k.
    const q = random.pick([0.05, 0.3, 0.6, 0.9, 0.98])
    const sample = (): number => Math.floor(Math.log(random.int(1, 1e9) / 1e9) / Math.log(q))
    const group = (): CompletionDigests => {
      const own = Array.from({ length: G }, sample)
      return named(
        own.map(String),
        own.map((k) => Math.log(1 - q) + k * Math.log(q)),
      )
    }
    const earlier = Array.from({ length: 20 }, (_, i) => ({ leaseId: `${i}`, ...group() }))
    if (findOverlap(group(), earlier)) found += 1
  }
  assert.is(found, 0)
})

/** Tokens of one rollout of a policy that is certain except for some choices. */
const rollout = (random: ReturnType<typeof seededRandom>, sure: number) => {
  const tokens = [1]
  for (let i = 0; i < 60; i++) {
    const branch = tokens.findLast((token) => token >= 1000) ?? 0
    tokens.push(i % 6 === 0 ? 1000 * (1 + i) + (random.chance(sure) ? 0 : random.int(1, 9)) : (7 * i + branch) % 997)
  }
  return { tokens, mask: Uint8Array.from(tokens, (_, i) => (i === 0 ? 0 : 1)), logprobs: [] }
}
const groupOf = (random: ReturnType<typeof seededRandom>, sure: number, size = G) =>
  Array.from({ length: size }, () => rollout(random, sure))
/** The same with one token of each rollout replaced. */
const changed = (rollouts: ReturnType<typeof groupOf>, random: ReturnType<typeof seededRandom>) =>
  rollouts.map((one) => ({ ...one, tokens: one.tokens.with(random.int(5, 55), 999) }))

test('a copy with a token changed in every rollout is found by likeness, among the honest groups of its task', () => {
  const random = seededRandom(5)
  let found = 0
  const trials = 100
  for (let trial = 0; trial < trials; trial++) {
    const groups = Array.from({ length: 20 }, () => groupOf(random, 0.6))
    const earlier = groups.map((group, i) => ({ leaseId: `lease ${i}`, ...completionDigests(group) }))
    const overlap = findOverlap(completionDigests(changed(groups[7]!, random)), earlier)
    if (overlap?.leaseId === 'lease 7' && overlap.kind === 'alike') found += 1
  }
  assert.ok(found >= 95, `${found} of ${trials}`)
})

test('honest groups of a task are seldom alike beyond chance, whether the policy is sure or not', () => {
  const random = seededRandom(6)
  let alike = 0
  const trials = 200
  for (let trial = 0; trial < trials; trial++) {
    const sure = random.pick([0.5, 0.9, 0.98, 1])
    const earlier = Array.from({ length: 20 }, (_, i) => ({
      leaseId: `${i}`,
      ...completionDigests(groupOf(random, sure)),
    }))
    if (findOverlap(completionDigests(groupOf(random, sure)), earlier)) alike += 1
  }
  assert.ok(alike <= 0.03 * trials, `${alike} of ${trials}`)
})

test('groups that are too small to tell are not compared by likeness', () => {
  const random = seededRandom(7)
  const small = groupOf(random, 0.5, 4)
  assert.is(
    findOverlap(completionDigests(changed(small, random)), [{ leaseId: 'a', ...completionDigests(small) }]),
    null,
  )
})

test('a sketch is the same after it was written and read, and its likeness is about that of the tokens', () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 50_000 }), { maxLength: 80 }), (tokens) => {
      const sketch = sketchOf({ tokens, mask: new Uint8Array(tokens.length).fill(1) })
      assert.equal(decodeSketch(encodeSketch(sketch)), sketch)
      assert.is(likeness(sketch, sketch), 1)
    }),
    { seed: 3, numRuns: 100 },
  )
  const tokens = Array.from({ length: 104 }, (_, i) => i)
  const mask = new Uint8Array(104).fill(1)
  const half = sketchOf({ tokens: tokens.map((token, i) => (i < 52 ? token : token + 1000)), mask })
  // 48 of 100 shingles are the same, and 152 are in one of both.
  assert.ok(Math.abs(likeness(sketchOf({ tokens, mask }), half) - 48 / 152) < 0.25)
})

test.run()
