import { type AdapterFile, type Engine, openEngine, openTokenizer, type Tokenizer } from '../engine/index.js'
import { createPromptRenderer, type PromptRenderer, type ToolCallFormat } from '../episode/index.js'

/** A model that can be talked to: base and adapter in the engine, and the dialect that it was trained in. */
export interface ServedPolicy {
  readonly name: string
  readonly engine: Engine
  readonly tokenizer: Tokenizer
  readonly toolCallFormat: ToolCallFormat
  readonly renderer: PromptRenderer
  /** Tokens of the longest conversation, its last answer included. */
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

/** @throws EngineError `model_refused`, `adapter_refused`; EpisodeError `bad_template`; the signal's reason */
export async function openPolicy(options: PolicyOptions, signal: AbortSignal): Promise<ServedPolicy> {
  const { name, modelPath, adapter, toolCallFormat, contextSize, slots, threads, gpu } = options
  const tokenizer = await openTokenizer(modelPath)
  try {
    const renderer = createPromptRenderer(tokenizer, toolCallFormat)
    // What is asked next mostly begins with the conversation so far.
    const engine = await openEngine({ modelPath, contextSize, slots, threads, gpu }, { keepCaches: true })
    try {
      if (adapter !== null) await engine.usePolicy(adapter, signal)
    } catch (error) {
      await engine.close()
      throw error
    }
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
}
