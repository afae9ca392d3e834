import { type CanaryTolerance, LIMITS } from '../../proto/index.js'
import type { Calibration } from './thresholds.js'

/** Measured differences of an engine's log-probabilities from the reference scores of canaries. */
export type CanaryStatistics = NonNullable<Calibration['canary']>

/**
 * Tolerance where no calibration has measured canaries. It is four times what engines with quantised weights are off: 0.05 nats on
 * average and 0.5 at most. Another model is several nats off, and an adapter that is not applied is found by comparison with the base.
 */
export const UNMEASURED_TOLERANCE: CanaryTolerance = { mean: 0.2, max: 2 }

/** Factor by which later policies, and other machines than the calibrating one, may be further off than the worst measured canary. */
const MARGIN = 5
/** Least tolerance: processors add up in another order, and a few dozen canaries do not show the worst token. */
const LEAST: CanaryTolerance = { mean: 0.01, max: 0.2 }

/** Returns the tolerance for all backends of a run: the widest of its calibrations. */
export function canaryTolerance(calibrations: Iterable<Pick<Calibration, 'canary'>>): CanaryTolerance {
  const all = [...calibrations].map(({ canary }) => (canary === null ? UNMEASURED_TOLERANCE : measured(canary)))
  if (all.length === 0) return UNMEASURED_TOLERANCE
  return { mean: Math.max(...all.map(({ mean }) => mean)), max: Math.max(...all.map(({ max }) => max)) }
}

function measured({ worstMean, worstToken }: CanaryStatistics): CanaryTolerance {
  const max = Math.min(LIMITS.canaryTolerance.value, Math.max(LEAST.max, MARGIN * worstToken))
  return { mean: Math.min(max, Math.max(LEAST.mean, MARGIN * worstMean)), max }
}
