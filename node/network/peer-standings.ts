import { LRUCache } from 'lru-cache'
import { LIMITS, type VerdictDigest } from '../../proto/index.js'
import type { PeerStanding, SwarmHost } from '../../swarm/index.js'

/**
 * Shares the streams of a node like those of the coordinator. The coordinator's signed verdicts, which every node receives, show which keys
 * work for the run: a key with credit is reliable, and any other key with a verdict is registered.
 * @returns  a function that notes a digest
 */
export function shareByVerdicts({ serving }: Pick<SwarmHost, 'serving'>): (digest: VerdictDigest) => void {
  const standings = new LRUCache<string, PeerStanding>({ max: LIMITS.trackedPeers.value })
  serving.knowStandings((peer) => standings.get(peer) ?? 'stranger')
  return ({ peerId, verdicts, totalCredit }) => {
    const last = verdicts.at(-1)
    if (last) standings.set(peerId, last.accepted && totalCredit > 0 ? 'reliable' : 'registered')
  }
}
