import { randomBytes } from 'node:crypto'
import type { PrivateKey } from '@libp2p/interface'
import { groupBody, sealGroupAnnouncement } from '../../proto/index.js'
import { describePublishedGroup } from '../../rollout/verification/index.js'
import type { LastGroup } from '../store/records.js'

/**
 * Creates a group file that others can verify. The node signs a new announcement, because it does not keep the first one.
 * @param key  key of the node
 * @throws SwarmRefusal for a damaged body
 */
export async function publishableGroup({ run, group }: LastGroup, key: PrivateKey): Promise<object> {
  const { body, bodySha256, origin } = group
  const { lease, reward } = origin
  const { taskId, policyId, rollouts } = groupBody.parse(body)
  const announcement = {
    ...{ leaseId: lease.leaseId, taskId, policyId },
    rewards: rollouts.map((rollout) => rollout.reward.total),
    ...{ bodySha256, bodySizeBytes: body.length },
    nonce: randomBytes(16).toString('hex'),
    tokensGenerated: rollouts.reduce((sum, { logprobs }) => sum + logprobs.length, 0),
  }
  const sealed = await sealGroupAnnouncement(key, run, announcement, null)
  return describePublishedGroup({ task: JSON.parse(lease.task), reward, run, announcement: sealed, body })
}
