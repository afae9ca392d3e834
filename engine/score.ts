import { BATCH_TOKENS } from './constants.js'
import type { LlamaSequence } from './llama.js'
import type { Token, TokenInterval } from './types.js'

/**
 * How `tokens[from ..]` stand in the policy's distribution, each given all tokens before it; in prefills of `BATCH_TOKENS`.
 * @param sequence  its content is dropped
 * @param from      1 .. tokens.length: nothing precedes the first token
 * @param order     whether `low` is wanted, else it is NaN
 */
export async function scoreTokens(
  sequence: Pick<LlamaSequence, 'clear' | 'predict'>,
  tokens: readonly Token[],
  from: number,
  order: boolean,
  signal: AbortSignal,
): Promise<TokenInterval[]> {
  await sequence.clear()
  const places: TokenInterval[] = []
  // The last token is predicted, never fed.
  for (let at = 0; at < tokens.length - 1; at += BATCH_TOKENS) {
    signal.throwIfAborted()
    const chunk = tokens.slice(at, Math.min(at + BATCH_TOKENS, tokens.length - 1))
    const targets = chunk.map((_, i) => (at + i + 1 < from ? null : tokens[at + i + 1]!))
    for (const place of await sequence.predict(chunk, targets, order)) if (place !== null) places.push(place)
  }
  return places
}
