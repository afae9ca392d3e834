import { BATCH_TOKENS } from './constants.js'
import type { LlamaSequence } from './llama.js'
import type { Token } from './types.js'

/**
 * Puts each prompt but for its last token into its sequence. Lanes with the same prompt share one computation: llama.cpp
 * shares no prefix by itself, so one sequence is computed and its cache copied into the others.
 *
 * @param sequences  as many as prompts, in order; what they held is dropped
 * @param share      false: compute every lane's prompt separately
 */
export async function prefillLanes(
  sequences: readonly LlamaSequence[],
  prompts: readonly (readonly Token[])[],
  share: boolean,
  signal: AbortSignal,
): Promise<void> {
  for (const sequence of sequences) await sequence.clear()
  const sharers = new Map<string, { readonly tokens: readonly Token[]; readonly lanes: LlamaSequence[] }>()
  prompts.forEach((prompt, index) => {
    const key = share ? prompt.join() : String(index)
    const entry = sharers.get(key) ?? { tokens: prompt.slice(0, -1), lanes: [] }
    entry.lanes.push(sequences[index]!)
    sharers.set(key, entry)
  })
  const distinct = [...sharers.values()].filter(({ tokens }) => tokens.length > 0)
  const longest = Math.max(0, ...distinct.map(({ tokens }) => tokens.length))
  for (let at = 0; at < longest; at += BATCH_TOKENS) {
    signal.throwIfAborted()
    await Promise.all(
      distinct
        .map(({ tokens, lanes }) => ({ chunk: tokens.slice(at, at + BATCH_TOKENS), first: lanes[0]! }))
        .filter(({ chunk }) => chunk.length > 0)
        .map(({ chunk, first }) => first.prefill(chunk)),
    )
  }
  signal.throwIfAborted()
  for (const { lanes } of distinct) for (const sequence of lanes.slice(1)) await sequence.copyFrom(lanes[0]!)
}

/** Puts a prompt but for its last token into a sequence whose lane is over; what both begin with stays as it is. */
export async function refillLane(sequence: LlamaSequence, prompt: readonly Token[]): Promise<void> {
  const tokens = prompt.slice(0, -1)
  const kept = await sequence.keepPrefix(tokens)
  for (let at = kept; at < tokens.length; at += BATCH_TOKENS)
    await sequence.prefill(tokens.slice(at, at + BATCH_TOKENS))
}
