import type { CanaryTokens } from '../coordinator/jobs/reference-scores.js'
import type { AdapterFile, Engine } from '../rollout/engine/types.js'
import type { CanaryStatistics } from '../rollout/verification/canary-tolerance.js'

export interface CanaryMeasurement {
  readonly engine: Engine
  /** Adapters, besides the bare base. */
  readonly adapters: readonly AdapterFile[]
  readonly canaries: readonly CanaryTokens[]
  /** Returns the scores of each canary's tokens (nats), under the bare base and then under each adapter, see `referenceScores`. */
  readonly reference: (canaries: readonly CanaryTokens[], signal: AbortSignal) => Promise<number[][][]>
  /** Reports the number of scored canaries. */
  readonly onProgress: (done: number, wanted: number) => void
}

/** Measures how far an engine is from the reference scores of canaries. Returns null without canaries. @throws EngineError, TrainerError */
export async function measureCanaries(
  { engine, adapters, canaries, reference, onProgress }: CanaryMeasurement,
  signal: AbortSignal,
): Promise<CanaryStatistics | null> {
  if (canaries.length === 0) return null
  const wanted = await reference(canaries, signal)
  const policies = [null, ...adapters]
  const found = { tokens: 0, worstMean: 0, worstToken: 0 }
  for (const [i, policy] of policies.entries()) {
    await engine.usePolicy(policy, signal)
    for (const [k, { prompt, continuation }] of canaries.entries()) {
      onProgress(i * canaries.length + k, policies.length * canaries.length)
      const scored = await engine.score([...prompt, ...continuation], prompt.length, signal)
      const gaps = scored.map((value, at) => Math.abs(value - wanted[i]![k]![at]!))
      found.tokens += gaps.length
      found.worstMean = Math.max(found.worstMean, gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length)
      found.worstToken = Math.max(found.worstToken, ...gaps)
    }
  }
  return { canaries: canaries.length, policies: policies.length, ...found }
}
