import { LRUCache } from 'lru-cache'
import {
  LIMITS,
  type OpenedGroupAnnouncement,
  openGroupAnnouncement,
  openPolicyAnnouncement,
  openVerdictDigest,
  type PolicyAnnouncement,
  refusal,
  type Shard,
  topicsOf,
  type VerdictDigest,
} from '../proto/index.js'
import type { Clock } from './clock.js'
import type { Channel } from './gossip.js'
import { createRateLimit } from './rate-limit.js'

/** A group announcement and its signed bytes, which a coordinator keeps as evidence. */
export interface ReceivedGroup extends OpenedGroupAnnouncement {
  readonly sealed: Uint8Array
}

export interface Channels {
  /** Pointers to manifests. Messages of other authors than the coordinator are rejected. */
  readonly policy: Channel<PolicyAnnouncement>
  readonly groups: Channel<ReceivedGroup>
  /** Verdicts of each node. Messages of other authors than the coordinator are rejected. */
  readonly verdicts: Channel<VerdictDigest>
}

/** Returns the three gossip channels of a node. @param shard  default: the shard of a run with one shard */
export function channelsOf(runId: string, shard?: Shard): Channels {
  const topics = topicsOf(runId, shard)
  return {
    policy: {
      topic: topics.policy,
      maxBytes: LIMITS.policyAnnouncementBytes.value,
      parse: (data) => openPolicyAnnouncement(data, runId),
    },
    groups: {
      topic: topics.groups,
      maxBytes: LIMITS.announcementBytes.value,
      parse: (data) => receiveGroup(data, runId),
    },
    verdicts: {
      topic: topics.verdicts,
      maxBytes: LIMITS.verdictDigestBytes.value,
      parse: (data) => openVerdictDigest(data, runId),
    },
  }
}

/** Opens a group announcement from gossip or from a direct offer. @throws SwarmRefusal */
export const receiveGroup = async (data: Uint8Array, runId: string): Promise<ReceivedGroup> => ({
  ...(await openGroupAnnouncement(data, runId)),
  sealed: data,
})

/** The part of verification check 0 that needs no leases: rate limits and repeated nonces. */
export interface AnnouncementFilter {
  /** Checks an announcement. @throws SwarmRefusal `rate_limited`, `replayed` */
  check(group: ReceivedGroup): void
}

/**
 * Creates the filter. It forgets the oldest nonces when there are too many: a replay of such an announcement fails at its lease.
 * @param inAllPerMinute  limit for all keys together; null: none
 */
export function createAnnouncementFilter(
  clock: Pick<Clock, 'elapsedMs'>,
  groupsPerMinute: number = LIMITS.groupsPerMinute.value,
  inAllPerMinute: number | null = null,
): AnnouncementFilter {
  const inAll = inAllPerMinute === null ? null : createRateLimit(clock, inAllPerMinute)
  const rate = createRateLimit(clock, groupsPerMinute)
  const nonces = new LRUCache<string, true>({ max: LIMITS.trackedNonces.value })
  return {
    check({ announcement, signer }) {
      // Includes the signer, because otherwise a stranger could use up another node's nonce.
      const nonce = `${signer}/${announcement.nonce}`
      if (nonces.has(nonce)) throw refusal('replayed', `nonce ${announcement.nonce}`)
      if (!rate.allow(signer)) throw refusal('rate_limited', `more than ${groupsPerMinute} groups a minute`)
      if (inAll && !inAll.allow('all'))
        throw refusal('rate_limited', `more than ${inAllPerMinute} groups a minute in all`)
      nonces.set(nonce, true)
    },
  }
}
