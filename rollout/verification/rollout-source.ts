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
 * Plays a recorded rollout back, behind the prompt as it is rebuilt from the task.
 * @throws RecordingMismatch `prompt_mismatch`; EpisodeError when the task is of no use
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

/** What the node hears when playing rollout `i` back fails. Anything unforeseen stays what it is. */
export function playbackRefusal(cause: unknown, i: number): unknown {
  if (cause instanceof RecordingMismatch)
    return refusal(REFUSAL_OF[cause.code], `rollout ${i}: ${cause.message}`.slice(0, 200), { cause })
  // The task is our own: whatever is wrong with it is not the node's fault.
  if (cause instanceof EpisodeError) return refusal('internal', cause.code, { cause })
  return cause
}
