export { type EngineProcess, type EngineTuning, openEngine } from './client.js'
export type { Confinement, ConfinementLevel } from './confinement.js'
export { EngineError, type EngineErrorCode } from './errors.js'
export { hashFile } from './hash-file.js'
export { draws, intervalMiss, miss } from './sampler-draws.js'
export { openTokenizer } from './tokenizer.js'
export type {
  AdapterFile,
  AdapterShape,
  Engine,
  EngineOptions,
  LaneRequest,
  SampledTurn,
  Token,
  TokenInterval,
  Tokenizer,
  TokenSource,
} from './types.js'
