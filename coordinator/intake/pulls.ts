import pLimit from 'p-limit'
import type { GroupAnnouncement } from '../../proto/index.js'
import type { Clock, ReceivedGroup } from '../../swarm/index.js'
import type { LeaseRecord } from '../ledger/run-state.js'
import { isOverdue } from './admission.js'
import { isZeroVariance } from './outcome.js'

const PULL_TIMEOUT_MS = 30_000
/** Concurrent downloads of bodies: this many of proven nodes, and as many of others. */
const PULLS = 8

/** A group whose node knows that it was drawn, and has not sent its body yet. */
export interface OwedBody {
  readonly lease: LeaseRecord
  readonly group: ReceivedGroup
}

export interface PullsParts {
  /** Requests the announced body from a node. @throws when it does not arrive, or is another one */
  readonly fetch: (holder: string, announcement: GroupAnnouncement, signal: AbortSignal) => Promise<Uint8Array>
  readonly isReliable: (node: string) => boolean
  readonly clock: Pick<Clock, 'now' | 'timeout'>
  readonly signal: AbortSignal
}

/** Obtains bodies of groups. */
export interface Pulls {
  /** Returns the body of a group, which was attached or is downloaded from its author. @throws what `fetch` throws */
  body(lease: LeaseRecord, group: ReceivedGroup): Promise<Uint8Array>
  /** Returns the hash of the body that a drawn group still has to show. Another body would be another draw. */
  owed(leaseId: string): string | undefined
  /**
   * Returns drawn groups whose bodies did not arrive before their deadline. Forgets groups with verdicts.
   * @param isInProgress  whether its body may be arriving now
   */
  withheld(isJudged: (leaseId: string) => boolean, isInProgress: (leaseId: string) => boolean): OwedBody[]
}

export function createPulls({ fetch, isReliable, clock, signal }: PullsParts): Pulls {
  const queues = { reliable: pLimit(PULLS), other: pLimit(PULLS) }
  /** Drawn zero-variance groups without a body yet. The request for its body reveals the draw to a node. */
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
