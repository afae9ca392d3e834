import type { LlamaContextSequence } from 'node-llama-cpp'
import { EngineError } from '../../rollout/engine/errors.js'

/**
 * Puts the cache of one sequence, or that of its first tokens, into another one of its context, in place of what that held, in memory. The library has this
 * for its own use only; what is public goes through a file, which costs as much for each further sequence.
 * @throws EngineError `engine_failed`
 */
export async function copySequence(
  from: LlamaContextSequence,
  to: LlamaContextSequence,
  length = from.nextTokenIndex,
): Promise<void> {
  if (length === 0) return await to.clearHistory()
  const { _copyStateFromOtherSequence: copy } = to as unknown as InternalSequence
  if (typeof copy !== 'function')
    throw new EngineError('engine_failed', 'this is not the version of node-llama-cpp that prove-swarm was made for')
  if (!(await copy.call(to, from, length)))
    throw new EngineError('engine_failed', `a cache of ${length} tokens could not be copied`)
}

interface InternalSequence {
  _copyStateFromOtherSequence?(from: LlamaContextSequence, length: number): Promise<boolean>
}
