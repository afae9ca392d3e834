import type { RecordedCall, RecordedRollout } from '../../proto/index.js'
import type { Token, Tokenizer } from '../../rollout/engine/index.js'

/** A piece of sampled text with its log-probability. */
export interface SampledPiece {
  readonly text: string
  /** Sum over its tokens, in nats, as the node reports. A piece has one token, or as many as its character needs. */
  readonly logprob: number
}

/** A part of a rollout by one author. */
export type Passage =
  | { readonly kind: 'prompt' | 'environment'; readonly text: string; readonly tokens: number }
  | { readonly kind: 'assistant'; readonly pieces: readonly SampledPiece[]; readonly tokens: number }

/** A rollout in readable form. */
export interface Conversation {
  readonly passages: readonly Passage[]
  readonly calls: readonly RecordedCall[]
  readonly reward: RecordedRollout['reward']
  readonly endReason: string
}

/** Most tokens of one character: UTF-8 has at most four bytes, and a vocabulary has a token for each byte. */
const TOKENS_PER_CHARACTER = 4

/** Converts a rollout into text. @param rollout  of a verified body */
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
    // An incomplete character: its other bytes are in the next token.
    while (text.endsWith('\ufffd') && to < tokens.length && to - from < TOKENS_PER_CHARACTER) {
      to += 1
      text = tokenizer.detokenize(tokens.slice(from, to))
    }
    pieces.push({ text, logprob: logprobs.slice(from, to).reduce((sum, logprob) => sum + logprob, 0) })
    from = to
  }
  return pieces
}
