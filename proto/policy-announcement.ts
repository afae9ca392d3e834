import type { PrivateKey } from '@libp2p/interface'
import { bytesOf, hexOf, integer, timeMs } from './bounds.js'
import { type Codec, codec } from './codec.js'
import type { Sha256 } from './content-id.js'
import { openEnvelope, sealEnvelope } from './envelope.js'
import { prove } from './gen/swarm.js'
import { LIMITS } from './limits.js'
import { MAX_ROUND, type SealedManifest } from './manifest.js'
import { readShards } from './names.js'
import { PEERS, type PeerAddresses, readPeers, writePeers } from './peer-addresses.js'
import { bytes, double, number } from './wire-shape.js'

/** The current demand for work, for waiting nodes. */
export interface Demand {
  /** Number of leases that the coordinator can still assign. */
  readonly capacity: number
  /** Number of nodes that wait for a lease. */
  readonly waiting: number
}

/** The gossiped pointer to a manifest, repeated while the manifest is in force. */
export interface PolicyAnnouncement extends Demand {
  readonly manifestId: Sha256
  readonly manifestSizeBytes: number
  readonly round: number
  readonly version: number
  readonly policyId: Sha256
  readonly expiresAtMs: number
  /** Nodes that have the adapter in force, or fetch it, at addresses that any node can dial. */
  readonly providers: readonly PeerAddresses[]
  /** Number of gossip shards, as in the manifest. */
  readonly shards: number
}

const MOST = 2 ** 31 - 1

export const policyAnnouncement: Codec<PolicyAnnouncement> = codec<
  PolicyAnnouncement,
  prove.PolicyAnnouncement.$Properties
>({
  what: 'policy announcement',
  limit: 'policyAnnouncementBytes',
  type: prove.PolicyAnnouncement,
  shape: {
    1: bytes(),
    2: number(),
    3: number(),
    4: number(),
    5: bytes(),
    6: double(),
    7: number(),
    8: number(),
    9: PEERS,
    10: number(),
  },
  read: (wire) => ({
    manifestId: hexOf(wire.manifestId, 32, 'manifest id'),
    manifestSizeBytes: integer(wire.manifestSizeBytes, 1, LIMITS.manifestBytes.value, 'manifest size'),
    round: integer(wire.round, 0, MAX_ROUND, 'round'),
    version: integer(wire.version, 0, MAX_ROUND, 'version'),
    policyId: hexOf(wire.policyId, 32, 'policy id'),
    expiresAtMs: timeMs(wire.expiresAtMs, 'expiry'),
    capacity: integer(wire.capacity, 0, MOST, 'capacity'),
    waiting: integer(wire.waiting, 0, MOST, 'waiting nodes'),
    providers: readPeers(wire.providers),
    shards: readShards(wire.shards),
  }),
  write: (announcement) => ({
    ...announcement,
    manifestId: bytesOf(announcement.manifestId),
    policyId: bytesOf(announcement.policyId),
    providers: writePeers(announcement.providers),
  }),
})

export const announcementOf = (
  { manifestId, manifest, envelope }: SealedManifest,
  { capacity, waiting }: Demand,
  providers: readonly PeerAddresses[],
): PolicyAnnouncement => ({
  manifestId,
  manifestSizeBytes: envelope.length,
  round: manifest.round,
  version: manifest.version,
  policyId: manifest.policyId,
  expiresAtMs: manifest.expiresAtMs,
  capacity,
  waiting,
  providers,
  shards: manifest.shards,
})

export const sealPolicyAnnouncement = (key: PrivateKey, runId: string, value: PolicyAnnouncement) =>
  sealEnvelope(key, 'policyAnnouncementBytes', {
    kind: 'policy-announcement',
    runId,
    payload: policyAnnouncement.encode(value),
  })

/** Opens an announcement. @throws SwarmRefusal; `wrong_signer` for every key except the coordinator's */
export async function openPolicyAnnouncement(data: Uint8Array, runId: string): Promise<PolicyAnnouncement> {
  const expected = { kind: 'policy-announcement', runId, signer: runId } as const
  const { payload } = await openEnvelope(data, 'policyAnnouncementBytes', expected)
  return policyAnnouncement.parse(payload)
}
