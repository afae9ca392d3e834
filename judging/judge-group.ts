import {
  createRecordedSource,
  EpisodeError,
  type EpisodeLimits,
  promptOf,
  RecordingMismatch,
  type Rollout,
  runEpisode,
  type Stage,
  type Task,
} from '../episode/index.js'
import { expandMask, type GroupBody, type RecordedCall, type RecordedRollout, refusal } from '../proto/index.js'
import { recordCall } from './recorded-call.js'

/** What a group must be, as the lease that asked for it says. */
export interface ExpectedGroup {
  readonly leaseId: string
  readonly policyId: string
  readonly task: Task
  readonly groupSize: number
  readonly limits: EpisodeLimits
}

/**
 * Stages 1 to 3 of the judging table (docs/protocol.md): bounds, prompt, and a full replay of every rollout in fresh
 * sessions. Whatever can be recomputed is recomputed and must be equal, with no tolerance.
 * @returns the rollouts as replayed: the coordinator trains on these, never on what was claimed
 * @throws SwarmRefusal with the reason for the volunteer
 */
export async function judgeGroup(
  body: GroupBody,
  expected: ExpectedGroup,
  stage: Stage,
  signal: AbortSignal,
): Promise<Rollout[]> {
  if (body.leaseId !== expected.leaseId || body.taskId !== expected.task.id || body.policyId !== expected.policyId) {
    throw refusal('body_mismatch', 'the body names another lease, task or policy')
  }
  if (body.rollouts.length !== expected.groupSize) {
    throw refusal('wrong_group_size', `${body.rollouts.length} rollouts instead of ${expected.groupSize}`)
  }
  const replayed: Rollout[] = []
  for (const [i, recorded] of body.rollouts.entries()) {
    checkBounds(recorded, i, expected.limits, stage.tokenizer.vocabularySize)
    replayed.push(await replay(recorded, i, expected, stage, signal))
  }
  return replayed
}

function checkBounds(recorded: RecordedRollout, i: number, limits: EpisodeLimits, vocabularySize: number): void {
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

async function replay(
  recorded: RecordedRollout,
  i: number,
  { task, limits }: ExpectedGroup,
  stage: Stage,
  signal: AbortSignal,
): Promise<Rollout> {
  const recording = { ...recorded, mask: expandMask(recorded.maskRuns) }
  const rollout = await replayRecording(recording, i, task, limits, stage, signal)
  if (!sameCalls(recorded.calls, rollout))
    throw refusal('replay_mismatch', `rollout ${i}: the call log differs from the replay`)
  if (recorded.stateHash !== rollout.stateHash) throw refusal('state_mismatch', `rollout ${i}`)
  if (!sameReward(recorded, rollout)) {
    throw refusal(
      'reward_mismatch',
      `rollout ${i}: claimed ${recorded.reward.total}, recomputed ${rollout.reward.total}`,
    )
  }
  if (recorded.endReason !== rollout.end)
    throw refusal('termination', `rollout ${i}: ${recorded.endReason}, not ${rollout.end}`)
  return rollout
}

async function replayRecording(
  recording: Parameters<typeof createRecordedSource>[0],
  i: number,
  task: Task,
  limits: EpisodeLimits,
  stage: Stage,
  signal: AbortSignal,
): Promise<Rollout> {
  try {
    const source = createRecordedSource(recording, promptOf(task, stage, limits), stage.tokenizer)
    const rollout = await runEpisode(task, source, stage, limits, signal)
    source.assertConsumed()
    return rollout
  } catch (cause) {
    if (cause instanceof RecordingMismatch)
      throw refusal(REFUSAL_OF[cause.code], `rollout ${i}: ${cause.message}`.slice(0, 200), { cause })
    // The task is our own: whatever is wrong with it is not the node's fault.
    if (cause instanceof EpisodeError) throw refusal('internal', cause.code, { cause })
    throw cause
  }
}

const REFUSAL_OF = {
  prompt_mismatch: 'prompt_mismatch',
  environment_mismatch: 'environment_mismatch',
  turn_boundary: 'termination',
  length_mismatch: 'mask_mismatch',
} as const

function sameCalls(claimed: readonly RecordedCall[], { calls, responses }: Rollout): boolean {
  if (claimed.length !== calls.length) return false
  return claimed.every((claim, k) => sameCall(claim, recordCall(calls[k]!, responses[k]!)))
}

const sameCall = (claim: RecordedCall, call: RecordedCall): boolean =>
  claim.name === call.name &&
  claim.argumentsJson === call.argumentsJson &&
  claim.ok === call.ok &&
  claim.malformed === call.malformed &&
  claim.raw === call.raw &&
  claim.resultJson === call.resultJson

function sameReward({ reward: claimed }: RecordedRollout, { reward }: Rollout): boolean {
  if (claimed.total !== reward.total) return false
  const components = Object.entries(reward.components ?? {})
  return (
    claimed.components.length === components.length &&
    components.every(
      ([name, value], k) => claimed.components[k]!.name === name && claimed.components[k]!.value === value,
    )
  )
}
