import { BATCH_TOKENS, PLACED_TOKENS } from './constants.js'
import type { LlamaSequence } from './llama.js'
import type { Draw, Token, TokenEvidence } from './types.js'

/**
 * What the policy's distributions say of `tokens[from ..]`, each given all tokens before it; in prefills of `BATCH_TOKENS`,
 * or of `PLACED_TOKENS` where whole distributions are wanted.
 * @param sequence  its content is dropped
 * @param from      1 .. tokens.length: nothing precedes the first token
 * @param draws     behind each of `tokens[from ..]`; null: the log-probabilities alone are wanted, all else is NaN
 */
export async function scoreTokens(
  sequence: Pick<LlamaSequence, 'clear' | 'predict'>,
  tokens: readonly Token[],
  from: number,
  draws: readonly (Draw | null)[] | null,
  signal: AbortSignal,
): Promise<TokenEvidence[]> {
  await sequence.clear()
  const found: TokenEvidence[] = []
  // The last token is predicted, never fed.
  for (let at = 0; at < tokens.length - 1; ) {
    signal.throwIfAborted()
    const size = draws === null || at + BATCH_TOKENS < from ? BATCH_TOKENS : PLACED_TOKENS
    const chunk = tokens.slice(at, Math.min(at + size, tokens.length - 1))
    const targets = chunk.map((_, i) => (at + i + 1 < from ? null : tokens[at + i + 1]!))
    const own = draws && chunk.map((_, i) => draws[at + i + 1 - from] ?? null)
    for (const evidence of await sequence.predict(chunk, targets, own)) if (evidence !== null) found.push(evidence)
    at += chunk.length
  }
  return found
}
