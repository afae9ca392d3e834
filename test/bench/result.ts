/** One line of a benchmark's result, as `scripts/bench.mjs` prints it. */
export interface BenchResult {
  readonly metric: string
  readonly value: number
  readonly unit: string
  /** Name of the program that the value is compared with. */
  readonly peer?: string
  /** The value divided by that of the peer. */
  readonly ratio?: number
}
