import type { LlamaContext, LlamaModel } from 'node-llama-cpp'
import { EngineError } from './errors.js'
import type { Token } from './types.js'

/**
 * What the library has inside: its binding to llama.cpp, which one decode of all lanes and several looks at one distribution
 * need. By the library's own calls each token of each lane passes locks, queues and copies of everything before it, which took
 * 0.3 ms of CPU where the demo model itself takes 0.35; and all logits, or only one look at them, are to be had. Nothing else
 * but `llama.ts` imports the library, and no other file uses what it does not name in its types.
 */
export interface NativeContext {
  /** Begins a batch of so many tokens, in place of the one before. */
  initBatch(tokens: number): void
  /** @returns  for each of `wanted`, which are places in `tokens`: by what its distribution is found until the next decode */
  addToBatch(sequence: number, position: number, tokens: Uint32Array, wanted: Uint32Array): Uint32Array
  decodeBatch(): Promise<void>
  /** @returns token, probabilities, confidence, logits as `[token, logit, token, logit, …]`, total weight */
  sampleToken(
    place: number,
    sampler: NativeSampler,
    probabilities: false,
    confidence: false,
    logits: boolean | LogitFilter,
    totalWeight: boolean,
  ): Promise<readonly [token: Token, _?: undefined, __?: undefined, logits?: readonly number[], totalWeight?: number]>
  /** @returns  false: only all of the sequence can be removed */
  removeTokenCellsFromSequence(sequence: number, from: number, to: number): boolean
  /** The first position of which something is kept. */
  getSequenceKvCacheMinPosition(sequence: number): number
  copySequenceStateFromOtherSequence(to: number, from: number): Promise<number>
}

/** These tokens, the largest, the smallest, the selected one, and so many of the top. */
export type LogitFilter = readonly [Token[], boolean, boolean, boolean, number]

export interface NativeSampler {
  applyConfig(config: {
    temperature: number
    minP?: number
    seed?: number
    tokenBiasKeys?: Uint32Array
    tokenBiasValues?: Float32Array
  }): void
  dispose(): void
}

/** @throws EngineError `engine_failed`: another version of the library */
export function nativeContext(context: LlamaContext): NativeContext {
  const { _ctx: native } = context as unknown as { readonly _ctx?: NativeContext }
  if (typeof native?.sampleToken !== 'function' || typeof native.copySequenceStateFromOtherSequence !== 'function')
    throw unknownLibrary()
  return native
}

/** A sampler looks at one distribution at a time. @throws EngineError `engine_failed`: another version of the library */
export function createNativeSampler(model: LlamaModel): NativeSampler {
  const { _llama: llama, _model: native } = model as unknown as InternalModel
  const Sampler = llama?._bindings?.AddonSampler
  if (Sampler === undefined || native === undefined) throw unknownLibrary()
  return new Sampler(native)
}

interface InternalModel {
  readonly _model?: object
  readonly _llama?: { readonly _bindings?: { readonly AddonSampler?: new (model: object) => NativeSampler } }
}

const unknownLibrary = (): EngineError =>
  new EngineError('engine_failed', 'this is not the version of node-llama-cpp that prove-swarm was made for')
