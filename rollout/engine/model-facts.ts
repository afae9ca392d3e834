import type { GgufHeader } from './gguf.js'
import { readModelFile } from './gguf-file.js'

/** Facts from the header of a model's file. */
export interface ModelFacts {
  /** Number of values in all tensors. */
  readonly parameters: number
  /** GGUF's name, for example `qwen3`. */
  readonly architecture: string
  /** Null: the file has no name. */
  readonly name: string | null
  /** The usual label, for example `q8_0`; null: an unknown type. */
  readonly quantisation: string | null
}

/** Names of the usual values of `general.file_type` (gguf-py `LlamaFileType`). */
const FILE_TYPES: Readonly<Record<number, string>> = {
  ...{ 0: 'f32', 1: 'f16', 32: 'bf16' },
  ...{ 2: 'q4_0', 3: 'q4_1', 7: 'q8_0', 8: 'q5_0', 9: 'q5_1' },
  ...{ 10: 'q2_k', 11: 'q3_k_s', 12: 'q3_k_m', 13: 'q3_k_l', 14: 'q4_k_s', 15: 'q4_k_m' },
  ...{ 16: 'q5_k_s', 17: 'q5_k_m', 18: 'q6_k', 25: 'iq4_nl', 30: 'iq4_xs' },
}

/** Reads the header of a base model, without weights. @throws EngineError `model_refused` */
export const readModelFacts = (path: string): ModelFacts => modelFactsOf(readModelFile(path))

/** Returns the facts of a base model from its header. */
export function modelFactsOf({ metadata, tensors }: GgufHeader): ModelFacts {
  const name = metadata.get('general.name')
  const type = metadata.get('general.file_type')
  return {
    parameters: [...tensors.values()].reduce((sum, { shape }) => sum + shape.reduce((a, b) => a * b, 1), 0),
    architecture: metadata.get('general.architecture') as string,
    name: typeof name === 'string' && name.length > 0 ? name : null,
    quantisation: typeof type === 'number' ? (FILE_TYPES[type] ?? null) : null,
  }
}
