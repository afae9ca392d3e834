import { awaitsFindings } from './batch-folder.js'
import type { TrainerError } from './errors.js'
import { batchFolder } from './layout.js'
import { readRefusal } from './refusal-file.js'
import type { BatchOutcome } from './train-engine.js'

/** What became of batches, and who waits for it. */
export function createBatchOutcomes(jobs: string) {
  const known = new Map<string, BatchOutcome>()
  const awaited = new Map<string, PromiseWithResolvers<BatchOutcome>>()
  let failure: TrainerError | null = null

  const tell = (batchId: string, outcome: BatchOutcome): void => {
    awaited.get(batchId)?.resolve(outcome)
    awaited.delete(batchId)
  }

  const settle = (batchId: string, outcome: BatchOutcome): void => {
    known.set(batchId, outcome)
    tell(batchId, outcome)
  }

  const waiterFor = (batchId: string): PromiseWithResolvers<BatchOutcome> => {
    const waiter = awaited.get(batchId) ?? Promise.withResolvers<BatchOutcome>()
    awaited.set(batchId, waiter)
    // The trainer may be over before anybody listens.
    waiter.promise.catch(() => undefined)
    return waiter
  }

  /** A refusal that is on disk already: the trainer reports each only once, and we may have been away. */
  const settleIfRefused = async (batchId: string): Promise<void> => {
    const refusal = await readRefusal(batchFolder(jobs, batchId))
    if (refusal) settle(batchId, { kind: 'refused', ...refusal })
  }

  return {
    tell,
    settle,
    firstAwaited: (): string | null => awaited.keys().next().value ?? null,
    lookForRefusals(): void {
      for (const [batchId, waiter] of awaited) settleIfRefused(batchId).catch(waiter.reject)
    },
    async of(batchId: string, signal: AbortSignal): Promise<BatchOutcome> {
      await settleIfRefused(batchId)
      const outcome = known.get(batchId)
      if (outcome) return outcome
      if (failure) throw failure
      const { promise } = waiterFor(batchId)
      // Said before anybody listened, or by a trainer that has ended since. Looked for now that no word of it can be missed.
      if (await awaitsFindings(jobs, batchId)) tell(batchId, { kind: 'measured' })
      return abortable(promise, signal)
    },
    end(why: TrainerError): void {
      failure = why
      for (const waiter of awaited.values()) waiter.reject(why)
      awaited.clear()
    },
  }
}

/** The promise, or the signal's reason if that comes first. */
export async function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  // Whoever stops waiting must not turn a later failure into one that nobody handles.
  promise.catch(() => undefined)
  signal.throwIfAborted()
  const aborted = Promise.withResolvers<never>()
  const onAbort = (): void => aborted.reject(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([promise, aborted.promise])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
