import { readFileSync } from 'node:fs'
import type { Token } from './types.js'

/** @returns  the tokens whose word under a draw is `line` at least, in ascending order, as a copy of their own */
export type FindCandidates = (drawState: number, leastWord: number) => Uint32Array

/**
 * The search of a vocabulary for loud tokens, by WebAssembly's SIMD (`candidates.wat`, which the build compiles), in a third of the time
 * that it takes in JavaScript. It needs SSE4.1 or NEON.
 * @param blockOf  what a token contributes to the hash of draw.ts, whose words these are
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
    // What pads the vocabulary is no token; it comes last.
    while (count > 0 && found[count - 1]! >= vocabularySize) count--
    return found.slice(0, count)
  }
}

interface Exports {
  readonly find: (drawState: number, leastWord: number, end: number) => number
}

let compiled: WebAssembly.Module | null = null

/** Words that are computed at once. */
const SIMD_LANES = 4
/** Bytes. */
const WORD = 4
const PAGE = 65_536
