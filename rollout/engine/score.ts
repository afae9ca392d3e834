import { BATCH_TOKENS, SCORED_BATCH_TOKENS } from './constants.js'
import type { LlamaSequence } from './sequence.js'
import type { Draw, Token, TokenScore } from './types.js'

/** Scores given tokens by the policy's distributions. */
export interface Scorer {
  /**
   * Scores `tokens[from ..]`, each given all tokens before it. Prefills have `BATCH_TOKENS`, or `SCORED_BATCH_TOKENS` where whole
   * distributions are needed. The next text with the same beginning, such as another rollout of a group, reuses equal prefills of
   * this one. Its scores equal those of an empty sequence, to the bit.
   * @param from   1 .. tokens.length: nothing precedes the first token
   * @param draws  the draw of each of `tokens[from ..]`; null: only the log-probabilities are computed, the other fields are NaN
   */
  score(
    tokens: readonly Token[],
    from: number,
    draws: readonly (Draw | null)[] | null,
    signal: AbortSignal,
  ): Promise<TokenScore[]>
  /** Drops the reusable prefills: another user has changed the sequence. */
  forget(): void
}

/** @param sequence  cleared on first use */
export function createScorer(sequence: Pick<LlamaSequence, 'clear' | 'keepPrefix' | 'predict'>): Scorer {
  /** The prefills in the sequence's cache. */
  let held: readonly Prefill[] = []

  /** Keeps the cached prefills with which a text begins. @returns  their number */
  const keep = async (wanted: readonly Prefill[]): Promise<number> => {
    const differs = wanted.findIndex((prefill, i) => !isSame(prefill, held[i]))
    const same = held.slice(0, differs === -1 ? wanted.length : differs)
    held = []
    const tokens = same.flatMap((prefill) => prefill.tokens)
    if (tokens.length > 0 && (await sequence.keepPrefix(tokens)) === tokens.length) {
      held = same
      return same.length
    }
    await sequence.clear()
    return 0
  }

  return {
    async score(tokens, from, draws, signal) {
      const prefills = prefillsOf(tokens, from, draws === null ? BATCH_TOKENS : SCORED_BATCH_TOKENS)
      // Only prefills before `from` are reusable: scores are read while their distributions exist.
      const unscored = prefills.filter(({ at, tokens: own }) => at + own.length < from)
      const found: TokenScore[] = []
      for (const prefill of prefills.slice(await keep(unscored))) {
        signal.throwIfAborted()
        const { at, tokens: own } = prefill
        const targets = own.map((_, i) => (at + i + 1 < from ? null : tokens[at + i + 1]!))
        const behind = draws && own.map((_, i) => draws[at + i + 1 - from] ?? null)
        for (const score of await sequence.predict(own, targets, behind)) if (score !== null) found.push(score)
        held = [...held, prefill]
      }
      return found
    },
    forget() {
      held = []
    },
  }
}

/** Tokens that are fed together, and their place in the text. */
interface Prefill {
  readonly at: number
  readonly tokens: readonly Token[]
}

/** @param scored  the size of prefills in which tokens are scored */
function prefillsOf(tokens: readonly Token[], from: number, scored: number): Prefill[] {
  const prefills: Prefill[] = []
  // The last token is predicted, never fed.
  for (let at = 0; at < tokens.length - 1; ) {
    const size = at + BATCH_TOKENS < from ? BATCH_TOKENS : scored
    const own = tokens.slice(at, Math.min(at + size, tokens.length - 1))
    prefills.push({ at, tokens: own })
    at += own.length
  }
  return prefills
}

const isSame = ({ tokens }: Prefill, other: Prefill | undefined): boolean =>
  tokens.length === other?.tokens.length && tokens.every((token, i) => token === other.tokens[i])
