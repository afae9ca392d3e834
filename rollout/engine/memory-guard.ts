import { totalmem } from 'node:os'
import pidusage from 'pidusage'

/** Share of the machine's memory that inference may take unless the volunteer says otherwise. */
const DEFAULT_SHARE = 0.75
/** Listing a process takes 30 ms where the system has no /proc, so not more often. */
const LOOK_EVERY_MS = 1000

export const defaultMemoryLimit = (): number => Math.floor(DEFAULT_SHARE * totalmem())

/** What a process holds of main memory now (B). */
export const residentBytes = async (pid: number): Promise<number> => (await pidusage(pid)).memory

/**
 * Watches the resident memory of a process from outside: a native allocation that runs away keeps the process itself from
 * looking. Ends by itself when the process is gone.
 * @param onExceeded  called once, with the bytes that it holds
 * @returns  stops watching
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
      // No such process: whoever started it hears of its end from the system.
      stop()
    } finally {
      looking = false
    }
  }
  const timer = setInterval(() => void look(), LOOK_EVERY_MS)
  timer.unref()
  return stop
}
