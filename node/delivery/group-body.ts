import { randomBytes } from 'node:crypto'
import {
  type GroupAnnouncement,
  type GroupBody,
  type Lease,
  type RecordedRollout,
  sha256,
  toMaskRuns,
} from '../../proto/index.js'
import type { Engine } from '../../rollout/engine/index.js'
import type { Rollout } from '../../rollout/episode/index.js'
import { recordCall } from '../../rollout/verification/index.js'

/** Converts a finished group to its body on the wire. */
export function groupBodyOf(
  lease: Lease,
  rollouts: readonly Rollout[],
  build: Engine['build'],
  generationMs: number,
): GroupBody {
  const { leaseId, taskId, policyId } = lease
  const engine = { nodeLlamaCpp: build.nodeLlamaCpp, llamaCpp: 'bundled', backend: build.backend }
  return { leaseId, taskId, policyId, rollouts: rollouts.map(record), engine, generationMs }
}

/**
 * Creates the announcement of a finished group.
 * @param body  the encoded body
 */
export function groupAnnouncementOf(lease: Lease, rollouts: readonly Rollout[], body: Uint8Array): GroupAnnouncement {
  const { leaseId, taskId, policyId } = lease
  return {
    leaseId,
    taskId,
    policyId,
    rewards: rollouts.map(({ reward }) => reward.total),
    bodySha256: sha256(body),
    bodySizeBytes: body.length,
    nonce: randomBytes(16).toString('hex'),
    tokensGenerated: rollouts.reduce((sum, { logprobs }) => sum + logprobs.length, 0),
  }
}

function record(rollout: Rollout): RecordedRollout {
  const { tokens, mask, logprobs, calls, responses, reward, stateHash, end } = rollout
  return {
    tokens,
    maskRuns: toMaskRuns([...mask] as (0 | 1)[]),
    // A float32 softmax may round slightly above zero.
    logprobs: logprobs.map((logprob) => Math.min(0, logprob)),
    calls: calls.map((call, i) => recordCall(call, responses[i]!)),
    reward: {
      total: reward.total,
      components: Object.entries(reward.components ?? {}).map(([name, value]) => ({ name, value })),
    },
    stateHash,
    endReason: end,
  }
}
