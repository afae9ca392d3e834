import type { EventLog } from '../../coordinator/ledger/event-log.js'
import type { RunEvent } from '../../coordinator/ledger/events.js'
import { chain, LOG_START, type LogHead } from '../../coordinator/ledger/log-chain.js'

const headOf = (events: readonly RunEvent[]): LogHead =>
  events.reduce((before, event) => chain(before, event).head, LOG_START)

/** Returns an event log in memory. @param events  its first events; new events are appended to this array. `onWrite` is told the size of each write */
export const memoryLog = (events: RunEvent[], onWrite: (events: number) => void = () => undefined): EventLog => ({
  async append(...more) {
    onWrite(more.length)
    events.push(...more)
  },
  get end() {
    return headOf(events)
  },
  headAt: async (count) => (count > events.length ? null : headOf(events.slice(0, count))),
  async *replay(from) {
    yield* events.slice(from?.count ?? 0)
  },
  close: async () => undefined,
})

/** The part of a log in whose heads a test has no interest. */
export const WITHOUT_HEADS: Pick<EventLog, 'end' | 'headAt'> = { end: LOG_START, headAt: async () => null }
