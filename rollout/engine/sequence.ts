import type { Decoder } from './decoder.js'
import { readDistribution, type Samplers, weighed } from './distribution.js'
import { EngineError } from './errors.js'
import type { DrawTable } from './gumbel-max.js'
import type { NativeContext } from './native.js'
import { type Search, searchOf, select } from './selection.js'
import { logprobOf, tokenScoreOf } from './token-score.js'
import type { Draw, Token, TokenScore } from './types.js'

/** The tokens of one assistant turn as they are sampled. */
export interface LlamaTurn {
  /** The token before is in the sequence's cache then, this one is not yet. */
  next(): Promise<Token>
  /** Of all tokens so far: they may come later than the tokens, which are sampled without them. */
  logprobs(): Promise<number[]>
}

/** One rollout's key-value cache. */
export interface LlamaSequence {
  clear(): Promise<void>
  /** Computes the cache of `tokens`, which follow what the cache already holds. */
  prefill(tokens: readonly Token[]): Promise<void>
  /** Puts the cache of another sequence of the policy, or that of its first tokens, in place of its own. */
  copyFrom(other: LlamaSequence, tokens?: number): Promise<void>
  /** Drops what the cache holds beyond what it begins with in common with `tokens`. @returns  how many tokens that is */
  keepPrefix(tokens: readonly Token[]): Promise<number>
  begin(feed: readonly Token[], seed: number, temperature: number): LlamaTurn
  /**
   * Feeds `tokens` in one go and tells what the distribution after `tokens[i]` says of `targets[i]`; null where it is null.
   * @param draws  behind each target, for all evidence on it, null where there is none; null altogether: the log-probability
   *               alone, all else is NaN
   */
  predict(
    tokens: readonly Token[],
    targets: readonly (Token | null)[],
    draws: readonly (Draw | null)[] | null,
  ): Promise<(TokenScore | null)[]>
}

export interface SequenceParts {
  readonly native: NativeContext
  readonly decoder: Decoder
  /** Of each sequence. */
  readonly samplers: readonly Samplers[]
  readonly table: DrawTable
  /** Whether what is asked of the context is done one after the other, see thread-pool.ts. */
  readonly inOrder: boolean
}

/** All sequences of a context, which is empty. */
export function openAll({ native, decoder, samplers, table, inOrder }: SequenceParts): readonly LlamaSequence[] {
  /** The tokens in the cache of each. */
  const held = new Map<LlamaSequence, Token[]>()
  const numbers = new Map<LlamaSequence, number>()

  const open = (looking: Samplers, number: number): LlamaSequence => {
    /** Keeps so many of the tokens that are held, or none. */
    const keep = async (count: number): Promise<void> => {
      const own = held.get(sequence)!
      if (count === own.length) return
      held.set(sequence, (await decoder.remove(number, count)) ? own.slice(0, count) : [])
    }

    const feed = async (
      tokens: readonly Token[],
      wanted: (index: number) => boolean,
      read: (place: number, index: number) => Promise<void>,
      meanwhile = (): void => undefined,
    ): Promise<void> => {
      const own = held.get(sequence)!
      try {
        await decoder.feed({ sequence: number, position: own.length, tokens, wanted, read, meanwhile })
      } catch (cause) {
        held.set(sequence, [])
        await decoder.remove(number, 0)
        throw cause
      }
      for (const token of tokens) own.push(token)
    }

    /**
     * Feeds tokens and takes the one that a draw selects after them. The next decode needs the token alone: the weight of all others, for
     * its log-probability, is asked for behind it and awaited by who wants it.
     */
    const sample = async (tokens: readonly Token[], draw: Draw, temperature: number): Promise<Sampled> => {
      const last = tokens.length - 1
      let search: Search | null = null
      let sampled: Sampled
      await feed(
        tokens,
        (index) => index === last,
        async (place) => {
          const looks = readDistribution(native, looking, place)
          if (search === null) {
            const weights = await looks.weigh()
            sampled = { token: weights.top, logprob: Promise.resolve(logprobOf(weights.topLogit, weights)) }
            return
          }
          const { token, logits } = await select(looks, search)
          const logprob =
            logits === null
              ? looks.weigh(token).then((weights) => logprobOf(weights.logit, weights))
              : looks.totalWeight().then((totalWeight) => logprobOf(logits.own, { topLogit: logits.top, totalWeight }))
          logprob.catch(() => undefined)
          sampled = { token, logprob }
          if (!inOrder) await logprob
        },
        () => {
          if (temperature > 0) search = searchOf(table.noise(draw), table, temperature)
        },
      )
      return sampled!
    }

    const sequence: LlamaSequence = {
      clear: () => keep(0),
      prefill: (tokens) =>
        feed(
          tokens,
          () => false,
          async () => undefined,
        ),
      async copyFrom(other, tokens) {
        const its = held.get(other)!
        const length = tokens ?? its.length
        const copied = await decoder.copy(numbers.get(other)!, number)
        if (its.length > 0 && copied !== its.length - 1)
          throw new EngineError('engine_failed', `a cache of ${its.length} tokens could not be copied`)
        held.set(sequence, [...its])
        await keep(length)
        if (held.get(sequence)!.length !== length)
          throw new EngineError('engine_failed', `the first ${length} tokens of a cache could not be copied alone`)
      },
      async keepPrefix(tokens) {
        const own = held.get(sequence)!
        const differ = tokens.findIndex((token, i) => token !== own[i])
        await keep(differ === -1 ? tokens.length : differ)
        return held.get(sequence)!.length
      },
      begin: (first, seed, temperature) => {
        let next = first
        const logprobs: Promise<number>[] = []
        return {
          async next() {
            const { token, logprob } = await sample(next, { seed, position: logprobs.length }, temperature)
            logprobs.push(logprob)
            next = [token]
            return token
          },
          logprobs: () => Promise.all(logprobs),
        }
      },
      async predict(tokens, targets, draws) {
        const found: (TokenScore | null)[] = tokens.map(() => null)
        await feed(
          tokens,
          (index) => targets[index] !== null,
          async (place, index) => {
            const target = targets[index]!
            const looks = readDistribution(native, looking, place)
            if (draws === null) {
              const weights = await looks.weigh(target)
              found[index] = {
                logprob: logprobOf(weights.logit, weights),
                expectedMismatch: Number.NaN,
                logitError: Number.NaN,
              }
              return
            }
            const draw = draws[index] ?? null
            found[index] = await tokenScoreOf(target, await weighed(looks), draw && table.noise(draw), table)
          },
        )
        return found
      },
    }
    held.set(sequence, [])
    numbers.set(sequence, number)
    return sequence
  }
  return samplers.map(open)
}

interface Sampled {
  readonly token: Token
  readonly logprob: Promise<number>
}
