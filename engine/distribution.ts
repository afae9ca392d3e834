import { EngineError } from './errors.js'
import type { LogitFilter, NativeContext, NativeSampler } from './native.js'
import type { Token } from './types.js'

/**
 * A distribution over the vocabulary that is looked at several times, because all logits cost more on their way from native
 * code than the model's own multiplications (1.0 ms of CPU for 2,048 of them, where a token of the demo model takes 0.4).
 * Each look goes once over the vocabulary; with 151,936 tokens that is 0.9 ms for the first, 0.3 for `near` and 0.5 for `logitOf`.
 */
export interface Distribution {
  readonly vocabularySize: number
  /** The likeliest token. */
  readonly top: Token
  readonly topLogit: number
  /** Sum of exp(logit - topLogit) over the vocabulary, added up in float32. */
  readonly totalWeight: number
  /**
   * The tokens whose logit is at most so many nats below the largest, in descending order; perhaps a few more.
   * @param raised  tokens whose logit counts as larger than it is, or smaller; to float32's precision
   */
  near(reach: number, raised?: Raised): Promise<[Token, number][]>
  logitOf(token: Token): Promise<number>
  /** Sum of exp(2 (logit - topLogit)) over the vocabulary, added up in float32. */
  squaredWeight(): Promise<number>
}

export interface Raised {
  readonly tokens: Uint32Array
  readonly by: Float32Array
}

/** Nats, more than float32 rounds logits and their sums by. */
export const LOGIT_ROUNDING = 1e-3

/** What is asked of a distribution together with the first look, so that it is there when it is wanted. */
export interface Ahead {
  readonly reach: number
  readonly raised: Raised
}

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
 * @param place     by which the context finds it
 * @param samplers  that nothing else uses until the last look
 */
export async function lookAt(
  context: NativeContext,
  { greedy, drawing }: Samplers,
  place: number,
  vocabularySize: number,
  ahead: Ahead | null = null,
): Promise<Distribution> {
  const nearer = async (reach: number, raised?: Raised): Promise<[Token, number][]> => {
    // A sampler that draws: it is the only kind that leaves out tokens. What it draws is of no interest.
    const config = { temperature: 1, minP: Math.exp(-reach - LOGIT_ROUNDING), seed: 0 }
    drawing.applyConfig(raised ? { ...config, tokenBiasKeys: raised.tokens, tokenBiasValues: raised.by } : config)
    const [, , , pairs] = await context.sampleToken(place, drawing, false, false, true, false)
    if (pairs === undefined) throw new EngineError('engine_failed', 'llama.cpp gave no logits to sample from')
    return Array.from({ length: pairs.length / 2 }, (_, i) => [pairs[2 * i]!, pairs[2 * i + 1]!])
  }
  const first = context.sampleToken(place, greedy, false, false, ONLY_SELECTED, true)
  const second = ahead && nearer(ahead.reach, ahead.raised)
  // Both to their end, whatever comes of them: the samplers are used again.
  const [looked, near] = await Promise.allSettled([first, second])
  if (looked.status === 'rejected') throw looked.reason
  if (near.status === 'rejected') throw near.reason
  const [top, , , selected, totalWeight] = looked.value
  const nearest = near.value
  const topLogit = selected?.[1]
  if (topLogit === undefined || totalWeight === undefined || !Number.isFinite(topLogit) || !(totalWeight >= 1))
    throw new EngineError('engine_failed', 'llama.cpp gave logits that are no numbers')
  return {
    vocabularySize,
    top,
    topLogit,
    totalWeight,
    near: async (reach, raised) =>
      nearest !== null && raised === ahead!.raised && reach <= ahead!.reach ? nearest : await nearer(reach, raised),
    async logitOf(token) {
      if (token === top) return topLogit
      const [, , , pairs] = await context.sampleToken(place, greedy, false, false, only(token), false)
      const at = pairs?.findIndex((value, i) => i % 2 === 0 && value === token) ?? -1
      if (at === -1) throw new EngineError('engine_failed', `llama.cpp gave no logit of token ${token}`)
      return pairs![at + 1]!
    },
    async squaredWeight() {
      drawing.applyConfig({ temperature: 0.5, seed: 0 })
      const [, , , , weight] = await context.sampleToken(place, drawing, false, false, false, true)
      if (weight === undefined) throw new EngineError('engine_failed', 'llama.cpp gave no logits to add up')
      return weight
    },
  }
}

/** These tokens and the selected one. */
const only = (...tokens: Token[]): LogitFilter => [tokens, false, false, true, 0]

const ONLY_SELECTED = only()
