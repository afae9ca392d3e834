import { LRUCache } from 'lru-cache'
import {
  LIMITS,
  type OpenedGroupAnnouncement,
  openGroupAnnouncement,
  openPolicyAnnouncement,
  openVerdictDigest,
  type PolicyAnnouncement,
  refusal,
  topicsOf,
  type VerdictDigest,
} from '../proto/index.js'
import type { Clock } from './clock.js'
import type { Channel } from './gossip.js'
import { createRateLimit } from './rate-limit.js'

/** A group announcement with the bytes that were signed, which a coordinator keeps as evidence. */
export interface ReceivedGroup extends OpenedGroupAnnouncement {
  readonly sealed: Uint8Array
}

export interface Channels {
  /** Pointers to manifests; every author but the coordinator is rejected. */
  readonly policy: Channel<PolicyAnnouncement>
  readonly groups: Channel<ReceivedGroup>
  /** Verdicts per node; every author but the coordinator is rejected. */
  readonly verdicts: Channel<VerdictDigest>
}

/** The three gossip channels of a run. */
export function channelsOf(runId: string): Channels {
  const topics = topicsOf(runId)
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

/** Opens an announcement however it came. @throws SwarmRefusal */
export const receiveGroup = async (data: Uint8Array, runId: string): Promise<ReceivedGroup> => ({
  ...(await openGroupAnnouncement(data, runId)),
  sealed: data,
})

/** Stage 0 of judging, for the part that needs no knowledge of leases: rate per key and nonces seen before. */
export interface GroupGate {
  /** @throws SwarmRefusal `rate_limited`, `replayed` */
  check(group: ReceivedGroup): void
}

/**
 * Of too many nonces the oldest are forgotten: a replay of those fails on its lease.
 * @param inAllPerMinute  announcements of all keys together; null: no bound
 */
export function createGroupGate(
  clock: Pick<Clock, 'elapsedMs'>,
  groupsPerMinute: number = LIMITS.groupsPerMinute.value,
  inAllPerMinute: number | null = null,
): GroupGate {
  const inAll = inAllPerMinute === null ? null : createRateLimit(clock, inAllPerMinute)
  const rate = createRateLimit(clock, groupsPerMinute)
  const nonces = new LRUCache<string, true>({ max: LIMITS.trackedNonces.value })
  return {
    check({ announcement, signer }) {
      // The signer is part of the key, or a stranger could use up another node's nonce.
      const nonce = `${signer}/${announcement.nonce}`
      if (nonces.has(nonce)) throw refusal('replayed', `nonce ${announcement.nonce}`)
      if (!rate.allow(signer)) throw refusal('rate_limited', `more than ${groupsPerMinute} groups a minute`)
      if (inAll && !inAll.allow('all'))
        throw refusal('rate_limited', `more than ${inAllPerMinute} groups a minute in all`)
      nonces.set(nonce, true)
    },
  }
}
