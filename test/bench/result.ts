/** One line of a benchmark's result, as `scripts/bench.mjs` prints it. */
export interface BenchResult {
  readonly metric: string
  readonly value: number
  readonly unit: string
  /** What the value is compared with. */
  readonly peer?: string
  /** Ours divided by the peer's. */
  readonly ratio?: number
}
