import { openVocabulary } from './llama.js'
import type { Tokenizer } from './types.js'

/**
 * Opens the tokenizer of a GGUF in this process: its vocabulary and chat template, no weights.
 *
 * Text is normalised to NFC first, which Qwen's tokenizer does and llama.cpp leaves out. Detokenising writes special tokens
 * out, so that text shows everything the policy sampled; take a turn's end-of-generation token off by its id first.
 * @throws EngineError `model_refused`
 */
export async function openTokenizer(modelPath: string): Promise<Tokenizer> {
  const vocabulary = await openVocabulary(modelPath)
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
