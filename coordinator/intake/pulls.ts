import pLimit from 'p-limit'
import type { GroupAnnouncement } from '../../proto/index.js'
import type { Clock, ReceivedGroup } from '../../swarm/index.js'
import type { LeaseRecord } from '../ledger/run-state.js'
import { isOverdue } from './admission.js'
import { isZeroVariance } from './outcome.js'

const PULL_TIMEOUT_MS = 30_000
/** Bodies pulled at once: of nodes that are known to deliver, and as many of all others. */
const PULLS = 8

/** A group whose node knows that it was drawn, and has not shown its body. */
export interface OwedBody {
  readonly lease: LeaseRecord
  readonly group: ReceivedGroup
}

export interface PullsParts {
  /** Asks a node for the announced body. @throws when it does not come, or is another one */
  readonly fetch: (holder: string, announcement: GroupAnnouncement, signal: AbortSignal) => Promise<Uint8Array>
  readonly isReliable: (node: string) => boolean
  readonly clock: Pick<Clock, 'now' | 'timeout'>
  readonly signal: AbortSignal
}

/** Where bodies come from. */
export interface Pulls {
  /** The body of a group, which came along or is pulled from its author. @throws what `fetch` throws */
  body(lease: LeaseRecord, group: ReceivedGroup): Promise<Uint8Array>
  /** Hash of the body that a drawn group has still to show; with another one it would be drawn again. */
  owed(leaseId: string): string | undefined
  /**
   * The drawn groups whose bodies did not come before their deadline; those that have their verdicts are forgotten.
   * @param isInProgress  its body may be coming right now
   */
  withheld(isJudged: (leaseId: string) => boolean, isInProgress: (leaseId: string) => boolean): OwedBody[]
}

export function createPulls({ fetch, isReliable, clock, signal }: PullsParts): Pulls {
  const queues = { reliable: pLimit(PULLS), other: pLimit(PULLS) }
  /** Groups without reward variance that were drawn, until their bodies come: that its body is asked for tells a node of the draw. */
  const owed = new Map<string, OwedBody>()

  const pull = ({ announcement, signer }: ReceivedGroup): Promise<Uint8Array> =>
    queues[isReliable(signer) ? 'reliable' : 'other'](() =>
      fetch(signer, announcement, AbortSignal.any([signal, clock.timeout(PULL_TIMEOUT_MS)])),
    )

  return {
    async body(lease, group) {
      const { leaseId } = lease
      if (group.body === null && isZeroVariance(group.announcement.rewards) && !owed.has(leaseId))
        owed.set(leaseId, { lease, group })
      const bytes = group.body ?? (await pull(group))
      owed.delete(leaseId)
      return bytes
    },
    owed: (leaseId) => owed.get(leaseId)?.group.announcement.bodySha256,
    withheld(isJudged, isInProgress) {
      for (const leaseId of owed.keys()) if (isJudged(leaseId)) owed.delete(leaseId)
      return [...owed.values()].filter(({ lease }) => !isInProgress(lease.leaseId) && isOverdue(lease, clock.now()))
    },
  }
}
