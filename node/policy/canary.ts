import type { Canary, CanaryTolerance, PolicyManifest } from '../../proto/index.js'
import { type Engine, EngineError, type EngineErrorCode } from '../../rollout/engine/index.js'
import { NodeError } from '../report/errors.js'

/**
 * Factor by which an engine has to be nearer to the base model than to the policy to show that the adapter is not applied. An applied
 * adapter cannot cause this: rounding would have to take most of the adapter's effect away from every token.
 */
const NEARER_TO_BASE = 3
/** Factor of the tolerance up to which rounding is the likelier reason than other weights. */
const ROUNDING = 10

/**
 * Checks that the engine runs the published policy, before any work under it. The log-probabilities must be within the run's tolerance
 * of the published ones, and not much nearer to those of the base model.
 * @throws NodeError `canary_failed`, with the likely reason (adapter not applied, rounding, or other weights) and advice
 */
export async function checkCanary(
  engine: Engine,
  { canary: canaries, canaryTolerance }: Pick<PolicyManifest, 'canary' | 'canaryTolerance'>,
  signal: AbortSignal,
): Promise<void> {
  try {
    for (const [i, canary] of canaries.entries()) {
      const { promptTokens, continuationTokens } = canary
      const scored = await engine.score([...promptTokens, ...continuationTokens], promptTokens.length, signal)
      checkLogprobs(scored, canary, canaryTolerance, `canary ${i} on ${engine.build.backend}`)
    }
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

function checkLogprobs(
  scored: readonly number[],
  { baseLogprobs, policyLogprobs }: Canary,
  tolerance: CanaryTolerance,
  what: string,
): void {
  const off = distance(scored, policyLogprobs)
  const isUnapplied = off.mean > NEARER_TO_BASE * distance(scored, baseLogprobs).mean
  if (off.mean <= tolerance.mean && off.max <= tolerance.max && !isUnapplied) return
  const nats = (value: number): string => value.toFixed(4)
  throw new NodeError(
    'canary_failed',
    `${what}: ${nats(off.mean)} nats off on average, at most ${nats(off.max)} (allowed: ${nats(tolerance.mean)} and ${nats(tolerance.max)}); ${isUnapplied ? UNAPPLIED : reason(off.mean, tolerance)}`,
  )
}

const UNAPPLIED =
  'the engine computes like the base model alone: the adapter is not applied. Start the node with --gpu none, and report this if it fails again'

const reason = (off: number, tolerance: CanaryTolerance): string =>
  off <= ROUNDING * tolerance.mean
    ? 'the engine rounds differently, because of another backend or build. Start the node with --gpu none; on a CPU, update the program'
    : 'the engine computes like another model, with another base model or adapter. Start the node without --model, so that it fetches the right file'

/** Returns mean and largest absolute difference of two lists of equal length, with at least one number each. */
export function distance(a: readonly number[], b: readonly number[]): { mean: number; max: number } {
  const gaps = a.map((value, i) => Math.abs(value - b[i]!))
  return { mean: gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length, max: Math.max(...gaps) }
}
