import type { RunEvent } from '../../coordinator/ledger/events.js'
import { RunReducer } from '../../coordinator/ledger/run-reducer.js'
import type { Verdict } from '../../proto/index.js'
import type { Violation } from './check-log.js'

/** What one volunteer's machine has on its disk at the end, and what its owner was told. */
export interface VolunteerRecord {
  readonly node: string
  /** Verdicts on record, in order. */
  readonly verdicts: readonly Verdict[]
  /** Leases of groups that still wait for their verdict. */
  readonly waiting: readonly string[]
  /** Leases of groups that its owner was told are finished, and of those that were dropped. */
  readonly finished: readonly string[]
  readonly dropped: readonly string[]
}

/** What the volunteers were told must be what the log says, verdict by verdict: an accepted group is never taken back unsaid. */
export function checkLedgers(events: readonly RunEvent[], volunteers: readonly VolunteerRecord[]): Violation[] {
  const state = reducer(events)
  const violations: Violation[] = []
  for (const { node, verdicts } of volunteers) {
    const said = state.nodes.get(node)?.verdicts ?? []
    for (const [i, { leaseId, accepted, credit }] of verdicts.entries()) {
      const verdict = said[i]
      if (verdict?.leaseId === leaseId && verdict.accepted === accepted && verdict.credit === credit) continue
      const detail = `${node} was told of ${leaseId}, verdict ${i}; the log has ${verdict?.leaseId ?? 'none'}`
      violations.push({ rule: 'ledger', at: null, detail })
    }
  }
  return violations
}

/**
 * A group that is finished gets its verdict or is dropped for a reason: a volunteer neither forgets it nor sits on it, unless
 * its key is quarantined, which gets no verdicts.
 */
export function checkDeliveries(events: readonly RunEvent[], volunteers: readonly VolunteerRecord[]): Violation[] {
  const { judged, nodes } = reducer(events)
  const endMs = events.at(-1)?.atMs ?? 0
  const understood = volunteers.filter(({ node }) => !nodes.get(node)?.reputation.isQuarantined(endMs))
  const forgotten = new Set(
    events.flatMap((event) => (event.type === 'released' && event.reason === 'forgotten' ? [event.leaseId] : [])),
  )
  const late = understood.flatMap(({ node, waiting }) =>
    waiting.map(
      (leaseId): Violation => ({ rule: 'finished group kept', at: null, detail: `${node} keeps ${leaseId}` }),
    ),
  )
  const lost = volunteers.flatMap(({ node, finished, dropped, waiting }) =>
    finished
      .filter((leaseId) => forgotten.has(leaseId) && !judged.has(leaseId))
      .filter((leaseId) => !dropped.includes(leaseId) && !waiting.includes(leaseId))
      .map(
        (leaseId): Violation => ({ rule: 'finished group lost', at: null, detail: `${node} has forgotten ${leaseId}` }),
      ),
  )
  return [...late, ...lost]
}

function reducer(events: readonly RunEvent[]): RunReducer {
  const state = new RunReducer()
  for (const event of events) state.apply(event)
  return state
}
