import type { EventLog } from '../../coordinator/ledger/event-log.js'
import type { RunEvent } from '../../coordinator/ledger/events.js'

/** A log that forgets everything with the process. @param events  what it begins with, and where it writes */
export const memoryLog = (events: RunEvent[]): EventLog => ({
  append: async (...more) => void events.push(...more),
  async *replay(from) {
    yield* events.slice(from?.count ?? 0)
  },
  close: async () => undefined,
})
