import { createFairLock } from './fair-lock.js'

/** Work that the next job waits for, beyond the job's own end: an abort returns before llama.cpp does. */
export type Hold = (work: Promise<unknown>) => void

/** What is asked of an engine: one job at a time, but for those that share it. */
export interface Jobs {
  /** @throws the signal's reason when it aborts, else what `explain` makes of the job's error */
  run<T>(signal: AbortSignal, job: (hold: Hold) => Promise<T>, mode?: 'alone' | 'shared'): Promise<T>
}

/** @param explain  what is said of an error */
export function createJobs(explain: (error: unknown) => Error): Jobs {
  const fairLock = createFairLock()
  return {
    async run(signal, job, mode = 'alone') {
      const leave = await fairLock.enter(signal, mode)
      let held: Promise<unknown> = Promise.resolve()
      try {
        return await job((work) => {
          held = work
        })
      } catch (error) {
        signal.throwIfAborted()
        throw explain(error)
      } finally {
        held.then(leave, leave)
      }
    },
  }
}
