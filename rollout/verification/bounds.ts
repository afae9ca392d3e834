import { groupBody, type RecordedRollout, refusal } from '../../proto/index.js'
import type { EpisodeLimits } from '../episode/index.js'
import type { DeliveredGroup } from './delivered-group.js'

/** Check 1: parses the body and compares it with its announcement and the limits. No episode is replayed yet. */
export async function checkBounds(group: DeliveredGroup): Promise<void> {
  const { content, expected, announced, replayContext } = group
  const body = content instanceof Uint8Array ? groupBody.parse(content) : content
  if (body.leaseId !== expected.leaseId || body.taskId !== expected.task.id || body.policyId !== expected.policyId) {
    throw refusal('body_mismatch', 'lease, task or policy of the body differ from the lease')
  }
  if (body.rollouts.length !== expected.groupSize) {
    throw refusal('wrong_group_size', `${body.rollouts.length} rollouts instead of ${expected.groupSize}`)
  }
  for (const [i, recorded] of body.rollouts.entries()) {
    checkRollout(recorded, i, expected.limits, replayContext.tokenizer.vocabularySize)
  }
  const sampled = body.rollouts.reduce((sum, { logprobs }) => sum + logprobs.length, 0)
  if (announced && announced.tokensGenerated !== sampled)
    throw refusal(
      'body_mismatch',
      `the announcement states ${announced.tokensGenerated} sampled tokens, the body has ${sampled}`,
    )
  group.body = body
}

function checkRollout(recorded: RecordedRollout, i: number, limits: EpisodeLimits, vocabularySize: number): void {
  if (recorded.tokens.length > limits.maxRolloutTokens) {
    throw refusal(
      'out_of_bounds',
      `rollout ${i} has ${recorded.tokens.length} tokens, at most ${limits.maxRolloutTokens} are allowed`,
    )
  }
  const foreign = recorded.tokens.find((token) => token >= vocabularySize)
  if (foreign !== undefined)
    throw refusal(
      'out_of_bounds',
      `rollout ${i}: token ${foreign} is not in the vocabulary of ${vocabularySize} tokens`,
    )
  const wrong = recorded.logprobs.find((logprob) => !Number.isFinite(logprob) || logprob > 0)
  if (wrong !== undefined) throw refusal('out_of_bounds', `rollout ${i} has the log-probability ${wrong}`)
}
