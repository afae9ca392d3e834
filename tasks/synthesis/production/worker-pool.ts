import { Tinypool } from 'tinypool'
import type { Batch, BatchResult } from './make-batch.js'

export interface Workers {
  run(batch: Batch, signal: AbortSignal): Promise<BatchResult[]>
  close(): Promise<void>
}

/** `make-batch.js` when built, `make-batch.ts` when run from the sources. */
const WORKER = new URL(`./make-batch${import.meta.url.slice(import.meta.url.lastIndexOf('.'))}`, import.meta.url).href

/** Starts worker threads that make batches of examples. */
export function createWorkers(count: number): Workers {
  const pool = new Tinypool({ filename: WORKER, minThreads: count, maxThreads: count })
  return {
    run: (batch, signal) => pool.run(batch, { signal }) as Promise<BatchResult[]>,
    close: () => pool.destroy(),
  }
}
