import { readFileSync } from 'node:fs'
import type { Token } from './types.js'

/**
 * Returns the tokens whose hash under a draw is at least `leastWord`, in ascending order, as a copy.
 * @param drawState  the hash state of the draw, see `drawState` of gumbel-max.ts
 */
export type FindCandidates = (drawState: number, leastWord: number) => Uint32Array

/**
 * Creates the search of a vocabulary for the candidates of Gumbel-max sampling, the tokens with large noise. It uses WebAssembly's SIMD
 * (`candidates.wat`, which the build compiles), which takes a third of the time of JavaScript and needs SSE4.1 or NEON.
 * @param blockOf  the contribution of a token to the hash of gumbel-max.ts
 */
export function createFindCandidates(vocabularySize: number, blockOf: (token: Token) => number): FindCandidates {
  const padded = Math.ceil(vocabularySize / SIMD_LANES) * SIMD_LANES
  const memory = new WebAssembly.Memory({ initial: Math.ceil((2 * padded * WORD) / PAGE) })
  const rotatedBlocks = new Int32Array(memory.buffer, 0, vocabularySize)
  for (let token = 0; token < vocabularySize; token++) {
    const block = blockOf(token)
    rotatedBlocks[token] = (block << 13) | (block >>> 19)
  }
  const found = new Uint32Array(memory.buffer, padded * WORD, padded)
  compiled ??= new WebAssembly.Module(readFileSync(new URL('./candidates.wasm', import.meta.url)))
  const { find } = new WebAssembly.Instance(compiled, { candidates: { memory } }).exports as unknown as Exports
  return (drawState, leastWord) => {
    let count = find(drawState, leastWord, padded * WORD)
    // The padding of the vocabulary comes last and is no token.
    while (count > 0 && found[count - 1]! >= vocabularySize) count--
    return found.slice(0, count)
  }
}

interface Exports {
  readonly find: (drawState: number, leastWord: number, end: number) => number
}

let compiled: WebAssembly.Module | null = null

/** 32-bit lanes of a SIMD vector: hashes that are computed at once. */
const SIMD_LANES = 4
/** Bytes. */
const WORD = 4
const PAGE = 65_536
