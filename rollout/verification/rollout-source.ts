import { expandMask, type RecordedRollout, type RefusalCode, refusal } from '../../proto/index.js'
import {
  createRecordedSource,
  EpisodeError,
  promptOf,
  type RecordedSource,
  RecordingMismatch,
} from '../episode/index.js'
import type { DeliveredGroup } from './delivered-group.js'

/**
 * Creates a token source that plays back a recorded rollout after the prompt, which is rebuilt from the task.
 * @throws RecordingMismatch `prompt_mismatch`; EpisodeError if the task is unusable
 */
export function sourceOf(
  { tokens, maskRuns, logprobs }: RecordedRollout,
  { expected: { task, limits }, replayContext }: DeliveredGroup,
): RecordedSource {
  const recording = { tokens, mask: expandMask(maskRuns), logprobs }
  return createRecordedSource(recording, promptOf(task, replayContext, limits), replayContext.tokenizer)
}

const REFUSAL_OF = {
  prompt_mismatch: 'prompt_mismatch',
  environment_mismatch: 'environment_mismatch',
  turn_boundary: 'termination',
  length_mismatch: 'mask_mismatch',
} as const satisfies Record<RecordingMismatch['code'], RefusalCode>

/** Converts an error of playing back rollout `i` to a refusal for the node. Other errors are returned unchanged. */
export function playbackRefusal(cause: unknown, i: number): unknown {
  if (cause instanceof RecordingMismatch)
    return refusal(REFUSAL_OF[cause.code], `rollout ${i}: ${cause.message}`.slice(0, 200), { cause })
  // The coordinator's task is at fault, not the node.
  if (cause instanceof EpisodeError) return refusal('internal', cause.code, { cause })
  return cause
}
