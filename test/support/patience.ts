/**
 * Ends what hangs. Nothing that works takes so long on the busiest machine, and no test waits for it to be over: where a test
 * is about a time limit, it sets a short one or moves a clock of its own.
 */
export const PATIENCE_MS = 300_000

/** For calls that take a signal. Make it where it is used: all files of a suite are loaded before the first test runs. */
export const patience = (): AbortSignal => AbortSignal.timeout(PATIENCE_MS)
