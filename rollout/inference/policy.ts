import { type AdapterFile, type Engine, openEngine, openTokenizer, type Tokenizer } from '../engine/index.js'
import { createPromptRenderer, type Dialect, type PromptRenderer } from '../episode/index.js'

/** A model that can be talked to: base and adapter in the engine, and the dialect that it was trained in. */
export interface ServedPolicy {
  readonly name: string
  readonly engine: Engine
  readonly tokenizer: Tokenizer
  readonly dialect: Dialect
  readonly renderer: PromptRenderer
  /** Tokens of the longest conversation, its last answer included. */
  readonly contextSize: number
  /** Answers that can be sampled at the same time. */
  readonly lanes: number
  close(): Promise<void>
}

export interface PolicyOptions {
  readonly name: string
  /** Path of the base GGUF. */
  readonly modelPath: string
  /** Null: the bare base. */
  readonly adapter: AdapterFile | null
  readonly dialect: Dialect
  readonly contextSize: number
  readonly lanes: number
  readonly threads: number
  readonly gpu: 'auto' | false
}

/** @throws EngineError `model_refused`, `adapter_refused`; EpisodeError `bad_template`; the signal's reason */
export async function openPolicy(options: PolicyOptions, signal: AbortSignal): Promise<ServedPolicy> {
  const { name, modelPath, adapter, dialect, contextSize, lanes, threads, gpu } = options
  const tokenizer = await openTokenizer(modelPath)
  try {
    const renderer = createPromptRenderer(tokenizer, dialect)
    // What is asked next mostly begins with the conversation so far.
    const engine = await openEngine({ modelPath, contextSize, lanes, threads, gpu }, { keepCaches: true })
    try {
      if (adapter !== null) await engine.usePolicy(adapter, signal)
    } catch (error) {
      await engine.close()
      throw error
    }
    return {
      ...{ name, engine, tokenizer, dialect, renderer, contextSize, lanes },
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
