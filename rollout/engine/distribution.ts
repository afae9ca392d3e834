import { EngineError } from './errors.js'
import type { LogitFilter, NativeContext, NativeSampler } from './native.js'
import type { Token } from './types.js'

/**
 * Looks at a distribution over the vocabulary, of which each goes once over all of it, because all logits cost more on their way
 * from native code than the model's own multiplications (1.0 ms of CPU for 2,048 of them, where a token of the demo model takes
 * 0.4). With 151,936 tokens `weigh` takes 0.9 ms, `totalWeight` 0.3 less, `near` 0.3 and `logitOf` 0.5.
 */
export interface DistributionReader {
  /**
   * The tokens whose logit is at most so many nats below the largest, in descending order; perhaps a few more.
   * @param raised  tokens whose logit counts as larger than it is, or smaller; to float32's precision
   */
  near(reach: number, raised?: Raised): Promise<[Token, number][]>
  /** What each log-probability takes, with the logit of one token; default: of the likeliest one. */
  weigh(token?: Token): Promise<Weights & { readonly logit: number }>
  /** Of `weigh` the total weight alone, to the bit. */
  totalWeight(): Promise<number>
  logitOf(token: Token): Promise<number>
  /** Sum of exp(2 (logit - topLogit)) over the vocabulary, added up in float32. */
  squaredWeight(): Promise<number>
}

export interface Weights {
  /** The likeliest token. */
  readonly top: Token
  readonly topLogit: number
  /** Sum of exp(logit - topLogit) over the vocabulary, added up in float32. */
  readonly totalWeight: number
}

/** A distribution of which the weights are known. */
export type Distribution = Weights & Pick<DistributionReader, 'near' | 'logitOf' | 'squaredWeight'>

export interface Raised {
  readonly tokens: Uint32Array
  readonly by: Float32Array
}

/** Nats, more than float32 rounds logits and their sums by. */
export const LOGIT_ROUNDING = 1e-3

/** By which a sequence's distributions are looked at, one distribution at a time. */
export interface Samplers {
  /** That never leaves anything out. */
  readonly greedy: NativeSampler
  /** Set anew for each look. */
  readonly drawing: NativeSampler
}

export function openSamplers(create: () => NativeSampler): Samplers {
  const greedy = create()
  greedy.applyConfig({ temperature: 0 })
  return { greedy, drawing: create() }
}

/**
 * @param place     by which the context finds the distribution
 * @param samplers  that nothing else uses until the last look, or is asked for behind it where the context works in order
 */
export function readDistribution(
  context: NativeContext,
  { greedy, drawing }: Samplers,
  place: number,
): DistributionReader {
  return {
    async near(reach, raised) {
      // A sampler that draws: it is the only kind that leaves out tokens. What it draws is of no interest.
      const minP = Math.exp(-reach - LOGIT_ROUNDING)
      if (raised === undefined) drawing.applyConfig({ temperature: 1, minP, seed: 0 })
      else {
        const { tokens: tokenBiasKeys, by: tokenBiasValues } = raised
        drawing.applyConfig({ temperature: 1, minP, seed: 0, tokenBiasKeys, tokenBiasValues })
      }
      const [, , , pairs] = await context.sampleToken(place, drawing, false, false, true, false)
      if (pairs === undefined) throw new EngineError('engine_failed', 'llama.cpp gave no logits to sample from')
      const near: [Token, number][] = []
      for (let i = 0; i < pairs.length; i += 2) near.push([pairs[i]!, pairs[i + 1]!])
      return near
    },
    async weigh(token) {
      const filter = token === undefined ? ONLY_SELECTED : only(token)
      const [top, , , pairs = [], totalWeight = Number.NaN] = await context.sampleToken(
        ...([place, greedy, false, false, filter, true] as const),
      )
      const topLogit = logitIn(top, pairs)
      const logit = logitIn(token ?? top, pairs)
      if (!Number.isFinite(topLogit) || !Number.isFinite(logit) || !(totalWeight >= 1)) throw noNumbers()
      return { top, topLogit, totalWeight, logit }
    },
    async totalWeight() {
      const [, , , , totalWeight = Number.NaN] = await context.sampleToken(place, greedy, false, false, false, true)
      if (!(totalWeight >= 1)) throw noNumbers()
      return totalWeight
    },
    async logitOf(token) {
      const [, , , pairs = []] = await context.sampleToken(place, greedy, false, false, only(token), false)
      const logit = logitIn(token, pairs)
      if (Number.isNaN(logit)) throw new EngineError('engine_failed', `llama.cpp gave no logit of token ${token}`)
      return logit
    },
    async squaredWeight() {
      drawing.applyConfig({ temperature: 0.5, seed: 0 })
      const [, , , , weight] = await context.sampleToken(place, drawing, false, false, false, true)
      if (weight === undefined) throw new EngineError('engine_failed', 'llama.cpp gave no logits to add up')
      return weight
    },
  }
}

/** The same distribution with its weights, of which the likeliest token's logit needs no look any more. */
export async function weighed(looks: DistributionReader): Promise<Distribution> {
  const { top, topLogit, totalWeight } = await looks.weigh()
  const logitOf = async (token: Token): Promise<number> => (token === top ? topLogit : await looks.logitOf(token))
  return { ...looks, top, topLogit, totalWeight, logitOf }
}

/** NaN: it is not among them. */
function logitIn(token: Token, pairs: readonly number[]): number {
  for (let i = 0; i < pairs.length; i += 2) if (pairs[i] === token) return pairs[i + 1]!
  return Number.NaN
}

const noNumbers = (): EngineError => new EngineError('engine_failed', 'llama.cpp gave logits that are no numbers')

/** These tokens and the selected one. */
const only = (...tokens: Token[]): LogitFilter => [tokens, false, false, true, 0]

const ONLY_SELECTED = only()
