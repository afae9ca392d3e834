import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { checkCanary } from '../../../node/policy/canary.js'
import type { Canary, CanaryTolerance } from '../../../proto/index.js'
import type { Engine } from '../../../rollout/engine/index.js'
import { canaryTolerance, UNMEASURED_TOLERANCE } from '../../../rollout/verification/index.js'

const test = suite('the canary of a node')

/** An engine whose scores are the policy's, changed. */
const engineThat = (score: (at: number) => number): Engine => ({
  build: { nodeLlamaCpp: '3.22.1', backend: 'cuda' },
  usePolicy: async () => undefined,
  score: async (tokens, from) => tokens.slice(from).map((_, at) => score(at)),
  openSlots: () => Promise.reject(new Error('the canary samples nothing')),
  scoreTokens: () => Promise.reject(new Error('the canary draws nothing')),
  close: async () => undefined,
})

const POLICY = [-0.5, -2, -0.1, -1, -3, -0.2, -0.4, -1.5]
/** An adapter of a few steps: hardly further from the base than quantised weights are from their exact values. */
const BASE = POLICY.map((logprob, at) => logprob - (at % 2 === 0 ? 0.05 : -0.05))
const CANARY: Canary = {
  promptTokens: [1, 2],
  continuationTokens: POLICY.map((_, at) => at),
  baseLogprobs: BASE,
  policyLogprobs: POLICY,
}

const check = async (score: (at: number) => number, canaryTolerance: CanaryTolerance): Promise<string> =>
  checkCanary(engineThat(score), { canary: [CANARY], canaryTolerance }, new AbortController().signal).then(
    () => 'passed',
    (error: Error) => error.message,
  )

const EXACT: CanaryTolerance = { mean: 0.01, max: 0.2 }

test('an engine within the tolerance of the run passes, and the same engine fails a narrower one', async () => {
  const rounding = (at: number): number => POLICY[at]! + (at % 3 === 0 ? 0.03 : -0.03)
  assert.is(await check(rounding, { mean: 0.05, max: 0.1 }), 'passed')
  const failed = await check(rounding, EXACT)
  assert.match(
    failed,
    /^canary_failed: canary 0 on cuda: 0\.0300 nats off on average, at most 0\.0300 \(allowed: 0\.0100 and 0\.2000\)/,
  )
  assert.match(failed, /rounds differently.*--gpu none/)
})

test('a single token beyond the tolerance fails', async () => {
  const off = (at: number): number => POLICY[at]! - (at === 4 ? 0.3 : 0)
  assert.match(await check(off, { mean: 0.1, max: 0.2 }), /at most 0\.3000/)
})

test('an adapter that is not applied fails even where the tolerance is wider than its effect', async () => {
  assert.match(await check((at) => BASE[at]!, UNMEASURED_TOLERANCE), /the adapter is not applied.*--gpu none/)
  const rounded = (at: number): number => BASE[at]! + (at % 4 === 0 ? 0.01 : -0.01)
  assert.match(await check(rounded, UNMEASURED_TOLERANCE), /the adapter is not applied/)
})

test('rounding that is larger than the effect of a young adapter is no sign of a missing one', async () => {
  const rounding = (at: number): number => POLICY[at]! + (at % 3 === 0 ? 0.1 : -0.1)
  assert.is(await check(rounding, UNMEASURED_TOLERANCE), 'passed')
})

test('another model fails every tolerance, with advice', async () => {
  assert.match(await check((at) => POLICY[at]! - 4, UNMEASURED_TOLERANCE), /like another model.*without --model/)
})

test('the tolerance is the widest of the calibrations, and a wide one where none has measured canaries', () => {
  const measured = (worstMean: number, worstToken: number) => ({
    canary: { canaries: 32, policies: 2, tokens: 900, worstMean, worstToken },
  })
  assert.equal(canaryTolerance([]), UNMEASURED_TOLERANCE)
  assert.equal(canaryTolerance([measured(0.004, 0.1), { canary: null }]), UNMEASURED_TOLERANCE)
  assert.equal(canaryTolerance([measured(0.004, 0.1), measured(0.008, 0.05)]), { mean: 0.04, max: 0.5 })
  assert.equal(canaryTolerance([measured(1e-6, 1e-5)]), { mean: 0.01, max: 0.2 })
  assert.equal(canaryTolerance([measured(8, 9)]), { mean: 20, max: 20 })
})

test.run()
