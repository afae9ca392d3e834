import { LRUCache } from 'lru-cache'
import { LIMITS, type VerdictDigest } from '../../proto/index.js'
import type { PeerTier, SwarmHost } from '../../swarm/index.js'

/**
 * Shares the streams of a node like those of the coordinator. A node receives the coordinator's signed verdicts on the
 * nodes of its shard, which show keys that work for the run. A key with credit is reliable, and any other key with a verdict is registered.
 * @returns  a function that notes a digest
 */
export function shareByVerdicts({ serving }: Pick<SwarmHost, 'serving'>): (digest: VerdictDigest) => void {
  const tiers = new LRUCache<string, PeerTier>({ max: LIMITS.trackedPeers.value })
  serving.knowTiers((peer) => tiers.get(peer) ?? 'stranger')
  return ({ peerId, verdicts, totalCredit }) => {
    const last = verdicts.at(-1)
    if (last) tiers.set(peerId, last.accepted && totalCredit > 0 ? 'reliable' : 'registered')
  }
}
