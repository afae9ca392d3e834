import { groupAnnouncementOf, groupBodyOf } from '../../node/delivery/group-body.js'
import {
  type GroupAnnouncement,
  type GroupBody,
  groupBody,
  type Lease,
  sealGroupAnnouncement,
} from '../../proto/index.js'
import type { Rollout, Task } from '../../rollout/episode/index.js'
import type { Participant } from './participant.js'
import type { Policy } from './policies.js'

/** A lease in the hands of a participant. */
export interface Work {
  readonly node: Participant
  readonly lease: Lease
  readonly task: Task
  readonly seed: Uint8Array
  /** The policy that the lease is for. */
  readonly policy: Policy
}

/** What is changed of a group before it is signed. */
export interface Forgery {
  readonly body?: (body: GroupBody) => GroupBody
  /** For what the encoder would refuse. */
  readonly bytes?: (encoded: Uint8Array) => Uint8Array
  readonly announce?: (announcement: GroupAnnouncement) => GroupAnnouncement
  /** Whether the body rides along where it fits; otherwise the coordinator has to pull it. */
  readonly inline?: boolean
}

/** A group as it is handed over. */
export interface PackedGroup {
  readonly leaseId: string
  readonly sealed: Uint8Array
  readonly body: Uint8Array
  readonly bodySha256: string
}

const BUILD = { nodeLlamaCpp: '3.22.1', backend: 'cpu' }

/** Scores, encodes and signs a group as a node does, and keeps its body for the coordinator's pull. */
export async function packGroup(
  { node, lease }: Pick<Work, 'node' | 'lease'>,
  rollouts: readonly Rollout[],
  forgery: Forgery = {},
): Promise<PackedGroup> {
  const { body: forgeBody = (body) => body, bytes = (encoded) => encoded, inline = true } = forgery
  const { announce = (announcement) => announcement } = forgery
  const body = bytes(groupBody.encode(forgeBody(groupBodyOf(lease, rollouts, BUILD, 1000))))
  const announcement = announce(groupAnnouncementOf(lease, rollouts, body))
  const sealed = await sealGroupAnnouncement(node.key, node.host.runId, announcement, inline ? body : null)
  node.bodies.set(announcement.bodySha256, body)
  return { leaseId: lease.leaseId, sealed, body, bodySha256: announcement.bodySha256 }
}

export const sampledTokens = (rollouts: readonly Rollout[]): number =>
  rollouts.reduce((sum, { logprobs }) => sum + logprobs.length, 0)

/** Whether all rewards are equal: such a group teaches nothing, and its body is not looked at. */
export function isZeroVariance(rollouts: readonly Rollout[]): boolean {
  const rewards = rollouts.map(({ reward }) => reward.total)
  return Math.max(...rewards) - Math.min(...rewards) < 1e-8
}
