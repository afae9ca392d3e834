import { basename } from 'node:path'
import { Template } from '@huggingface/jinja'
import { EngineError, hashFile, openEngine, openTokenizer, type Token, type Tokenizer } from '../engine/index.js'
import type { ChatModel, ChatReply, ChatRequest } from './chat.js'
import { ChatError, ChatFailure } from './errors.js'

export interface EngineChatOptions {
  /** Path of the GGUF, which must contain a chat template. */
  readonly modelPath: string
  readonly threads: number
  readonly gpu: 'auto' | false
  /** Maximal tokens of one prompt with its reply. */
  readonly contextSize: number
  /** Time limit of one reply. */
  readonly timeoutMs: number
}

/**
 * Opens a local model in the engine's child process. It samples from the full distribution at temperature 1, and answers
 * one request at a time.
 * @throws ChatError `bad_model_file`
 */
export async function openEngineChat(options: EngineChatOptions, signal: AbortSignal): Promise<ChatModel> {
  const { modelPath, threads, gpu, contextSize, timeoutMs } = options
  const refuse = (cause: unknown): ChatError =>
    new ChatError('bad_model_file', `${basename(modelPath)}: ${(cause as Error).message}`, { cause })
  let name: string
  let tokenizer: Tokenizer
  let template: Template
  try {
    name = `${basename(modelPath)}@${(await hashFile(modelPath, signal)).slice(0, 12)}`
    tokenizer = await openTokenizer(modelPath)
    template = new Template(tokenizer.chatTemplate)
  } catch (cause) {
    signal.throwIfAborted()
    throw refuse(cause)
  }
  const engine = await openEngine({ modelPath, threads, contextSize, slots: 1, gpu }).catch(async (cause) => {
    await tokenizer.close()
    throw refuse(cause)
  })
  let closing: Promise<void> | undefined
  return {
    name,
    async complete(request, outer) {
      const prompt = promptOf(request, template, tokenizer)
      const capacity = contextSize - prompt.length
      if (capacity < 1)
        throw new ChatFailure('rejected', `the prompt has ${prompt.length} tokens, the context ${contextSize}`)
      const timeout = AbortSignal.timeout(timeoutMs)
      const joined = AbortSignal.any([outer, timeout])
      try {
        const [slot] = await engine.openSlots([{ prompt, seeds: [request.seed] }], joined)
        try {
          const { tokens, stop } = await slot!.next([], Math.min(request.maxTokens, capacity), joined)
          return replyOf(tokens, stop, prompt, tokenizer)
        } finally {
          await slot!.close()
        }
      } catch (error) {
        outer.throwIfAborted()
        if (timeout.aborted) throw new ChatFailure('timeout', `no reply within ${timeoutMs} ms`)
        if (!(error instanceof EngineError)) throw error
        const kind = error.code === 'context_full' ? 'rejected' : 'server_error'
        throw new ChatFailure(kind, error.message.slice(0, 300), undefined, { cause: error })
      }
    },
    close() {
      closing ??= engine.close().then(() => tokenizer.close())
      return closing
    },
  }
}

/** Renders a request with the model's chat template. Without a system role, the system text becomes part of the user turn. */
function promptOf({ system, user }: ChatRequest, template: Template, tokenizer: Tokenizer): Token[] {
  for (const text of [system, user]) {
    const plain = tokenizer.tokenize(text, false)
    const special = tokenizer.tokenize(text, true)
    if (plain.length !== special.length || plain.some((token, i) => token !== special[i]))
      throw new ChatFailure('rejected', 'the prompt contains a control token of the model')
  }
  const render = (messages: readonly { role: string; content: string }[]): string =>
    template.render({ messages, add_generation_prompt: true })
  try {
    const messages = [
      { role: 'system', content: system },
      { role: 'user', content: user },
    ]
    return tokenizer.tokenize(render(messages), true)
  } catch {
    try {
      return tokenizer.tokenize(render([{ role: 'user', content: `${system}\n\n${user}` }]), true)
    } catch (cause) {
      throw new ChatFailure('rejected', `the chat template fails: ${(cause as Error).message.slice(0, 200)}`)
    }
  }
}

function replyOf(
  tokens: readonly Token[],
  stop: 'end' | 'length',
  prompt: readonly Token[],
  tokenizer: Tokenizer,
): ChatReply {
  const text = stop === 'end' ? tokens.slice(0, -1) : tokens
  return {
    text: tokenizer.detokenize(text),
    stop,
    usage: { promptTokens: prompt.length, completionTokens: tokens.length },
  }
}
