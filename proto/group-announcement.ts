import type { PrivateKey } from '@libp2p/interface'
import { atMost, bytesOf, finite, hexOf, integer, label } from './bounds.js'
import { type Codec, codec } from './codec.js'
import { type Sha256, sha256 } from './content-id.js'
import { openEnvelope, sealEnvelope, signedSize } from './envelope.js'
import { refusal } from './errors.js'
import { prove } from './gen/swarm.js'
import { ID_BYTES } from './lease.js'
import { LIMITS } from './limits.js'
import { bytes, number, packed } from './wire-shape.js'

/** A node's announcement of a group that it has generated and scored. Others fetch the body by its hash. */
export interface GroupAnnouncement {
  readonly leaseId: string
  readonly taskId: string
  readonly policyId: Sha256
  /** Total reward of each rollout, in the order of the lease. */
  readonly rewards: readonly number[]
  readonly bodySha256: Sha256
  readonly bodySizeBytes: number
  /** Hex of 16 bytes. An announcement with a known nonce is a replay. */
  readonly nonce: string
  /** Sampled tokens (mask 1) of all rollouts. */
  readonly tokensGenerated: number
}

export const groupAnnouncement: Codec<GroupAnnouncement> = codec<
  GroupAnnouncement,
  prove.GroupAnnouncement.$Properties
>({
  what: 'group announcement',
  limit: 'announcementSignedBytes',
  type: prove.GroupAnnouncement,
  shape: { 1: bytes(), 2: bytes(), 3: bytes(), 4: packed(8), 5: bytes(), 6: number(), 7: bytes(), 8: number() },
  read: (wire) => {
    const { minGroupSize, maxGroupSize, rewardMagnitude } = LIMITS
    integer(wire.rewards.length, minGroupSize.value, maxGroupSize.value, 'group size')
    return {
      leaseId: hexOf(wire.leaseId, ID_BYTES, 'lease id'),
      taskId: label(wire.taskId, 'nameBytes', 'task id'),
      policyId: hexOf(wire.policyId, 32, 'policy id'),
      rewards: wire.rewards.map((reward) => finite(reward, -rewardMagnitude.value, rewardMagnitude.value, 'reward')),
      bodySha256: hexOf(wire.bodySha256, 32, 'body hash'),
      bodySizeBytes: integer(wire.bodySizeBytes, 1, LIMITS.groupBodyBytes.value, 'body size'),
      nonce: hexOf(wire.nonce, ID_BYTES, 'nonce'),
      tokensGenerated: integer(wire.tokensGenerated, 1, LIMITS.groupBodyBytes.value, 'tokens generated'),
    }
  },
  write: (value) => ({
    ...value,
    leaseId: bytesOf(value.leaseId),
    policyId: bytesOf(value.policyId),
    rewards: [...value.rewards],
    bodySha256: bytesOf(value.bodySha256),
    nonce: bytesOf(value.nonce),
  }),
})

export interface OpenedGroupAnnouncement {
  readonly announcement: GroupAnnouncement
  /** Peer id of the node that generated the group. */
  readonly signer: string
  /** The body's bytes, already checked against hash and size, if they were attached. */
  readonly body: Uint8Array | null
}

/** Largest inline body. The rest of the envelope stays within `announcementSignedBytes`. */
export const INLINE_BODY_BYTES = LIMITS.announcementBytes.value - LIMITS.announcementSignedBytes.value

/**
 * Signs an announcement.
 * @param body  the encoded body, attached if it is small enough
 */
export async function sealGroupAnnouncement(
  key: PrivateKey,
  runId: string,
  announcement: GroupAnnouncement,
  body: Uint8Array | null,
): Promise<Uint8Array> {
  const payload = groupAnnouncement.encode(announcement)
  const inline = body && body.length <= INLINE_BODY_BYTES ? { attachment: body } : {}
  return sealEnvelope(key, 'announcementBytes', { kind: 'group-announcement', runId, payload, ...inline })
}

/** Opens an announcement. @throws SwarmRefusal for size, form, run and signature; `body_mismatch` if the inline body is another one */
export async function openGroupAnnouncement(data: Uint8Array, runId: string): Promise<OpenedGroupAnnouncement> {
  const opened = await openEnvelope(data, 'announcementBytes', { kind: 'group-announcement', runId })
  atMost('announcementSignedBytes', signedSize(data, opened), 'announcement without its body')
  const announcement = groupAnnouncement.parse(opened.payload)
  const body = opened.attachment.length > 0 ? opened.attachment : null
  if (body && (body.length !== announcement.bodySizeBytes || sha256(body) !== announcement.bodySha256)) {
    throw refusal('body_mismatch', 'the inline body is not the announced one')
  }
  return { announcement, signer: opened.signer, body }
}
