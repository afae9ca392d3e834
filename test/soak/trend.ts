import type { Sample } from './messages.js'

/** What a soak came to. */
export interface Trend {
  /** Bytes of memory that one event of the log takes, found by starting again from the log. */
  readonly bytesPerRecord: number
  /** By how much the heap grew over the last half of the samples beyond its records, as a share of its size. */
  readonly unexplainedGrowth: number
  /** Bytes that a new start from the same log does not need. */
  readonly leftBehindBytes: number
  readonly zeroVariance: boolean
}

/** Growth over the last half that counts as flat. */
export const FLAT_GROWTH = 0.05

/**
 * Whether memory stays level. Events of the log stay in memory by design, so what they take is subtracted; how much one
 * takes is measured, not assumed: the difference between the first sample and a new start from the whole log.
 * @param samples    after a full collection each, oldest first, at least four
 * @param restarted  after the same process has started again from its log
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

/** Of the least-squares line. */
function slopeOf(points: readonly (readonly [x: number, y: number])[]): number {
  const mean = (of: (point: readonly [number, number]) => number): number =>
    points.reduce((sum, point) => sum + of(point), 0) / points.length
  const [mx, my] = [mean(([x]) => x), mean(([, y]) => y)]
  return mean(([x, y]) => (x - mx) * (y - my)) / mean(([x]) => (x - mx) ** 2)
}

const BARS = '▁▂▃▄▅▆▇█'

/** The values as a row of bars, the lowest and the highest at the ends of the scale. */
export function sparkline(values: readonly number[]): string {
  const [low, high] = [Math.min(...values), Math.max(...values)]
  const step = high > low ? (BARS.length - 1) / (high - low) : 0
  return values.map((value) => BARS[Math.round((value - low) * step)]).join('')
}
