import { LIMITS } from '../../proto/index.js'

/** How fast this machine is, as it tells the coordinator. */
export interface ReportedSpeed {
  /** Tokens a second that it samples over all rollouts of a group; 0: not known. The first time it is measured. */
  told(signal: AbortSignal): Promise<number>
  /**
   * The coordinator finds the machine too slow. It may have been busy with something else: it is measured once more.
   * @returns  whether it was faster this time, so that asking again makes sense
   */
  again(signal: AbortSignal): Promise<boolean>
  /** What is known is of long ago. */
  forget(): void
}

/** @param measure  plays a short group; null: it took too long to tell. Left out: nothing is told. @throws the signal's reason */
export function createReportedSpeed(
  measure: ((signal: AbortSignal) => Promise<number | null>) | undefined,
): ReportedSpeed {
  let best: number | null = null
  let isRepeated = false
  // A trial may be over between two ticks of the clock.
  const attempt = async (signal: AbortSignal): Promise<number> =>
    Math.min(LIMITS.tokensPerSecond.value, (await measure?.(signal)) ?? 0)
  return {
    async told(signal) {
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
