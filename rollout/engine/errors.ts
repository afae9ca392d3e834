import { CodedError } from '../../common/errors/index.js'
/**
 * Reasons why the engine refused a call or failed.
 * - `model_refused`: the base GGUF cannot be opened, or not with the requested context
 * - `adapter_refused`: the adapter is missing, does not have its SHA-256, or does not fit the base
 * - `too_many_slots`: more slots, or rollouts at once, than llama.cpp supports
 * - `context_full`: prompt, feeds and the turn's token limit do not fit into the slot's context; nothing was dropped
 * - `bad_request`: the caller broke the interface (unknown token id, no seed for a turn, two turns of a slot at once)
 * - `engine_crashed`: the engine's process ended or stopped answering; the next call starts a new process
 * - `engine_failed`: llama.cpp reported an error while computing
 * - `closed`: the engine, or the slot, was closed before the call
 */
export type EngineErrorCode =
  | 'model_refused'
  | 'adapter_refused'
  | 'too_many_slots'
  | 'context_full'
  | 'bad_request'
  | 'engine_crashed'
  | 'engine_failed'
  | 'closed'

export class EngineError extends CodedError<EngineErrorCode> {}

/** Converts an error of llama.cpp or the file system to an EngineError. */
export function toEngineError(cause: unknown): EngineError {
  if (cause instanceof EngineError) return cause
  return new EngineError('engine_failed', cause instanceof Error ? cause.message : String(cause), { cause })
}
