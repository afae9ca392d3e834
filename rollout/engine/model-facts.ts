import { readModelFile } from './gguf-file.js'

/** What a model's file says of itself. */
export interface ModelFacts {
  /** Numbers in all of its tensors. */
  readonly parameters: number
  /** As GGUF names it, for example `qwen3`. */
  readonly architecture: string
  /** Null: it has none. */
  readonly name: string | null
  /** As files are labelled, for example `q8_0`; null: a type that has no name here. */
  readonly quantisation: string | null
}

/** `general.file_type` (gguf-py `LlamaFileType`), those that are in use. */
const FILE_TYPES: Readonly<Record<number, string>> = {
  ...{ 0: 'f32', 1: 'f16', 32: 'bf16' },
  ...{ 2: 'q4_0', 3: 'q4_1', 7: 'q8_0', 8: 'q5_0', 9: 'q5_1' },
  ...{ 10: 'q2_k', 11: 'q3_k_s', 12: 'q3_k_m', 13: 'q3_k_l', 14: 'q4_k_s', 15: 'q4_k_m' },
  ...{ 16: 'q5_k_s', 17: 'q5_k_m', 18: 'q6_k', 25: 'iq4_nl', 30: 'iq4_xs' },
}

/** Reads the header of a base model, and no weights. @throws EngineError `model_refused` */
export function readModelFacts(path: string): ModelFacts {
  const { metadata, tensors } = readModelFile(path)
  const name = metadata.get('general.name')
  const type = metadata.get('general.file_type')
  return {
    parameters: [...tensors.values()].reduce((sum, { shape }) => sum + shape.reduce((a, b) => a * b, 1), 0),
    architecture: metadata.get('general.architecture') as string,
    name: typeof name === 'string' && name.length > 0 ? name : null,
    quantisation: typeof type === 'number' ? (FILE_TYPES[type] ?? null) : null,
  }
}
