import {
  GgufInsights,
  getLlama,
  getModuleVersion,
  type Llama,
  type LlamaContext,
  type LlamaContextSequence,
  LlamaLogLevel,
  type LlamaModel,
  type Token as NativeToken,
  readGgufFileInfo,
} from 'node-llama-cpp'
import { deviceKind, type Placement } from './backend.js'
import { BATCH_TOKENS } from './constants.js'
import { createDistributionReader, type DistributionReader, NO_SHIFT } from './distribution.js'
import { createDrawTable, type DrawTable, noiseOf } from './draw.js'
import { EngineError } from './errors.js'
import { type Estimate, type Fit, fitInto } from './fit.js'
import { readModelFile } from './gguf-file.js'
import { defaultMemoryLimit } from './memory-guard.js'
import { copySequence } from './sequence-copy.js'
import { EVIDENCE_REACH, evidenceOf, logprobOf } from './token-evidence.js'
import type { AdapterFile, Draw, EngineOptions, Token, TokenEvidence } from './types.js'

/** Token type of the GGUF format: an added token which is not a control token, so it parses in plain text too. */
const USER_DEFINED = 4

/** A GGUF's tokenizer, in llama.cpp's words. */
export interface LlamaVocabulary {
  readonly size: number
  readonly chatTemplate: string
  readonly userDefined: readonly string[]
  tokenize(text: string, special: boolean): Token[]
  /** Special tokens are written out. */
  detokenize(tokens: readonly Token[]): string
  isEndOfGeneration(token: Token): boolean
  dispose(): Promise<void>
}

/** Opens a GGUF's vocabulary without its weights. @throws EngineError `model_refused` */
export async function openVocabulary(modelPath: string): Promise<LlamaVocabulary> {
  readModelFile(modelPath)
  // A prebuilt binary or nothing: otherwise a missing one starts a git and cmake build on the volunteer's machine.
  const llama = await getLlama({ gpu: false, build: 'never', logLevel: LlamaLogLevel.error, logger, maxThreads: 1 })
  try {
    const model = await loadModel(llama, modelPath, true)
    const metadata = model.fileInfo.metadata.tokenizer
    const { chat_template: chatTemplate, ggml } = metadata
    if (chatTemplate === undefined) throw new EngineError('model_refused', `${modelPath} holds no chat template`)
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

/** The tokens of one assistant turn as they are sampled. */
export interface LlamaTurn {
  /** The token before is in the sequence's cache then, this one is not yet. */
  next(): Promise<{ readonly token: Token; readonly logprob: number }>
}

/** One rollout's key-value cache. */
export interface LlamaSequence {
  clear(): Promise<void>
  /** Computes the cache of `tokens`, which follow what the cache already holds. */
  prefill(tokens: readonly Token[]): Promise<void>
  /** Puts the cache of another sequence of the policy, or that of its first tokens, in place of its own. */
  copyFrom(other: LlamaSequence, tokens?: number): Promise<void>
  /** Drops what the cache holds beyond what it begins with in common with `tokens`. @returns  how many tokens that is */
  keepPrefix(tokens: readonly Token[]): Promise<number>
  begin(feed: readonly Token[], seed: number, temperature: number): LlamaTurn
  /**
   * Feeds `tokens` in one go and tells what the distribution after `tokens[i]` says of `targets[i]`; null where it is null.
   * @param draws  behind each target, for all evidence on it, null where there is none; null altogether: the log-probability
   *               alone, all else is NaN
   */
  predict(
    tokens: readonly Token[],
    targets: readonly (Token | null)[],
    draws: readonly (Draw | null)[] | null,
  ): Promise<(TokenEvidence | null)[]>
}

/** A base model with one context under one adapter. */
export interface LlamaPolicy {
  readonly version: string
  readonly placement: Placement
  readonly vocabularySize: number
  readonly sequences: readonly LlamaSequence[]
  isEndOfGeneration(token: Token): boolean
  /** Puts another adapter in force; `sequences` are new afterwards. On failure the previous adapter is in force again. */
  swap(adapter: AdapterFile | null): Promise<void>
  dispose(): Promise<void>
}

/** @throws EngineError `model_refused`, `adapter_refused` */
export async function openPolicy(options: EngineOptions, adapter: AdapterFile | null): Promise<LlamaPolicy> {
  const { contextSize, modelPath } = options
  const { llama, fit, insights, deviceNames } = await openMachine(options)
  const { lanes, layers } = fit
  const model = await loadModel(llama, modelPath, false, layers)
  // On a CPU it makes a prefill differ from single steps by 8e-3 nats, so scores would not reproduce.
  const flashAttention = layers > 0 && insights.flashAttentionSupported
  const createContext = async (lora: AdapterFile | null): Promise<LlamaContext> => {
    const context = await model
      .createContext({
        contextSize,
        sequences: lanes,
        batchSize: BATCH_TOKENS,
        threads: options.threads,
        flashAttention,
        ...(lora === null ? {} : { lora: lora.path }),
      })
      .catch((cause: unknown) => {
        throw lora === null
          ? new EngineError('model_refused', `no context of ${lanes} x ${contextSize} tokens: ${text(cause)}`, {
              cause,
            })
          : new EngineError('adapter_refused', `${lora.path}: ${text(cause)}`, { cause })
      })
    if (context.contextSize >= contextSize) return context
    await context.dispose()
    throw new EngineError('model_refused', `the context holds ${context.contextSize} tokens, ${contextSize} wanted`)
  }
  let context = await createContext(adapter)
  let current = adapter
  const vocabularySize = model.fileInfo.metadata.tokenizer.ggml.tokens.length
  const table = createDrawTable(vocabularySize)
  const readers = Array.from({ length: lanes }, () => createDistributionReader(model))
  const natives = new WeakMap<LlamaSequence, LlamaContextSequence>()
  const openSequences = () =>
    readers.map((reader) => {
      const native = context.getSequence()
      const sequence = wrapSequence(native, table, reader, vocabularySize, (other) => natives.get(other)!)
      natives.set(sequence, native)
      return sequence
    })
  let sequences = openSequences()
  return {
    version: await getModuleVersion(),
    placement: {
      device: llama.gpu === false ? 'cpu' : deviceKind(llama.gpu, deviceNames),
      deviceNames,
      layers: model.gpuLayers,
      allLayers: insights.totalLayers,
      flashAttention,
      lanes,
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
      await context.dispose()
      for (const reader of readers) reader.dispose()
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
 * Finds what of the machine a model is to compute on. Where a build for GPUs finds no device, or none with room for a single
 * layer, it is the CPU's build that is used: the other one would still compute large batches on the device, or by other kernels.
 * @throws EngineError `model_refused`
 */
async function openMachine(options: EngineOptions): Promise<Machine> {
  if (options.gpu === 'auto') {
    const machine = await openBuild(options, 'auto')
    if (machine.llama.gpu === false || machine.fit.layers > 0) return machine
    await machine.llama.dispose()
  }
  return await openBuild(options, false)
}

async function openBuild(options: EngineOptions, gpu: EngineOptions['gpu']): Promise<Machine> {
  const { gpuMemoryShare, modelPath, contextSize, memoryLimitBytes = defaultMemoryLimit() } = options
  // Both thread settings by hand: the default of at least 4 threads fell to 0.5 tokens/s on 2 busy cores.
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
    const deviceNames = llama.gpu === false ? [] : await llama.getGpuDeviceNames()
    const { free } = await llama.getVramState()
    const room = {
      main: memoryLimitBytes - process.memoryUsage.rss(),
      gpu: Math.max(0, free - llama.vramPaddingSize),
    }
    const layers = deviceNames.length === 0 ? 0 : insights.totalLayers
    const fit = await fitInto(room, { layers, lanes: options.lanes }, estimateFor(insights, contextSize)).catch(
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

async function insightsOf(llama: Llama, modelPath: string): Promise<GgufInsights> {
  try {
    return await GgufInsights.from(await readGgufFileInfo(modelPath, { sourceType: 'filesystem' }), llama)
  } catch (cause) {
    throw new EngineError('model_refused', `${modelPath}: ${text(cause)}`, { cause })
  }
}

const estimateFor =
  (insights: GgufInsights, contextSize: number): Estimate =>
  async (layers, lanes) => {
    const model = await insights.estimateModelResourceRequirementsV2({ gpuLayers: layers })
    const context = await insights.estimateContextResourceRequirementsV2({
      contextSize,
      modelGpuLayers: layers,
      batchSize: BATCH_TOKENS,
      sequences: lanes,
      flashAttention: layers > 0 && insights.flashAttentionSupported,
    })
    return { main: model.cpuRam + context.cpuRam, gpu: model.gpuVram + context.gpuVram }
  }

async function loadModel(llama: Llama, modelPath: string, vocabOnly: boolean, gpuLayers = 0): Promise<LlamaModel> {
  return await llama.loadModel({ modelPath, vocabOnly, gpuLayers }).catch((cause: unknown) => {
    throw new EngineError('model_refused', `${modelPath}: ${text(cause)}`, { cause })
  })
}

function wrapSequence(
  sequence: LlamaContextSequence,
  table: DrawTable,
  reader: DistributionReader,
  vocabularySize: number,
  nativeOf: (other: LlamaSequence) => LlamaContextSequence,
): LlamaSequence {
  /** Largest relative error of a sum of so many float32 numbers (Higham, Accuracy and Stability of Numerical Algorithms, 4.2). */
  const rounding = vocabularySize * 2 ** -24

  /** Feeds tokens and takes the one that a draw selects after them. */
  const sample = async (
    feed: readonly Token[],
    draw: Draw,
    temperature: number,
  ): Promise<{ token: Token; logprob: number }> => {
    const last = feed.map((_, i) => i === feed.length - 1)
    const found = await reader.feed(sequence, feed, last, async ({ top, topLogit, totalWeight, near }) => {
      const largest = table.largestNoise(draw)
      const reach = temperature * (largest - noiseOf(draw, top))
      // No other token weighs more than all others together, which is often too little for any noise to make up for.
      const others = totalWeight - 1 + rounding * totalWeight
      const logits = new Map(Math.log(others) < -reach ? [[top, topLogit]] : await near(reach))
      const token = table.select(draw, logits, largest, temperature)
      return { token, logprob: logprobOf({ logit: logits.get(token)!, topLogit, totalWeight }) }
    })
    return found.at(-1)!
  }

  return {
    clear: () => sequence.clearHistory(),
    prefill: (tokens) => sequence.evaluateWithoutGeneratingNewTokens(native(tokens), { contextShift: NO_SHIFT }),
    copyFrom: (other, tokens) => copySequence(nativeOf(other), sequence, tokens),
    async keepPrefix(tokens) {
      const held = sequence.contextTokens
      const differ = tokens.findIndex((token, i) => token !== held[i])
      const common = differ === -1 ? tokens.length : differ
      await sequence.eraseContextTokenRanges([{ start: common, end: held.length }])
      // What the library could not drop alone, it has dropped with what is before.
      return sequence.nextTokenIndex
    },
    begin: (feed, seed, temperature) => {
      let next = feed
      let position = 0
      return {
        next: async () => {
          const sampled = await sample(next, { seed, position: position++ }, temperature)
          next = [sampled.token]
          return sampled
        },
      }
    },
    predict: (tokens, targets, draws) =>
      reader.feed(
        sequence,
        tokens,
        targets.map((target) => target !== null),
        async ({ top, near, logitOf, ...known }, i) => {
          const [target, draw] = [targets[i]!, draws?.[i] ?? null]
          const logit = await logitOf(target)
          if (draws === null)
            return { logprob: logprobOf({ ...known, logit }), evidence: Number.NaN, repair: Number.NaN }
          const reach = draw === null ? 0 : table.largestNoise(draw) - noiseOf(draw, top)
          return evidenceOf(target, { ...known, logit, near: await near(Math.max(EVIDENCE_REACH, reach)) }, draw)
        },
      ),
  }
}

/** Our ids as the library's branded ones, in an array of its own: the library keeps what it is given. */
function native(tokens: readonly Token[]): NativeToken[] {
  return [...tokens] as NativeToken[]
}

/** stdout belongs to the program that embeds the engine. */
function logger(_level: LlamaLogLevel, message: string): void {
  process.stderr.write(message.endsWith('\n') ? message : `${message}\n`)
}

function text(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
}
