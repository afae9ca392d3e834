import type { Draw, Token } from './types.js'

/**
 * The draw of a token, by the Gumbel-max rule (Gumbel 1954; for audits: Token-DiFR, arXiv 2511.20621): the token whose
 * logit / T + noise is the largest, which is a sample of softmax(logits / T). The noise of a token follows from the turn's
 * sampler seed, the place of the draw in the turn and the token's id alone:
 *
 *     word  = MurmurHash3_x86_32(seed, position as u32 LE ‖ token as u32 LE)
 *     noise = -ln(-ln((word + 0.5) / 2^32)), in float64
 *
 * Integers, so every implementation has the same word; the two logarithms differ by some 1e-15 nats at most. The noise lies
 * in [-3.1, 22.9], so a token of probability below 1e-9 is drawn slightly too rarely. `prove_trainer/draw.py` is the same
 * in torch, and `test/fixtures/draws.json` holds both to it. Another rule needs another name.
 */
export const DRAW = 'gumbel-murmur3'

/** The noise of one token under one draw. */
export function noiseOf({ seed, position }: Draw, token: Token): number {
  return gumbel(wordOf(rowOf(seed, position), blockOf(token)))
}

/** The draws of one vocabulary. */
export interface DrawTable {
  /** The largest noise of any token under a draw. */
  largestNoise(draw: Draw): number
  /**
   * The token that a draw selects.
   * @param logits   in descending order, of all tokens that the noise can lift above the likeliest one
   * @param largest  the draw's largest noise
   * @param temperature  what the noise is multiplied by, which says the same as dividing the logits; default 1
   */
  select(draw: Draw, logits: Iterable<readonly [Token, number]>, largest: number, temperature?: number): Token
}

export function createDrawTable(vocabularySize: number): DrawTable {
  const blocks = Int32Array.from({ length: vocabularySize }, (_, token) => blockOf(token))
  return {
    largestNoise({ seed, position }) {
      const row = rowOf(seed, position)
      let largest = 0
      for (let token = 0; token < vocabularySize; token++) {
        const word = wordOf(row, blocks[token]!)
        if (word > largest) largest = word
      }
      return gumbel(largest)
    },
    select({ seed, position }, logits, largest, temperature = 1) {
      const row = rowOf(seed, position)
      let [selected, best] = [-1, Number.NEGATIVE_INFINITY]
      for (const [token, logit] of logits) {
        if (logit + temperature * largest < best) break
        const score = logit + temperature * gumbel(wordOf(row, blocks[token]!))
        if (score > best) [selected, best] = [token, score]
      }
      return selected
    },
  }
}

/** What a draw contributes to the hash, before any token. */
const rowOf = (seed: number, position: number): number => absorb(seed | 0, blockOf(position))

function wordOf(row: number, block: number): number {
  let h = absorb(row, block) ^ 8 // bytes hashed
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
