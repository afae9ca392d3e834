import type { LlamaContext, LlamaModel } from 'node-llama-cpp'
import { EngineError } from './errors.js'
import type { Token } from './types.js'

/**
 * The library's internal binding to llama.cpp, which is needed for one decode of all slots and several reads of one distribution.
 * With the library's public calls, each token of each slot passes locks, queues and copies of all earlier tokens. That took 0.3 ms
 * of CPU where the demo model takes 0.35. The public calls also return either all logits or one read. Only `llama.ts` imports the
 * library, and only this file uses parts that its types do not declare.
 */
export interface NativeContext {
  /** Begins a batch of `tokens` tokens, which replaces the previous one. */
  initBatch(tokens: number): void
  /** Adds tokens to the batch. @param wanted  indices in `tokens` @returns  the place of each wanted distribution, valid until the next decode */
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
  /** @returns  false if only the whole sequence can be removed */
  removeTokenCellsFromSequence(sequence: number, from: number, to: number): boolean
  /** Returns the first cached position. */
  getSequenceKvCacheMinPosition(sequence: number): number
  copySequenceStateFromOtherSequence(to: number, from: number): Promise<number>
}

/** Selects logits: those of these tokens, the largest, the smallest, the selected one, and a number of the largest. */
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

/** Returns the internal binding of a context. @throws EngineError `engine_failed` for another version of the library */
export function nativeContext(context: LlamaContext): NativeContext {
  const { _ctx: native } = context as unknown as { readonly _ctx?: NativeContext }
  if (typeof native?.sampleToken !== 'function' || typeof native.copySequenceStateFromOtherSequence !== 'function')
    throw unknownLibrary()
  return native
}

/** Creates a sampler, which reads one distribution at a time. @throws EngineError `engine_failed` for another version of the library */
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
  new EngineError('engine_failed', 'prove-swarm needs another version of node-llama-cpp: reinstall its packages')
