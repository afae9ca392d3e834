import type { Sample } from './messages.js'

/** Result of a soak. */
export interface Trend {
  /** Bytes of memory per event of the log, measured by a restart from the log. */
  readonly bytesPerRecord: number
  /** Growth of the heap over the last half of the samples, without the events, as a share of its size. */
  readonly unexplainedGrowth: number
  /** Bytes that a restart from the same log does not need. */
  readonly leftBehindBytes: number
  readonly zeroVariance: boolean
}

/** Largest growth over the last half that counts as level. */
export const FLAT_GROWTH = 0.05

/**
 * Reports whether memory stays level. Events of the log stay in memory by design, so their memory is subtracted. The memory of one
 * event is measured: the difference between the first sample and a restart from the whole log.
 * @param samples    taken after a full garbage collection, oldest first, at least four
 * @param restarted  taken after the same process has restarted from its log
 */
export function trendOf(samples: readonly Sample[], restarted: Sample): Trend {
  const [first] = samples
  const last = samples.at(-1)
  if (!first || !last || samples.length < 4) throw new RangeError(`${samples.length} samples are no trend`)
  const bytesPerRecord = Math.max(0, restarted.heapBytes - first.heapBytes) / (restarted.records - first.records)
  const lastHalf = samples.slice(samples.length >> 1)
  const points = lastHalf.map(({ heapBytes, records }, i) => [i, heapBytes - bytesPerRecord * records] as const)
  const unexplainedGrowth = (slopeOf(points) * (points.length - 1)) / last.heapBytes
  return {
    bytesPerRecord,
    unexplainedGrowth,
    leftBehindBytes: last.heapBytes - restarted.heapBytes,
    zeroVariance: unexplainedGrowth < FLAT_GROWTH,
  }
}

/** Returns the slope of the least-squares line. */
function slopeOf(points: readonly (readonly [x: number, y: number])[]): number {
  const mean = (of: (point: readonly [number, number]) => number): number =>
    points.reduce((sum, point) => sum + of(point), 0) / points.length
  const [mx, my] = [mean(([x]) => x), mean(([, y]) => y)]
  return mean(([x, y]) => (x - mx) * (y - my)) / mean(([x]) => (x - mx) ** 2)
}

const BARS = '▁▂▃▄▅▆▇█'

/** Returns the values as a row of bars, scaled between the lowest and the highest value. */
export function sparkline(values: readonly number[]): string {
  const [low, high] = [Math.min(...values), Math.max(...values)]
  const step = high > low ? (BARS.length - 1) / (high - low) : 0
  return values.map((value) => BARS[Math.round((value - low) * step)]).join('')
}
