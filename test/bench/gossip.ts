import {
  LIMITS,
  peerIdOfKey,
  sealGroupAnnouncement,
  sealPolicyAnnouncement,
  sealVerdictDigest,
  shardOf,
  shardsFor,
  topicsOf,
} from '../../proto/index.js'
import { MEASURED } from '../simulation/measured.js'
import { acceptedVerdict, announcement, flightManifest, hash } from '../support/proto-samples.js'
import { keyOf } from '../support/swarm-nodes.js'
import type { BenchResult } from './result.js'

const NODES = [1000, 10_000, 100_000]
/** Copies of a message that a node gets and passes on: a mesh of six, less the one that the message came from. */
const COPIES = 5
/** Announcements of the policy: every five seconds, and of capacity at most once a second. */
const POLICIES_PER_S = 1.2

/**
 * Computes a node's gossip from the real sizes of sealed messages and the real division into shards. Every node delivers a group each
 * four minutes and gets its verdict.
 */
export async function run(): Promise<{ versions: Record<string, string>; results: BenchResult[] }> {
  const key = await keyOf(1)
  const runId = peerIdOfKey(key)
  const group = await sealGroupAnnouncement(key, runId, { ...announcement, rewards: Array(8).fill(0.5) }, null)
  const verdict = await sealVerdictDigest(key, runId, {
    ...{ peerId: runId, fromCursor: 40, verdicts: [acceptedVerdict], totalCredit: 800, issuedAtMs: 1.7e12 },
  })
  const policy = await sealPolicyAnnouncement(key, runId, {
    ...{ manifestId: hash('manifest'), manifestSizeBytes: 30_000, round: 300, version: 200 },
    ...{ policyId: flightManifest.policyId, expiresAtMs: 1.7e12, capacity: 100, waiting: 100, shards: 64 },
    providers: Array.from({ length: LIMITS.peersAnnounced.value }, (_, i) => ({
      peerId: `${runId.slice(0, -1)}${i}`,
      addresses: ['/ip4/198.51.100.7/tcp/4001'],
    })),
  })
  const frame = MEASURED.gossipFrameBytes.value
  const perS = 1 / MEASURED.groupS.value
  const heard = (nodes: number) => ({
    messages: COPIES * (2 * nodes * perS + POLICIES_PER_S),
    bytes:
      COPIES * (nodes * perS * (group.length + verdict.length + 2 * frame) + POLICIES_PER_S * (policy.length + frame)),
  })
  const results: BenchResult[] = [
    { metric: 'announcement of a group', value: group.length, unit: 'B' },
    { metric: 'verdict', value: verdict.length, unit: 'B' },
    { metric: 'announcement of the policy', value: policy.length, unit: 'B' },
  ]
  for (const nodes of NODES) {
    const shards = shardsFor(nodes, { current: 1, mayShrink: false, shardNodes: LIMITS.shardNodes.value })
    const sizes = new Map<number, number>()
    for (let i = 0; i < nodes; i++) {
      const { shard } = shardOf(runId, `12D3KooW${i}`, shards)
      sizes.set(shard, (sizes.get(shard) ?? 0) + 1)
    }
    const all = [...sizes.values()]
    /** A node of a larger shard hears more, and more nodes are in it. */
    const mean = all.reduce((sum, size) => sum + size * size, 0) / nodes
    const [usual, most, whole] = [mean, Math.max(...all), nodes].map(heard)
    const name = `${nodes} nodes in ${shards} shards`
    const peer = 'one shard'
    results.push(
      {
        metric: `${name}: messages of a node`,
        value: usual!.messages,
        unit: '/s',
        peer,
        ratio: usual!.messages / whole!.messages,
      },
      {
        metric: `${name}: bytes of a node`,
        value: usual!.bytes,
        unit: 'B/s',
        peer,
        ratio: usual!.bytes / whole!.bytes,
      },
      { metric: `${name}: messages in the largest shard`, value: most!.messages, unit: '/s' },
      { metric: `${name}: bytes in the largest shard`, value: most!.bytes, unit: 'B/s' },
      {
        metric: `${name}: subscriptions that the coordinator sends to a new connection`,
        value: shards * (topicsOf(runId, { shards, shard: 0 }).groups.length + 6),
        unit: 'B',
      },
    )
  }
  return { versions: {}, results }
}
