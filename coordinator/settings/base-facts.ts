import { type GgufHeader, type ModelFacts, modelFactsOf, readModelFile } from '../../rollout/engine/index.js'
import { ConfigError } from './config.js'

/** Architectures of the trainer, see contract.json. */
export const TRAINED_ARCHITECTURES = ['granite', 'llama', 'qwen2', 'qwen3']

/** Keys of RoPE that the trainer computes, or that change nothing, see contract.json. */
export const ROPE_KEYS = [
  'dimension_count',
  'freq_base',
  'scale_linear',
  'scaling.factor',
  'scaling.finetuned',
  'scaling.original_context_length',
  'scaling.type',
]

/** Facts of a base that the trainer can train, from the header of its file. */
export interface BaseFacts extends ModelFacts {
  readonly layers: number
  readonly heads: number
  readonly keyHeads: number
  /** Numbers of a token between two layers. */
  readonly width: number
  /** Longest context, in tokens. */
  readonly context: number
  readonly vocabulary: number
  /** Ids of the special tokens by role, for example `bos`. */
  readonly specialTokens: ReadonlyMap<string, number>
  /** Whether the file has a chat template. */
  readonly hasTemplate: boolean
}

const SPECIAL = ['bos', 'eos', 'eot', 'unknown', 'padding']

/**
 * Reads the header of a base model, and checks what the trainer would refuse in it.
 * @param chatTemplate  see `readModelFile`
 * @throws ConfigError for a model that cannot be trained; EngineError `model_refused`
 */
export function readBase(path: string, chatTemplate: 'required' | 'optional' = 'required'): BaseFacts {
  return baseFactsOf(readModelFile(path, chatTemplate), path)
}

/** Returns the facts of a base from its header. @throws ConfigError for a model that cannot be trained */
export function baseFactsOf(header: GgufHeader, path: string): BaseFacts {
  const facts = modelFactsOf(header)
  const { metadata } = header
  const { architecture } = facts
  const refused = (why: string): ConfigError => new ConfigError(`${path}: ${why}: choose another model`)
  if (!TRAINED_ARCHITECTURES.includes(architecture))
    throw refused(
      `the trainer supports the architectures ${TRAINED_ARCHITECTURES.join(', ')}, and this model is ${architecture}`,
    )
  checkRope(header, architecture, refused)
  const number = (name: string, standard?: number): number => {
    const key = `${architecture}.${name}`
    const value = metadata.get(key) ?? standard
    if (typeof value === 'number' && Number.isInteger(value) && value > 0) return value
    const [first, ...others] = typeof value === 'object' ? (value.entries ?? []) : []
    if (typeof first !== 'number' || !Number.isInteger(first) || first < 1)
      throw refused(`its metadata has no valid ${key}`)
    if (others.some((other) => other !== first)) throw refused(`${key} differs between its layers`)
    return first
  }
  const heads = number('attention.head_count')
  const tokens = metadata.get('tokenizer.ggml.tokens')
  return {
    ...facts,
    layers: number('block_count'),
    heads,
    keyHeads: number('attention.head_count_kv', heads),
    width: number('embedding_length'),
    context: number('context_length'),
    vocabulary: typeof tokens === 'object' ? tokens.count : 0,
    specialTokens: new Map(
      SPECIAL.flatMap((role) => {
        const id = metadata.get(`tokenizer.ggml.${role}_token_id`)
        return typeof id === 'number' ? [[role, id] as const] : []
      }),
    ),
    hasTemplate: metadata.has('tokenizer.chat_template'),
  }
}

/** Checks that the trainer computes the file's angles of RoPE, as prove_trainer/gguf_config.py does. */
function checkRope({ metadata }: GgufHeader, architecture: string, refused: (why: string) => ConfigError): void {
  const prefix = `${architecture}.rope.`
  for (const key of metadata.keys())
    if (key.startsWith(prefix) && !ROPE_KEYS.includes(key.slice(prefix.length)))
      throw refused(`the trainer does not compute the RoPE scaling of ${key}`)
  const type = metadata.get(`${prefix}scaling.type`) ?? 'linear'
  if (type !== 'linear' && type !== 'none')
    throw refused(`the trainer does not compute the RoPE scaling ${String(type)}`)
  if (architecture === 'granite' && metadata.get(`${prefix}scaling.finetuned`) === false)
    throw refused('the trainer does not compute a Granite without RoPE')
}
