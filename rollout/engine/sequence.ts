import type { Decoder } from './decoder.js'
import { readDistribution, type Samplers, weighed } from './distribution.js'
import { EngineError } from './errors.js'
import type { DrawTable } from './gumbel-max.js'
import type { NativeContext } from './native.js'
import { type Search, searchOf, select } from './selection.js'
import { logprobOf, tokenScoreOf } from './token-score.js'
import type { Draw, Token, TokenScore } from './types.js'

/** The tokens of one assistant turn, sampled one by one. */
export interface LlamaTurn {
  /** Samples the next token. The sequence's cache then contains the token before, and not yet this one. */
  next(): Promise<Token>
  /** Returns the log-probabilities of all tokens so far. They may resolve later than the tokens, whose sampling does not need them. */
  logprobs(): Promise<number[]>
}

/** The key-value cache of one rollout. */
export interface LlamaSequence {
  clear(): Promise<void>
  /** Computes the cache of `tokens`, which follow the cached ones. */
  prefill(tokens: readonly Token[]): Promise<void>
  /** Replaces the cache by a copy of another sequence's, or of its first `tokens` tokens. */
  copyFrom(other: LlamaSequence, tokens?: number): Promise<void>
  /** Drops the cache beyond its common prefix with `tokens`. @returns  the length of that prefix, in tokens */
  keepPrefix(tokens: readonly Token[]): Promise<number>
  begin(feed: readonly Token[], seed: number, temperature: number): LlamaTurn
  /**
   * Feeds `tokens` in one go, and scores `targets[i]` by the distribution after `tokens[i]`; null where the target is null.
   * @param draws  the draw of each target, null where the target has none. With null instead of the list, only the log-probability is
   *               computed, and the other fields are NaN
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
  /** One entry for each sequence. */
  readonly samplers: readonly Samplers[]
  readonly table: DrawTable
  /** Whether the context runs its calls one after the other, see thread-pool.ts. */
  readonly inOrder: boolean
}

/** Opens all sequences of an empty context. */
export function openAll({ samplers, ...shared }: SequenceParts): readonly LlamaSequence[] {
  const caches = new Map<LlamaSequence, SequenceCache>()
  return samplers.map((own, number) => {
    const cache = createCache(shared.decoder, number)
    const sequence = createSequence(cache, own, shared, (other) => caches.get(other)!)
    caches.set(sequence, cache)
    return sequence
  })
}

/** The tokens that one sequence of a context has cached. */
interface SequenceCache {
  /** Index of the sequence in its context. */
  readonly number: number
  readonly tokens: readonly Token[]
  /** Keeps the first `count` tokens, or none if llama.cpp cannot remove the rest alone. */
  keep(count: number): Promise<void>
  /** Decodes tokens after the cached ones. After an error the cache is empty. */
  feed(
    tokens: readonly Token[],
    wanted: (index: number) => boolean,
    read: (place: number, index: number) => Promise<void>,
    meanwhile?: () => void,
  ): Promise<void>
  copyFrom(other: SequenceCache): Promise<void>
}

function createCache(decoder: Decoder, number: number): SequenceCache {
  let own: Token[] = []
  return {
    number,
    get tokens() {
      return own
    },
    async keep(count) {
      if (count === own.length) return
      const rest = own.slice(0, count)
      own = (await decoder.remove(number, count)) ? rest : []
    },
    async feed(tokens, wanted, read, meanwhile = () => undefined) {
      try {
        await decoder.feed({ sequence: number, position: own.length, tokens, wanted, read, meanwhile })
      } catch (cause) {
        own = []
        await decoder.remove(number, 0)
        throw cause
      }
      for (const token of tokens) own.push(token)
    },
    async copyFrom(other) {
      const { number: from, tokens } = other
      const { length } = tokens
      const copied = await decoder.copy(from, number)
      if (length > 0 && copied !== length - 1)
        throw new EngineError('engine_failed', `a cache of ${length} tokens could not be copied`)
      own = [...tokens]
    },
  }
}

interface Sampled {
  readonly token: Token
  readonly logprob: Promise<number>
}

function createSequence(
  cache: SequenceCache,
  samplers: Samplers,
  { native, table, inOrder }: Omit<SequenceParts, 'samplers'>,
  cacheOf: (other: LlamaSequence) => SequenceCache,
): LlamaSequence {
  /**
   * Feeds tokens and samples the next one by a draw. The next decode needs the token alone. So the total weight, for its
   * log-probability, is requested afterwards, and the caller awaits it when needed.
   */
  const sample = async (tokens: readonly Token[], draw: Draw, temperature: number): Promise<Sampled> => {
    const last = tokens.length - 1
    let search: Search | null = null
    let sampled: Sampled
    await cache.feed(
      tokens,
      (index) => index === last,
      async (place) => {
        const reader = readDistribution(native, samplers, place)
        if (search === null) {
          const weights = await reader.weigh()
          sampled = { token: weights.top, logprob: Promise.resolve(logprobOf(weights.topLogit, weights)) }
          return
        }
        const { token, logits } = await select(reader, search)
        const logprob =
          logits === null
            ? reader.weigh(token).then((weights) => logprobOf(weights.logit, weights))
            : reader.totalWeight().then((totalWeight) => logprobOf(logits.own, { topLogit: logits.top, totalWeight }))
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

  return {
    clear: () => cache.keep(0),
    prefill: (tokens) =>
      cache.feed(
        tokens,
        () => false,
        async () => undefined,
      ),
    async copyFrom(other, tokens) {
      const source = cacheOf(other)
      const length = tokens ?? source.tokens.length
      await cache.copyFrom(source)
      await cache.keep(length)
      if (cache.tokens.length !== length)
        throw new EngineError('engine_failed', `the first ${length} tokens of a cache could not be copied alone`)
    },
    async keepPrefix(tokens) {
      const differ = tokens.findIndex((token, i) => token !== cache.tokens[i])
      await cache.keep(differ === -1 ? tokens.length : differ)
      return cache.tokens.length
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
      await cache.feed(
        tokens,
        (index) => targets[index] !== null,
        async (place, index) => {
          const target = targets[index]!
          const reader = readDistribution(native, samplers, place)
          if (draws === null) {
            const weights = await reader.weigh(target)
            const logprob = logprobOf(weights.logit, weights)
            found[index] = { logprob, expectedMismatch: Number.NaN, logitError: Number.NaN }
            return
          }
          const draw = draws[index] ?? null
          found[index] = await tokenScoreOf(target, await weighed(reader), draw && table.noise(draw), table)
        },
      )
      return found
    },
  }
}
