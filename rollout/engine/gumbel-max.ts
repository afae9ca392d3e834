import { createFindCandidates } from './candidates.js'
import type { Draw, Token } from './types.js'

/**
 * Name of the sampling rule, Gumbel-max sampling (Gumbel 1954; for audits: Token-DiFR, arXiv 2511.20621). A draw selects the token
 * whose logit / T + noise is the largest, which is a sample of softmax(logits / T). The noise of a token depends only on the
 * turn's sampler seed, the position of the draw in the turn and the token's id:
 *
 *     word  = MurmurHash3_x86_32(seed, position as u32 LE ‖ token as u32 LE)
 *     noise = -ln(-ln((word + 0.5) / 2^32)), in float64
 *
 * The word is an integer, so every implementation computes the same; the two logarithms differ by some 1e-15 nats at most. The
 * noise is in [-3.1, 22.9], so a token of probability below 1e-9 is sampled slightly too rarely. `prove_trainer/gumbel_max.py`
 * computes the same noise in torch, and `test/fixtures/draws.json` tests both. Another rule needs another name.
 */
export const DRAW = 'gumbel-murmur3'

/** Returns the noise of one token under one draw. */
export function noiseOf({ seed, position }: Draw, token: Token): number {
  return gumbel(wordOf(drawState(seed, position), blockOf(token)))
}

/** The noise of a whole vocabulary under one draw, which is known before the logits. */
export interface Noise {
  /** The largest noise of any token. */
  readonly largest: number
  /** The tokens whose noise is at least the table's `candidateNoise`. */
  readonly candidates: Uint32Array
  of(token: Token): number
  isCandidate(token: Token): boolean
}

/** The draws of one vocabulary. */
export interface DrawTable {
  /** Least noise of a candidate: some e sqrt(V) of V tokens have it. selection.ts explains its use. */
  readonly candidateNoise: number
  noise(draw: Draw): Noise
}

export function createDrawTable(vocabularySize: number): DrawTable {
  const candidateNoise = (Math.log(vocabularySize) - GUESS) / 2
  /** The smallest word with that noise. */
  const candidateWord = Math.ceil(2 ** 32 * Math.exp(-Math.exp(-candidateNoise)) - 0.5)
  const findCandidates = createFindCandidates(vocabularySize, blockOf)
  return {
    candidateNoise,
    noise(draw) {
      const state = drawState(draw.seed, draw.position)
      const wordAt = (token: Token): number => wordOf(state, blockOf(token))
      const candidates = findCandidates(state, candidateWord)
      let largest = 0
      for (const token of candidates) largest = Math.max(largest, wordAt(token))
      for (let token = 0; candidates.length === 0 && token < vocabularySize; token++)
        largest = Math.max(largest, wordAt(token))
      return {
        largest: gumbel(largest),
        candidates,
        of: (token) => gumbel(wordAt(token)),
        isCandidate: (token) => wordAt(token) >= candidateWord,
      }
    },
  }
}

/**
 * Returns the token that a draw selects.
 * @param logits  in descending order, of all tokens that the noise can raise above the likeliest one
 * @param temperature  multiplies the noise, which is equivalent to dividing the logits
 */
export function selectAmong(noise: Noise, logits: Iterable<readonly [Token, number]>, temperature = 1): Token {
  let [selected, best] = [-1, Number.NEGATIVE_INFINITY]
  for (const [token, logit] of logits) {
    if (logit + temperature * noise.largest < best) break
    const score = logit + temperature * noise.of(token)
    if (score > best) [selected, best] = [token, score]
  }
  return selected
}

/** In nats: in one of 1,600 draws, the best score is that far below the logarithm of the sum of weights. */
export const GUESS = 2

/** Returns the hash state of a draw, before any token. */
const drawState = (seed: number, position: number): number => absorb(seed | 0, blockOf(position))

function wordOf(state: number, block: number): number {
  let h = absorb(state, block) ^ 8 // bytes hashed
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}

function blockOf(value: number): number {
  const k = Math.imul(value, 0xcc9e2d51)
  return Math.imul((k << 15) | (k >>> 17), 0x1b873593)
}

function absorb(state: number, block: number): number {
  const h = state ^ block
  return (Math.imul((h << 13) | (h >>> 19), 5) + 0xe6546b64) | 0
}

const gumbel = (word: number): number => -Math.log(-Math.log((word + 0.5) / 2 ** 32))
