import {
  GgmlType,
  GgufInsights,
  getLlama,
  getModuleVersion,
  type Llama,
  type LlamaContext,
  LlamaLogLevel,
  type LlamaModel,
  type LlamaOptions,
  type Token as NativeToken,
  readGgufFileInfo,
} from 'node-llama-cpp'
import { CACHE_BLOCK, type CacheType, deviceKind, type GpuInterface, type Placement, USUAL_CACHE } from './backend.js'
import { BATCH_TOKENS } from './constants.js'
import { createDecoder, type Decoder } from './decoder.js'
import { openSamplers } from './distribution.js'
import { EngineError } from './errors.js'
import { type Estimate, type Fit, fitInto } from './fit.js'
import { readModelFile } from './gguf-file.js'
import { createDrawTable } from './gumbel-max.js'
import { defaultMemoryLimit } from './memory-guard.js'
import { createNativeSampler, nativeContext } from './native.js'
import { type LlamaSequence, openAll } from './sequence.js'
import type { AdapterFile, EngineOptions, Token } from './types.js'

/** Token type of the GGUF format: an added token which is not a control token, so it parses in plain text too. */
const USER_DEFINED = 4

/** llama.cpp's tokenizer of a GGUF. */
export interface LlamaVocabulary {
  readonly size: number
  readonly chatTemplate: string
  readonly userDefined: readonly string[]
  tokenize(text: string, special: boolean): Token[]
  /** Converts tokens to text, special tokens included. */
  detokenize(tokens: readonly Token[]): string
  isEndOfGeneration(token: Token): boolean
  dispose(): Promise<void>
}

/**
 * Opens a GGUF's vocabulary without its weights.
 * @param otherTemplate  a chat template in place of the file's
 * @throws EngineError `model_refused`
 */
export async function openVocabulary(modelPath: string, otherTemplate?: string): Promise<LlamaVocabulary> {
  readModelFile(modelPath, otherTemplate === undefined ? 'required' : 'optional')
  // A prebuilt binary or nothing: otherwise a missing one starts a git and cmake build on the volunteer's machine.
  const llama = await getLlama({ gpu: false, build: 'never', logLevel: LlamaLogLevel.error, logger, maxThreads: 1 })
  try {
    const model = await loadModel(llama, modelPath, true)
    const metadata = model.fileInfo.metadata.tokenizer
    const { chat_template: ownTemplate, ggml } = metadata
    const chatTemplate = otherTemplate ?? ownTemplate
    if (chatTemplate === undefined) throw new EngineError('model_refused', `${modelPath} has no chat template`)
    return {
      size: ggml.tokens.length,
      chatTemplate,
      userDefined: ggml.tokens.filter((_, token) => ggml.token_type[token] === USER_DEFINED),
      tokenize: (text, special) => model.tokenize(text, special),
      detokenize: (tokens) => model.detokenize(native(tokens), true),
      isEndOfGeneration: (token) => model.isEogToken(token as NativeToken),
      dispose: async () => {
        await model.dispose()
        await llama.dispose()
      },
    }
  } catch (cause) {
    await llama.dispose()
    throw cause
  }
}

/** A base model with one context under one adapter. */
export interface LlamaPolicy {
  readonly version: string
  readonly placement: Placement
  readonly vocabularySize: number
  readonly sequences: readonly LlamaSequence[]
  isEndOfGeneration(token: Token): boolean
  /** Switches to another adapter. `sequences` are new afterwards. On failure the previous adapter is restored. */
  swap(adapter: AdapterFile | null): Promise<void>
  dispose(): Promise<void>
}

/**
 * Loads a base model and creates its context.
 * @param inOrder  whether the library runs its calls one after the other, see thread-pool.ts
 * @param without  interfaces to GPUs that must not be used
 * @throws EngineError `model_refused`, `adapter_refused`
 */
export async function openPolicy(
  options: EngineOptions,
  adapter: AdapterFile | null,
  inOrder = false,
  without: readonly GpuInterface[] = [],
): Promise<LlamaPolicy> {
  const { contextSize, modelPath, cacheType = USUAL_CACHE } = options
  const { llama, fit, insights, deviceNames } = await openMachine(options, without)
  const { slots, layers } = fit
  const model = await loadModel(llama, modelPath, false, layers)
  const flashAttention = usesFlashAttention(insights, layers, cacheType)
  const cache = GGML_TYPES[cacheType]
  const createContext = async (lora: AdapterFile | null): Promise<LlamaContext> => {
    const context = await model
      .createContext({
        contextSize,
        sequences: slots,
        batchSize: BATCH_TOKENS,
        threads: options.threads,
        flashAttention,
        ...{ experimentalKvCacheKeyType: cache, experimentalKvCacheValueType: cache },
        ...(lora === null ? {} : { lora: lora.path }),
      })
      .catch((cause: unknown) => {
        throw lora === null
          ? new EngineError(
              'model_refused',
              `cannot create a context of ${slots} x ${contextSize} tokens: ${text(cause)}`,
              {
                cause,
              },
            )
          : new EngineError('adapter_refused', `${lora.path}: ${text(cause)}`, { cause })
      })
    if (context.contextSize >= contextSize) return context
    await context.dispose()
    throw new EngineError(
      'model_refused',
      `the model's context has ${context.contextSize} tokens, the run needs ${contextSize}`,
    )
  }
  let context = await createContext(adapter)
  let current = adapter
  const vocabularySize = model.fileInfo.metadata.tokenizer.ggml.tokens.length
  const table = createDrawTable(vocabularySize)
  const samplers = Array.from({ length: slots }, () => openSamplers(() => createNativeSampler(model)))
  let decoder: Decoder
  const openSequences = (): readonly LlamaSequence[] => {
    const native = nativeContext(context)
    decoder = createDecoder(native, { batchTokens: BATCH_TOKENS, contextSize, inOrder })
    return openAll({ native, decoder, samplers, table, inOrder })
  }
  let sequences = openSequences()
  return {
    version: await getModuleVersion(),
    placement: {
      device: llama.gpu === false ? 'cpu' : deviceKind(llama.gpu, deviceNames),
      deviceNames,
      layers: model.gpuLayers,
      allLayers: insights.totalLayers,
      flashAttention,
      cacheType,
      slots,
      contextSize,
      mainBytes: fit.needs.main,
      gpuBytes: fit.needs.gpu,
    },
    vocabularySize,
    get sequences() {
      return sequences
    },
    isEndOfGeneration: (token) => model.isEogToken(token as NativeToken),
    swap: async (next) => {
      await decoder.idle()
      await context.dispose()
      let refusal: unknown
      try {
        context = await createContext(next)
        current = next
      } catch (error) {
        refusal = error
        context = await createContext(current).catch((cause: unknown) => {
          throw new EngineError('engine_failed', `the previous policy could not be restored: ${text(cause)}`, { cause })
        })
      }
      sequences = openSequences()
      if (refusal !== undefined) throw refusal
    },
    dispose: async () => {
      await decoder.idle()
      await context.dispose()
      for (const { greedy, drawing } of samplers) for (const sampler of [greedy, drawing]) sampler.dispose()
      await model.dispose()
      await llama.dispose()
    },
  }
}

interface Machine {
  readonly llama: Llama
  readonly insights: GgufInsights
  readonly fit: Fit
  readonly deviceNames: readonly string[]
}

/**
 * Chooses the build and the devices for a model. If the GPU build finds no device, or none with space for a single layer, the CPU
 * build is used: the GPU build would still compute large batches on the device, or with other kernels.
 * @throws EngineError `model_refused`
 */
async function openMachine(options: EngineOptions, without: readonly GpuInterface[]): Promise<Machine> {
  if (options.gpu === 'auto') {
    const machine = await openBuild(options, { type: 'auto', exclude: [...without] })
    if (machine.llama.gpu === false || machine.fit.layers > 0) return machine
    await machine.llama.dispose()
  }
  return await openBuild(options, false)
}

async function openBuild(options: EngineOptions, gpu: NonNullable<LlamaOptions['gpu']>): Promise<Machine> {
  const { gpuMemoryShare, modelPath, memoryLimitBytes = defaultMemoryLimit() } = options
  // Both thread settings are explicit: the default of at least 4 threads fell to 0.5 tokens/s on 2 busy cores.
  const llama = await getLlama({
    gpu,
    build: 'never',
    logLevel: LlamaLogLevel.error,
    logger,
    maxThreads: options.threads,
    ...(gpuMemoryShare === undefined
      ? {}
      : { vramPadding: (total: number) => Math.ceil((1 - gpuMemoryShare) * total) }),
  })
  try {
    const insights = await insightsOf(llama, modelPath)
    checkCache(insights, options)
    const deviceNames = llama.gpu === false ? [] : await llama.getGpuDeviceNames()
    const { free } = await llama.getVramState()
    const capacity = {
      main: memoryLimitBytes - process.memoryUsage.rss(),
      gpu: Math.max(0, free - llama.vramPaddingSize),
    }
    const layers = deviceNames.length === 0 ? 0 : insights.totalLayers
    const fit = await fitInto(capacity, { layers, slots: options.slots }, estimateFor(insights, options)).catch(
      (cause: unknown) => {
        if (!(cause instanceof EngineError)) throw cause
        throw new EngineError(cause.code, `${modelPath}: ${cause.detail}`, { cause })
      },
    )
    return { llama, insights, fit, deviceNames }
  } catch (error) {
    await llama.dispose()
    throw error
  }
}

/**
 * Estimates the main memory of an engine without a GPU, from the header of its model.
 * @throws EngineError `model_refused`
 */
export async function estimateMemory(
  options: Pick<EngineOptions, 'modelPath' | 'contextSize' | 'slots' | 'cacheType'>,
): Promise<number> {
  const llama = await getLlama({ gpu: false, build: 'never', logLevel: LlamaLogLevel.error, logger, maxThreads: 1 })
  try {
    const insights = await insightsOf(llama, options.modelPath)
    const { main } = await estimateFor(insights, options)(0, options.slots)
    return main
  } finally {
    await llama.dispose()
  }
}

async function insightsOf(llama: Llama, modelPath: string): Promise<GgufInsights> {
  try {
    return await GgufInsights.from(await readGgufFileInfo(modelPath, { sourceType: 'filesystem' }), llama)
  } catch (cause) {
    throw new EngineError('model_refused', `${modelPath}: ${text(cause)}`, { cause })
  }
}

const GGML_TYPES: Readonly<Record<CacheType, GgmlType>> = { f16: GgmlType.F16, q8_0: GgmlType.Q8_0 }

/**
 * Whether a model uses flash attention. On a CPU it makes a prefill differ from single steps by 8e-3 nats, so scores would not
 * reproduce. There only a quantised cache uses it, which requires it and has larger roundings.
 */
const usesFlashAttention = (insights: GgufInsights, layers: number, cacheType: CacheType): boolean =>
  insights.flashAttentionSupported && (layers > 0 || cacheType !== USUAL_CACHE)

/** Checks the cache type. @throws EngineError `model_refused` if llama.cpp does not support it, which it would not report clearly */
function checkCache(
  insights: GgufInsights,
  { modelPath, cacheType = USUAL_CACHE }: Pick<EngineOptions, 'modelPath' | 'cacheType'>,
): void {
  if (cacheType === USUAL_CACHE) return
  const refused = (why: string): EngineError =>
    new EngineError(
      'model_refused',
      `${modelPath}: a cache of type ${cacheType} ${why}: use the type ${USUAL_CACHE} for this model`,
    )
  if (!insights.flashAttentionSupported)
    throw refused('needs flash attention, which llama.cpp does not support for this model')
  const { attention, embedding_length: width } = insights.ggufFileInfo.architectureMetadata
  const length = attention?.key_length ?? (width ?? 0) / Number(attention?.head_count ?? 1)
  if (length % CACHE_BLOCK !== 0)
    throw refused(`needs heads whose length is a multiple of ${CACHE_BLOCK}, and this one is ${length}`)
}

const estimateFor =
  (
    insights: GgufInsights,
    { contextSize, cacheType = USUAL_CACHE }: Pick<EngineOptions, 'contextSize' | 'cacheType'>,
  ): Estimate =>
  async (layers, slots) => {
    const model = await insights.estimateModelResourceRequirementsV2({ gpuLayers: layers })
    const context = await insights.estimateContextResourceRequirementsV2({
      contextSize,
      modelGpuLayers: layers,
      batchSize: BATCH_TOKENS,
      sequences: slots,
      flashAttention: usesFlashAttention(insights, layers, cacheType),
      ...{ kvCacheKeyType: GGML_TYPES[cacheType], kvCacheValueType: GGML_TYPES[cacheType] },
    })
    return { main: model.cpuRam + context.cpuRam, gpu: model.gpuVram + context.gpuVram }
  }

async function loadModel(llama: Llama, modelPath: string, vocabOnly: boolean, gpuLayers = 0): Promise<LlamaModel> {
  return await llama.loadModel({ modelPath, vocabOnly, gpuLayers }).catch((cause: unknown) => {
    throw new EngineError('model_refused', `${modelPath}: ${text(cause)}`, { cause })
  })
}

/** Converts token ids to the library's branded type, in a new array: the library keeps it. */
function native(tokens: readonly Token[]): NativeToken[] {
  return [...tokens] as NativeToken[]
}

/** Logs to stderr: stdout belongs to the program that embeds the engine. */
function logger(_level: LlamaLogLevel, message: string): void {
  process.stderr.write(message.endsWith('\n') ? message : `${message}\n`)
}

function text(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
}
