import { LIMITS } from '../../proto/index.js'

/** The speed of this machine, as the node reports it to the coordinator. */
export interface ReportedSpeed {
  /** Returns the tokens per second over all rollouts of a group, measured at the first call; 0: unknown. */
  measured(signal: AbortSignal): Promise<number>
  /**
   * Measures once more, because the coordinator found the machine too slow: another program may have slowed it down.
   * @returns whether the machine was faster this time, so that another question makes sense
   */
  again(signal: AbortSignal): Promise<boolean>
  /** Drops the measurements, because they are old. */
  forget(): void
}

/** @param measure  plays a short group; null: the trial took too long. Without `measure` the speed is unknown. @throws the signal's reason */
export function createReportedSpeed(
  measure: ((signal: AbortSignal) => Promise<number | null>) | undefined,
): ReportedSpeed {
  let best: number | null = null
  let isRepeated = false
  // A trial that ends between two ticks of the clock has an infinite speed.
  const attempt = async (signal: AbortSignal): Promise<number> =>
    Math.min(LIMITS.tokensPerSecond.value, (await measure?.(signal)) ?? 0)
  return {
    async measured(signal) {
      best ??= await attempt(signal)
      return best
    },
    async again(signal) {
      if (isRepeated || !measure) return false
      isRepeated = true
      const speed = await attempt(signal)
      const isFaster = speed > (best ?? 0)
      if (isFaster) best = speed
      return isFaster
    },
    forget() {
      best = null
      isRepeated = false
    },
  }
}
