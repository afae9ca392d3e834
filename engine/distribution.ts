import type { LlamaContextSequence, LlamaModel } from 'node-llama-cpp'
import { EngineError } from './errors.js'
import type { Token } from './types.js'

/**
 * A distribution over the vocabulary that is looked at several times. The library's public calls give one look, and either it
 * is at all logits, which cost more on their way from native code than the model's own multiplications (1.0 ms of CPU for
 * 2,048 of them, where a token of the demo model takes 0.8), or the weight of the rest is not told. So this file uses what the
 * pinned version has inside, and nothing else does.
 */
export interface Distribution {
  /** The likeliest token. */
  readonly top: Token
  readonly topLogit: number
  /** Sum of exp(logit - topLogit) over the vocabulary, added up in float32. */
  readonly totalWeight: number
  /** The tokens whose logit is at most so many nats below the largest, in descending order; perhaps a few more. */
  near(reach: number): Promise<[Token, number][]>
  logitOf(token: Token): Promise<number>
}

/** Shows the distributions of one sequence; each sequence that is at work needs a reader of its own. */
export interface DistributionReader {
  /**
   * Feeds tokens, and calls `read` with the distribution after each that is wanted, one after the other. A distribution is
   * gone when its `read` is over.
   * @param wanted  for each token
   * @returns what `read` gave for each; null for what was not wanted
   */
  feed<T>(
    sequence: LlamaContextSequence,
    tokens: readonly Token[],
    wanted: readonly boolean[],
    read: (distribution: Distribution, index: number) => Promise<T>,
  ): Promise<(T | null)[]>
  dispose(): void
}

/** Native code compares in float32: nats that make up for its rounding. */
const ROUNDING = 1e-3

export function createDistributionReader(model: LlamaModel): DistributionReader {
  const { _llama: llama, _model: nativeModel } = model as unknown as InternalModel
  const Sampler = llama?._bindings?.AddonSampler
  if (Sampler === undefined || nativeModel === undefined) throw unknownLibrary()
  const sampler = new Sampler(nativeModel)
  return {
    async feed(sequence, tokens, wanted, read) {
      const internal = sequence as unknown as InternalSequence
      const native = internal._context?._ctx
      if (typeof internal._decodeTokens !== 'function' || typeof native?.sampleToken !== 'function')
        throw unknownLibrary()
      const found = await internal._decodeTokens(
        [...tokens],
        [...wanted],
        PRIORITY,
        internal._tokenMeter,
        NO_SHIFT,
        async (place, index) => ({ read: await read(await lookAt(native, sampler, place), index) }),
      )
      return tokens.map((_, i) => (found[i] as { read: Awaited<ReturnType<typeof read>> } | undefined)?.read ?? null)
    },
    dispose: () => sampler.dispose(),
  }
}

async function lookAt(context: NativeContext, sampler: NativeSampler, place: number): Promise<Distribution> {
  sampler.applyConfig({ temperature: 0 })
  const [top, , , selected, totalWeight] = await context.sampleToken(place, sampler, false, false, only(), true)
  const topLogit = selected?.[1]
  if (topLogit === undefined || totalWeight === undefined || !Number.isFinite(topLogit) || !(totalWeight >= 1))
    throw new EngineError('engine_failed', 'llama.cpp gave logits that are no numbers')
  return {
    top,
    topLogit,
    totalWeight,
    async near(reach) {
      // A sampler that draws: it is the only kind that leaves out tokens. What it draws is of no interest.
      sampler.applyConfig({ temperature: 1, minP: Math.exp(-reach - ROUNDING), seed: 0 })
      const [, , , pairs] = await context.sampleToken(place, sampler, false, false, true, false)
      if (pairs === undefined) throw new EngineError('engine_failed', 'llama.cpp gave no logits to sample from')
      return Array.from({ length: pairs.length / 2 }, (_, i) => [pairs[2 * i]!, pairs[2 * i + 1]!])
    },
    async logitOf(token) {
      if (token === top) return topLogit
      sampler.applyConfig({ temperature: 0 })
      const [, , , pairs] = await context.sampleToken(place, sampler, false, false, only(token), false)
      const at = pairs?.findIndex((value, i) => i % 2 === 0 && value === token) ?? -1
      if (at === -1) throw new EngineError('engine_failed', `llama.cpp gave no logit of token ${token}`)
      return pairs![at + 1]!
    },
  }
}

/** The library's default drops the oldest tokens without a word when a context overflows. */
export const NO_SHIFT = {
  size: 1,
  strategy: (): never => {
    throw new EngineError('context_full')
  },
}

/** The library's own default. */
const PRIORITY = 5
/** Its filter for logits: these tokens, neither the largest nor the smallest, but the selected one, and none of the top. */
const only = (...tokens: Token[]) => [tokens, false, false, true, 0] as const

const unknownLibrary = (): EngineError =>
  new EngineError('engine_failed', 'this is not the version of node-llama-cpp that prove-swarm was made for')

interface InternalModel {
  readonly _model?: object
  readonly _llama?: { readonly _bindings?: { readonly AddonSampler?: new (model: object) => NativeSampler } }
}

interface InternalSequence {
  readonly _context?: { readonly _ctx?: NativeContext }
  readonly _tokenMeter: unknown
  _decodeTokens?(
    tokens: Token[],
    wanted: boolean[],
    priority: number,
    meter: unknown,
    contextShift: typeof NO_SHIFT,
    read: (place: number, index: number) => Promise<unknown>,
  ): Promise<unknown[]>
}

interface NativeSampler {
  applyConfig(config: { temperature: number; minP?: number; seed?: number }): void
  dispose(): void
}

interface NativeContext {
  /** @returns token, probabilities, confidence, logits as `[token, logit, token, logit, …]`, total weight */
  sampleToken(
    index: number,
    sampler: NativeSampler,
    probabilities: false,
    confidence: false,
    logits: true | ReturnType<typeof only>,
    totalWeight: boolean,
  ): Promise<readonly [token: Token, _?: undefined, __?: undefined, logits?: readonly number[], totalWeight?: number]>
}
