import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { BATCH_TOKENS } from './constants.js'
import type { LlamaSequence } from './llama.js'
import type { Token } from './types.js'

/**
 * Puts each prompt but for its last token into its sequence. Lanes with the same prompt share one computation: llama.cpp
 * shares no prefix by itself, so one sequence is computed and its saved state loaded into the others.
 *
 * @param sequences  as many as prompts, in order; what they held is dropped
 * @param share      false: compute every lane's prompt separately
 * @param scratch    private directory for the saved states (they hold token ids); nothing is left there
 */
export async function prefillLanes(
  sequences: readonly LlamaSequence[],
  prompts: readonly (readonly Token[])[],
  share: boolean,
  scratch: string,
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
  const file = join(scratch, 'prefill.state')
  try {
    for (const { lanes } of distinct) {
      const [first, ...rest] = lanes
      if (rest.length === 0) continue
      signal.throwIfAborted()
      await first!.save(file)
      for (const sequence of rest) await sequence.load(file)
    }
  } finally {
    await rm(file, { force: true })
  }
}

/**
 * Puts the cache of one sequence into another one, in place of what that held.
 * @param scratch  private directory; nothing is left there
 */
export async function moveCache(from: LlamaSequence, to: LlamaSequence, scratch: string): Promise<void> {
  const file = join(scratch, 'moved.state')
  try {
    await from.save(file)
    await to.load(file)
  } finally {
    await rm(file, { force: true })
  }
}
