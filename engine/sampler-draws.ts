import type { TokenInterval } from './types.js'

const WORDS = 624
const SHIFT = 397

/**
 * The uniform numbers which llama.cpp's seeded sampler draws, one per token of a turn: `std::mt19937(seed)`, two 32-bit
 * words per number, as libstdc++'s `std::generate_canonical<double, 53>` combines them.
 *
 * @param seed   the turn's sampler seed, an integer in 0 .. 2^32 - 2
 * @param count  numbers wanted, >= 0
 * @returns      `count` numbers in [0, 1): the t-th decides the turn's t-th token
 */
export function draws(seed: number, count: number): Float64Array {
  const next = mersenneTwister(seed)
  return Float64Array.from({ length: count }, () => {
    const low = next()
    return (low + next() * 2 ** 32) / 2 ** 64
  })
}

/**
 * How far a token is from being what the draw `u` selects: the distance of `u` from the token's interval of the
 * cumulative distribution over descending probabilities. 0: the seed explains the token. Near-ties in the order and
 * small differences in the logits move the interval, so judge many tokens, never one.
 *
 * @param u              the draw, in [0, 1)
 * @param probabilities  the full softmax at temperature 1, indexed by token id
 */
export function miss(u: number, probabilities: Float64Array, token: number): number {
  const own = probabilities[token]
  if (own === undefined) throw new RangeError(`token ${token} is outside the vocabulary of ${probabilities.length}`)
  let low = 0
  for (const p of probabilities) if (p > own) low += p
  return intervalMiss(u, { logprob: Math.log(own), low })
}

/** `miss` for an interval which `Engine.intervals` has computed. */
export function intervalMiss(u: number, { logprob, low }: Pick<TokenInterval, 'logprob' | 'low'>): number {
  return Math.max(low - u, u - low - Math.exp(logprob), 0)
}

/** MT19937 (Matsumoto and Nishimura, 1998) as C++'s `std::mt19937`: a function returning its 32-bit outputs in order. */
export function mersenneTwister(seed: number): () => number {
  const state = new Uint32Array(WORDS)
  state[0] = seed
  for (let i = 1; i < WORDS; i++) state[i] = Math.imul(1812433253, state[i - 1]! ^ (state[i - 1]! >>> 30)) + i
  let at = WORDS
  return () => {
    if (at === WORDS) {
      for (let i = 0; i < WORDS; i++) {
        const y = (state[i]! & 0x80000000) | (state[(i + 1) % WORDS]! & 0x7fffffff)
        state[i] = state[(i + SHIFT) % WORDS]! ^ (y >>> 1) ^ (y & 1 ? 0x9908b0df : 0)
      }
      at = 0
    }
    let y = state[at++]!
    y ^= y >>> 11
    y ^= (y << 7) & 0x9d2c5680
    y ^= (y << 15) & 0xefc60000
    y ^= y >>> 18
    return y >>> 0
  }
}
