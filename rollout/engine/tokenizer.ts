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
