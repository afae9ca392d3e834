import { BATCH_TOKENS, SCORED_BATCH_TOKENS } from './constants.js'
import type { LlamaSequence } from './sequence.js'
import type { Draw, Token, TokenScore } from './types.js'

/** Tells what a policy's distributions say of tokens that are there already. */
export interface Scorer {
  /**
   * What they say of `tokens[from ..]`, each given all tokens before it; in prefills of `BATCH_TOKENS`, or of `PLACED_TOKENS`
   * where whole distributions are wanted. The next text that begins alike, as rollouts of a group do, is spared what was
   * computed of this one by the very same prefills: its numbers are those of an empty sequence, to the bit.
   * @param from   1 .. tokens.length: nothing precedes the first token
   * @param draws  behind each of `tokens[from ..]`; null: the log-probabilities alone are wanted, all else is NaN
   */
  score(
    tokens: readonly Token[],
    from: number,
    draws: readonly (Draw | null)[] | null,
    signal: AbortSignal,
  ): Promise<TokenScore[]>
  /** Something else has used the sequence. */
  forget(): void
}

/** @param sequence  its content is dropped */
export function createScorer(sequence: Pick<LlamaSequence, 'clear' | 'keepPrefix' | 'predict'>): Scorer {
  /** The prefills that the sequence holds. */
  let held: readonly Prefill[] = []

  /** Keeps of the sequence what a text begins with. @returns  so many of its prefills */
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
      // What is asked of a distribution is asked while it is there.
      const silent = prefills.filter(({ at, tokens: own }) => at + own.length < from)
      const found: TokenScore[] = []
      for (const prefill of prefills.slice(await keep(silent))) {
        signal.throwIfAborted()
        const { at, tokens: own } = prefill
        const targets = own.map((_, i) => (at + i + 1 < from ? null : tokens[at + i + 1]!))
        const behind = draws && own.map((_, i) => draws[at + i + 1 - from] ?? null)
        for (const audit of await sequence.predict(own, targets, behind)) if (audit !== null) found.push(audit)
        held = [...held, prefill]
      }
      return found
    },
    forget() {
      held = []
    },
  }
}

/** Tokens that are fed together, and where in the text they begin. */
interface Prefill {
  readonly at: number
  readonly tokens: readonly Token[]
}

/** @param placed  tokens of those in which something is asked */
function prefillsOf(tokens: readonly Token[], from: number, placed: number): Prefill[] {
  const prefills: Prefill[] = []
  // The last token is predicted, never fed.
  for (let at = 0; at < tokens.length - 1; ) {
    const size = at + BATCH_TOKENS < from ? BATCH_TOKENS : placed
    const own = tokens.slice(at, Math.min(at + size, tokens.length - 1))
    prefills.push({ at, tokens: own })
    at += own.length
  }
  return prefills
}

const isSame = ({ tokens }: Prefill, other: Prefill | undefined): boolean =>
  tokens.length === other?.tokens.length && tokens.every((token, i) => token === other.tokens[i])
