import { CodedError } from '../../common/errors/index.js'
/**
 * Why the engine refused or failed.
 * - `model_refused`: the base GGUF cannot be opened, or not with the wanted context
 * - `adapter_refused`: the adapter is missing, is not the file its hash names, or does not fit the base
 * - `too_many_slots`: more lanes, or rollouts at once, than llama.cpp can hold
 * - `context_full`: prompt, feeds and the turn's token limit do not fit into the lane's context; nothing was dropped
 * - `bad_request`: the caller broke the interface (unknown token id, no seed for a turn, two turns of a lane at once)
 * - `engine_crashed`: the engine's process ended or stopped answering; the next call starts a new one
 * - `engine_failed`: llama.cpp reported an error while computing
 * - `closed`: the engine, or the lane, was closed before the call
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

/** What llama.cpp or the file system threw, as an error of the engine. */
export function toEngineError(cause: unknown): EngineError {
  if (cause instanceof EngineError) return cause
  return new EngineError('engine_failed', cause instanceof Error ? cause.message : String(cause), { cause })
}
