/**
 * Time limit that ends a hanging test. No working test takes that long, even on the busiest machine, and no test waits for the limit:
 * a test of a time limit sets a short one or moves a clock.
 */
export const PATIENCE_MS = 300_000

/** Returns a new signal with this limit. Call it inside the test: all files of a suite are loaded before the first test runs. */
export const patience = (): AbortSignal => AbortSignal.timeout(PATIENCE_MS)
