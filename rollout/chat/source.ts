import type { ChatModel } from './chat.js'
import { openEngineChat } from './engine-chat.js'
import { openOpenAiChat } from './openai-chat.js'

/** The source of a language model: a server or a model file. */
export type Source =
  | { readonly kind: 'server'; readonly url: string; readonly model?: string; readonly apiKey?: string | undefined }
  | {
      readonly kind: 'file'
      readonly modelPath: string
      readonly threads: number
      readonly gpu: 'auto' | false
      readonly contextSize: number
    }

/**
 * Opens a language model. For a server without a model name, it requests the list of models.
 * @param timeoutMs  time limit of one request, until the last byte of the reply
 * @throws ChatError; the signal's reason when it aborts
 */
export function openChat(source: Source, timeoutMs: number, signal: AbortSignal): Promise<ChatModel> {
  if (source.kind === 'file') return openEngineChat({ ...source, timeoutMs }, signal)
  const { url, model, apiKey } = source
  return openOpenAiChat({ url, ...(model === undefined ? {} : { model }), apiKey, timeoutMs }, signal)
}
