import type { EventLog } from '../../coordinator/ledger/event-log.js'
import type { RunEvent } from '../../coordinator/ledger/events.js'

/** Returns an event log in memory. @param events  its first events; new events are appended to this array */
export const memoryLog = (events: RunEvent[]): EventLog => ({
  append: async (...more) => void events.push(...more),
  async *replay(from) {
    yield* events.slice(from?.count ?? 0)
  },
  close: async () => undefined,
})
