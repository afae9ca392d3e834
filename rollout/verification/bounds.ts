import { groupBody, type RecordedRollout, refusal } from '../../proto/index.js'
import type { EpisodeLimits } from '../episode/index.js'
import type { DeliveredGroup } from './delivered-group.js'

/** Stage 1: reads the body and holds it against its announcement and the limits. Nothing is played yet. */
export async function checkBounds(group: DeliveredGroup): Promise<void> {
  const { content, expected, announced, replayContext } = group
  const body = content instanceof Uint8Array ? groupBody.parse(content) : content
  if (body.leaseId !== expected.leaseId || body.taskId !== expected.task.id || body.policyId !== expected.policyId) {
    throw refusal('body_mismatch', 'the body names another lease, task or policy')
  }
  if (body.rollouts.length !== expected.groupSize) {
    throw refusal('wrong_group_size', `${body.rollouts.length} rollouts instead of ${expected.groupSize}`)
  }
  for (const [i, recorded] of body.rollouts.entries()) {
    checkRollout(recorded, i, expected.limits, replayContext.tokenizer.vocabularySize)
  }
  const sampled = body.rollouts.reduce((sum, { logprobs }) => sum + logprobs.length, 0)
  if (announced && announced.tokensGenerated !== sampled)
    throw refusal('body_mismatch', `announced with ${announced.tokensGenerated} tokens, it has ${sampled}`)
  group.body = body
}

function checkRollout(recorded: RecordedRollout, i: number, limits: EpisodeLimits, vocabularySize: number): void {
  if (recorded.tokens.length > limits.maxRolloutTokens) {
    throw refusal(
      'out_of_bounds',
      `rollout ${i}: ${recorded.tokens.length} tokens, at most ${limits.maxRolloutTokens} are allowed`,
    )
  }
  const foreign = recorded.tokens.find((token) => token >= vocabularySize)
  if (foreign !== undefined) throw refusal('out_of_bounds', `rollout ${i}: token ${foreign} is not in the vocabulary`)
  const wrong = recorded.logprobs.find((logprob) => !Number.isFinite(logprob) || logprob > 0)
  if (wrong !== undefined) throw refusal('out_of_bounds', `rollout ${i}: log-probability ${wrong}`)
}
