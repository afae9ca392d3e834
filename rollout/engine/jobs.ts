import { createFairLock } from './fair-lock.js'

/** Registers work that the next job must await: after an abort, a job returns before llama.cpp has finished. */
export type Hold = (work: Promise<unknown>) => void

/** The queue of an engine's jobs: one job at a time, or several shared ones. */
export interface Jobs {
  /** Runs a job. @throws the signal's reason when it aborts, else the job's error converted by `explain` */
  run<T>(signal: AbortSignal, job: (hold: Hold) => Promise<T>, mode?: 'alone' | 'shared'): Promise<T>
}

/** @param explain  converts a job's error */
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
