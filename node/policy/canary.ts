import type { Canary } from '../../proto/index.js'
import { type Engine, EngineError, type EngineErrorCode } from '../../rollout/engine/index.js'
import { NodeError } from '../report/errors.js'

/**
 * Largest mean and largest single difference (nats) from the published log-probabilities that pass. The trainer computes in float32,
 * the engine with a float16 cache: up to 0.012 per token was measured on f16 weights. Without the adapter the difference is whole nats.
 */
export const MEAN_TOLERANCE = 0.02
export const MAX_TOLERANCE = 0.3
/** Mean difference (nats) up to which rounding is the likelier reason. Other weights differ more. */
const ROUNDING_TOLERANCE = 0.3

/**
 * Checks that the engine runs the published policy, before any work under it.
 * @throws NodeError `canary_failed`, with the likely reason: adapter not applied, rounding, or other weights
 */
export async function checkCanary(engine: Engine, canaries: readonly Canary[], signal: AbortSignal): Promise<void> {
  try {
    for (const [i, canary] of canaries.entries()) await checkLogprobs(engine, canary, i, signal)
  } catch (cause) {
    if (!(cause instanceof EngineError) || !UNFIT.has(cause.code)) throw cause
    throw new NodeError(
      'canary_failed',
      `the run's canary does not fit its base model or its limits: ${cause.message}`,
      {
        cause,
      },
    )
  }
}

/** Engine errors for a canary that is too long for any rollout, or has tokens that the base model lacks. */
const UNFIT: ReadonlySet<EngineErrorCode> = new Set<EngineErrorCode>(['context_full', 'bad_request'])

async function checkLogprobs(
  engine: Engine,
  { promptTokens, continuationTokens, baseLogprobs, policyLogprobs }: Canary,
  i: number,
  signal: AbortSignal,
): Promise<void> {
  const scored = await engine.score([...promptTokens, ...continuationTokens], promptTokens.length, signal)
  const off = distance(scored, policyLogprobs)
  if (off.mean <= MEAN_TOLERANCE && off.max <= MAX_TOLERANCE) return
  throw new NodeError(
    'canary_failed',
    `canary ${i}: ${off.mean.toFixed(4)} nats off on average, at most ${off.max.toFixed(4)}; ${reason(off.mean, distance(scored, baseLogprobs).mean)}`,
  )
}

function reason(off: number, offFromBase: number): string {
  if (offFromBase < off) return 'the engine computes like the base model alone: the adapter is not applied'
  if (off <= ROUNDING_TOLERANCE)
    return 'the engine rounds differently, because of another quantisation, backend or build (try --cpu)'
  return 'the engine computes like another model, with another base model or adapter'
}

/** Returns mean and largest absolute difference of two lists of equal length, with at least one number each. */
export function distance(a: readonly number[], b: readonly number[]): { mean: number; max: number } {
  const gaps = a.map((value, i) => Math.abs(value - b[i]!))
  return { mean: gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length, max: Math.max(...gaps) }
}
