export { adapterDistance } from './adapter-distance.js'
export {
  CACHE_TYPES,
  type CacheType,
  cacheTypeOf,
  calibratedName,
  type PassedOver,
  type Placement,
  passedOverLine,
  USUAL_CACHE,
} from './backend.js'
export { type EngineProcess, type EngineSlots, type EngineTuning, openEngine } from './client.js'
export type { Confinement, ConfinementLevel } from './confinement.js'
export { MAX_SEED, MAX_TEMPERATURE } from './constants.js'
export { EngineError, type EngineErrorCode } from './errors.js'
export type { GgufHeader, GgufValue } from './gguf.js'
export { readModelFile } from './gguf-file.js'
export {
  BUILD_MEGABYTES,
  gpuOfThisMachine,
  gpuPackages,
  missingGpuPackages,
  SEPARATE_BUILDS,
  type SeparateBuild,
} from './gpu-builds.js'
export { DRAW, noiseOf } from './gumbel-max.js'
export { hashFile } from './hash-file.js'
export { estimateMemory } from './llama.js'
export { defaultMemoryLimit, residentBytes, usableMemory } from './memory-guard.js'
export { type MergeFiles, mergeAdapter } from './merge-adapter.js'
export { type ModelFacts, modelFactsOf, readModelFacts } from './model-facts.js'
export { openForeignTokenizer, openTokenizer } from './tokenizer.js'
export type {
  AdapterFile,
  AdapterShape,
  Draw,
  Engine,
  EngineOptions,
  EngineResources,
  SampledTurn,
  SlotRequest,
  Token,
  Tokenizer,
  TokenScore,
  TokenSource,
} from './types.js'
