import { awaitsFindings } from './batch-folder.js'
import type { TrainerError } from './errors.js'
import { batchFolder } from './layout.js'
import { readRefusal } from './refusal-file.js'
import type { BatchOutcome } from './train-engine.js'

/** Creates a record of batch outcomes, with the callers that wait for them. */
export function createBatchOutcomes(jobs: string) {
  const known = new Map<string, BatchOutcome>()
  const awaited = new Map<string, PromiseWithResolvers<BatchOutcome>>()
  let failure: TrainerError | null = null

  const report = (batchId: string, outcome: BatchOutcome): void => {
    awaited.get(batchId)?.resolve(outcome)
    awaited.delete(batchId)
  }

  const settle = (batchId: string, outcome: BatchOutcome): void => {
    known.set(batchId, outcome)
    report(batchId, outcome)
  }

  const waiterFor = (batchId: string): PromiseWithResolvers<BatchOutcome> => {
    const waiter = awaited.get(batchId) ?? Promise.withResolvers<BatchOutcome>()
    awaited.set(batchId, waiter)
    // The trainer may end before anyone waits.
    waiter.promise.catch(() => undefined)
    return waiter
  }

  /** Settles a refusal that is on disk, because the trainer reports each only once. */
  const settleIfRefused = async (batchId: string): Promise<void> => {
    const refusal = await readRefusal(batchFolder(jobs, batchId))
    if (refusal) settle(batchId, { kind: 'refused', ...refusal })
  }

  return {
    report,
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
      // The trainer may have reported it earlier, or have ended since. Checked after `waiterFor`, so that no report is missed.
      if (await awaitsFindings(jobs, batchId)) report(batchId, { kind: 'measured' })
      return abortable(promise, signal)
    },
    end(why: TrainerError): void {
      failure = why
      for (const waiter of awaited.values()) waiter.reject(why)
      awaited.clear()
    },
  }
}

/** Returns the result of a promise. @throws the signal's reason if the signal fires first */
export async function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  // After the signal, a later failure must not be an unhandled rejection.
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
