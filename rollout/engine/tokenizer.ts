import { openEngine } from './client.js'
import { openVocabulary } from './llama.js'
import type { Tokenizer } from './types.js'

/**
 * Opens the tokenizer of a GGUF in this process, with its vocabulary and chat template but no weights.
 *
 * Text is first normalised to NFC, as in Qwen's tokenizer; llama.cpp omits this. Detokenising includes special tokens, so that text
 * shows everything that the policy sampled. Callers remove a turn's end-of-generation token by its id first.
 * @param otherTemplate  a chat template in place of the file's
 * @throws EngineError `model_refused`
 */
export async function openTokenizer(modelPath: string, otherTemplate?: string): Promise<Tokenizer> {
  const vocabulary = await openVocabulary(modelPath, otherTemplate)
  let closing: Promise<void> | undefined
  return {
    vocabularySize: vocabulary.size,
    chatTemplate: vocabulary.chatTemplate,
    reservedTags: vocabulary.userDefined,
    tokenize: (text, special) => vocabulary.tokenize(text.normalize('NFC'), special),
    detokenize: (tokens) => vocabulary.detokenize(tokens),
    isEndOfGeneration: (token) => vocabulary.isEndOfGeneration(token),
    close: () => {
      closing ??= vocabulary.dispose()
      return closing
    },
  }
}

const SMALLEST = { threads: 1, contextSize: 256, slots: 1, gpu: false } as const

/**
 * Opens the tokenizer of a file that a stranger chose. The engine's confined process reads the file first: a header on which llama.cpp
 * aborts ends that process and not this one.
 * @throws EngineError `model_refused`, `engine_crashed`
 */
export async function openForeignTokenizer(modelPath: string): Promise<Tokenizer> {
  const engine = await openEngine({ modelPath, ...SMALLEST })
  await engine.close()
  return openTokenizer(modelPath)
}
