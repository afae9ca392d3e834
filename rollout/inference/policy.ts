import { type AdapterFile, type Engine, openEngine, openTokenizer, type Tokenizer } from '../engine/index.js'
import { createPromptRenderer, type PromptRenderer, requireFormat, type ToolCallFormat } from '../episode/index.js'

/** A served policy: base and adapter in the engine, and the tool-call format of its training. */
export interface ServedPolicy {
  readonly name: string
  readonly engine: Engine
  readonly tokenizer: Tokenizer
  readonly toolCallFormat: ToolCallFormat
  readonly renderer: PromptRenderer
  /** Maximal tokens of a conversation, its last answer included. */
  readonly contextSize: number
  /** Answers that can be sampled at the same time. */
  readonly slots: number
  close(): Promise<void>
}

export interface PolicyOptions {
  readonly name: string
  /** Path of the base GGUF. */
  readonly modelPath: string
  /** Null: the bare base. */
  readonly adapter: AdapterFile | null
  readonly toolCallFormat: ToolCallFormat
  readonly contextSize: number
  readonly slots: number
  readonly threads: number
  readonly gpu: 'auto' | false
}

/** Opens a policy for serving. @throws EngineError `model_refused`, `adapter_refused`; EpisodeError `bad_template`; the signal's reason */
export async function openPolicy(options: PolicyOptions, signal: AbortSignal): Promise<ServedPolicy> {
  const { name, modelPath, adapter, toolCallFormat, contextSize, slots, threads, gpu } = options
  // Requests usually begin with the conversation so far, whose cache is reused. The confined process reads the file first: a header on
  // which llama.cpp aborts must not end this one.
  const engine = await openEngine({ modelPath, contextSize, slots, threads, gpu }, { keepCaches: true })
  try {
    const tokenizer = await openTokenizer(modelPath)
    try {
      requireFormat(tokenizer, toolCallFormat, modelPath)
      const renderer = createPromptRenderer(tokenizer, toolCallFormat)
      if (adapter !== null) await engine.usePolicy(adapter, signal)
      return {
        ...{ name, engine, tokenizer, toolCallFormat, renderer, contextSize, slots },
        async close() {
          await engine.close()
          await tokenizer.close()
        },
      }
    } catch (error) {
      await tokenizer.close()
      throw error
    }
  } catch (error) {
    await engine.close()
    throw error
  }
}
