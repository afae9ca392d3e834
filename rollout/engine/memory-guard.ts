import { totalmem } from 'node:os'
import pidusage from 'pidusage'

/** Share of the usable memory that inference may use by default. */
const DEFAULT_SHARE = 0.75
/** Milliseconds between two checks: listing a process takes 30 ms on systems without /proc. */
const LOOK_EVERY_MS = 1000

/**
 * Returns the bytes of memory that this process may use: those of the machine, or of its container if they are fewer.
 * @param constrained  limit of the container; undefined or 0: none is known
 */
export const usableMemory = (total = totalmem(), constrained = process.constrainedMemory()): number =>
  constrained ? Math.min(total, constrained) : total

export const defaultMemoryLimit = (): number => Math.floor(DEFAULT_SHARE * usableMemory())

/** Returns the bytes of main memory that a process uses now. */
export const residentBytes = async (pid: number): Promise<number> => (await pidusage(pid)).memory

/**
 * Watches the resident memory of a process from outside: a runaway native allocation would block a check inside the process. The
 * watch ends with the process.
 * @param onExceeded  called once, with the bytes in use
 * @returns  a function that stops the watch
 */
export function guardMemory(pid: number, limitBytes: number, onExceeded: (bytes: number) => void): () => void {
  let looking = false
  const stop = (): void => clearInterval(timer)
  const look = async (): Promise<void> => {
    if (looking) return
    looking = true
    try {
      const memory = await residentBytes(pid)
      if (memory <= limitBytes) return
      stop()
      onExceeded(memory)
    } catch {
      // The process is gone. The system reports its end to the parent.
      stop()
    } finally {
      looking = false
    }
  }
  const timer = setInterval(() => void look(), LOOK_EVERY_MS)
  timer.unref()
  return stop
}
