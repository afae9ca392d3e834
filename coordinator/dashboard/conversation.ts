import type { RecordedCall, RecordedRollout } from '../../proto/index.js'
import type { Token, Tokenizer } from '../../rollout/engine/index.js'

/** A stretch of sampled text, and how likely it was. */
export interface SampledPiece {
  readonly text: string
  /** Of its tokens, nats, as the node claims: one, or as many as it takes to write a character. */
  readonly logprob: number
}

/** A part of a rollout by whoever wrote it. */
export type Passage =
  | { readonly kind: 'prompt' | 'environment'; readonly text: string; readonly tokens: number }
  | { readonly kind: 'assistant'; readonly pieces: readonly SampledPiece[]; readonly tokens: number }

/** A rollout as people read it. */
export interface Conversation {
  readonly passages: readonly Passage[]
  readonly calls: readonly RecordedCall[]
  readonly reward: RecordedRollout['reward']
  readonly endReason: string
}

/** A character takes at most so many tokens: UTF-8 has four bytes, and a vocabulary has one for each byte at worst. */
const TOKENS_PER_CHARACTER = 4

/** @param rollout  of a body that was judged */
export function conversationOf(rollout: RecordedRollout, tokenizer: Pick<Tokenizer, 'detokenize'>): Conversation {
  const passages: Passage[] = []
  let [at, sampled] = [0, 0]
  for (const [i, length] of rollout.maskRuns.entries()) {
    const tokens = rollout.tokens.slice(at, at + length)
    at += length
    if (i % 2 === 0) {
      passages.push({ kind: i === 0 ? 'prompt' : 'environment', text: tokenizer.detokenize(tokens), tokens: length })
      continue
    }
    const logprobs = rollout.logprobs.slice(sampled, sampled + length)
    sampled += length
    passages.push({ kind: 'assistant', pieces: piecesOf(tokens, logprobs, tokenizer), tokens: length })
  }
  return { passages, calls: rollout.calls, reward: rollout.reward, endReason: rollout.endReason }
}

function piecesOf(
  tokens: readonly Token[],
  logprobs: readonly number[],
  tokenizer: Pick<Tokenizer, 'detokenize'>,
): SampledPiece[] {
  const pieces: SampledPiece[] = []
  for (let from = 0; from < tokens.length; ) {
    let to = from + 1
    let text = tokenizer.detokenize(tokens.slice(from, to))
    // Half a character: the rest of it is in the next token.
    while (text.endsWith('\ufffd') && to < tokens.length && to - from < TOKENS_PER_CHARACTER) {
      to += 1
      text = tokenizer.detokenize(tokens.slice(from, to))
    }
    pieces.push({ text, logprob: logprobs.slice(from, to).reduce((sum, logprob) => sum + logprob, 0) })
    from = to
  }
  return pieces
}
