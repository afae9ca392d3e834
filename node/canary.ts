import type { Engine } from '../engine/index.js'
import type { Canary } from '../proto/index.js'
import { NodeError } from './errors.js'

/**
 * Mean and largest difference (nats) from the published log-probabilities that still passes. The trainer computes in
 * float32, the engine with a float16 cache: up to 0.012 per token was measured on f16 weights; an adapter that is not
 * applied is off by whole nats.
 */
const MEAN_TOLERANCE = 0.02
const MAX_TOLERANCE = 0.3

/**
 * Checks that the engine really runs the published policy, before any work is done under it.
 * @throws NodeError `canary_failed`, saying whether the adapter seems not to be applied
 */
export async function checkCanary(engine: Engine, canaries: readonly Canary[], signal: AbortSignal): Promise<void> {
  for (const [i, { promptTokens, continuationTokens, baseLogprobs, policyLogprobs }] of canaries.entries()) {
    const scored = await engine.score([...promptTokens, ...continuationTokens], promptTokens.length, signal)
    const off = distance(scored, policyLogprobs)
    if (off.mean <= MEAN_TOLERANCE && off.max <= MAX_TOLERANCE) continue
    const guess =
      distance(scored, baseLogprobs).mean < off.mean
        ? 'the engine answers like the bare base model: the adapter is not applied'
        : 'another base model, quantisation or build?'
    throw new NodeError(
      'canary_failed',
      `canary ${i}: ${off.mean.toFixed(4)} nats off on average, at most ${off.max.toFixed(4)}; ${guess}`,
    )
  }
}

function distance(a: readonly number[], b: readonly number[]): { mean: number; max: number } {
  const gaps = a.map((value, i) => Math.abs(value - b[i]!))
  return { mean: gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length, max: Math.max(...gaps) }
}
