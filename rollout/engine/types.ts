import type { CacheType } from './backend.js'

/** A token id of the policy's vocabulary, 0 <= id < vocabularySize. */
export type Token = number

/** Tokenizer of one GGUF's vocabulary. It loads no weights, so a coordinator without a GPU can use it. */
export interface Tokenizer {
  readonly vocabularySize: number
  /** The Jinja chat template stored in the GGUF (`tokenizer.chat_template`). */
  readonly chatTemplate: string
  /** Tags such as `<tool_call>` that parse to one token even in plain text: untrusted text must not contain them. */
  readonly reservedTags: readonly string[]
  /**
   * Tokenises NFC-normalised text.
   * @param special  `true` only for the program's own template text: control tokens such as `<|im_end|>` are then recognised
   */
  tokenize(text: string, special: boolean): Token[]
  detokenize(tokens: readonly Token[]): string
  isEndOfGeneration(token: Token): boolean
  close(): Promise<void>
}

/** The tokens that the policy sampled in one assistant turn. */
export interface SampledTurn {
  /** Sampled ids, in order; ends with an end-of-generation token when `stop` is `end`. Never empty. */
  readonly tokens: readonly Token[]
  /** Natural-log probability of each token under the full softmax at temperature 1; same length as `tokens`. */
  readonly logprobs: readonly number[]
  /** `end`: an end-of-generation token was sampled; `length`: the turn's token limit was reached. */
  readonly stop: 'end' | 'length'
}

/**
 * The source of an episode's sampled tokens. On a node it is a slot of the engine, and at the coordinator it is the recorded body. When a
 * supervised data set is written, it is a reference solution.
 */
export interface TokenSource {
  /**
   * Samples the next assistant turn.
   * @param feed       environment tokens since the previous turn (the prompt was given when the source was opened, so
   *                   the first call passes an empty array)
   * @param maxTokens  upper bound of the turn's length in tokens, >= 1
   * @param signal     an abort ends the rollout, because a partial turn is useless
   * @throws EngineError `context_full` when the tokens so far, `feed` and `maxTokens` exceed the slot's context. The slot
   *   stays usable
   */
  next(feed: readonly Token[], maxTokens: number, signal: AbortSignal): Promise<SampledTurn>
  /** Ends this rollout. The other rollouts of its group continue. Idempotent. */
  close(): Promise<void>
}

/** One rollout to generate. Slots with equal prompts share one prefill. */
export interface SlotRequest {
  readonly prompt: readonly Token[]
  /** Sampler seed of each assistant turn, integers in 0 .. 2^32 - 1. The list bounds the number of turns. */
  readonly seeds: readonly number[]
  /** Sampling temperature, 0 or more; 0 takes the likeliest token. Default 1: the policy itself. Log-probabilities are always at 1. */
  readonly temperature?: number
}

export interface EngineOptions {
  /** Path of the base GGUF. */
  readonly modelPath: string
  /** CPU threads of the engine process. */
  readonly threads: number
  /** Tokens per slot: prompt and everything after it. */
  readonly contextSize: number
  /** Maximal number of rollouts that decode in parallel; fewer if they do not fit in memory. */
  readonly slots: number
  readonly gpu: 'auto' | false
  /** Type of the slots' caches; `q8_0` needs half of the memory, and flash attention. Default: `f16`. */
  readonly cacheType?: CacheType
  /** Number of the only GPU that the engine may use, in the order of CUDA and Vulkan. Default: all GPUs. */
  readonly gpuDevice?: number
  /** Share of the GPU's memory that the engine may use, 0 .. 1. Layers that do not fit stay in main memory. Default: nearly all. */
  readonly gpuMemoryShare?: number
  /** Limit of the engine process's resident memory in bytes, weights included. Beyond it the process is killed. Default: 3/4 of the machine's. */
  readonly memoryLimitBytes?: number
}

/** The machine's resources that an engine may use. They can change while the engine runs. */
export type EngineResources = Pick<
  EngineOptions,
  'threads' | 'slots' | 'gpu' | 'gpuDevice' | 'gpuMemoryShare' | 'memoryLimitBytes'
>

/** A LoRA adapter file. Its path must contain its content hash: llama.cpp caches adapters by path until the model is freed. */
export interface AdapterFile {
  readonly path: string
  readonly sha256: string
  /** The published shape, which the file must have. */
  readonly shape?: AdapterShape
}

export interface AdapterShape {
  readonly rank: number
  readonly alpha: number
  /** PEFT's names of the projections, for example `q_proj`. */
  readonly targetModules: readonly string[]
}

/** The random draw of one sampled token, see gumbel-max.ts. */
export interface Draw {
  /** Sampler seed of the turn, an integer in 0 .. 2^32 - 1. */
  readonly seed: number
  /** Index of the token in its turn, from 0 on. */
  readonly position: number
}

/** Scores of a token under the policy's distribution, and of the draw that a node claims to have sampled it with. */
export interface TokenScore {
  /** Natural logarithm of the token's probability under the full softmax at temperature 1. */
  readonly logprob: number
  /** 1 - sum p^2: the probability that an unrelated draw selects another token, and the density of near ties (docs/explain/verification.md). */
  readonly expectedMismatch: number
  /** Minimal error of any logit, in nats, with which the draw selects this token; 0: the draw selects it. NaN without a draw. */
  readonly logitError: number
}

/** The policy's inference engine: node-llama-cpp in a child process. Groups decode together; every other call runs alone, and calls queue. */
export interface Engine {
  readonly build: { readonly nodeLlamaCpp: string; readonly backend: string }
  /**
   * Sets the adapter of all later calls; `null`: the bare base.
   * @throws EngineError `adapter_refused`; the previous policy stays active
   */
  usePolicy(adapter: AdapterFile | null, signal: AbortSignal): Promise<void>
  /**
   * Opens rollouts that decode in lockstep as one batch, together with other open groups. Returns one token source per request,
   * in order. Rollouts beyond the engine's slots begin in the order of opening, when an earlier one closes; their first turn
   * waits until then. The sampled tokens do not depend on other open rollouts. The group ends when all its sources are closed.
   * Until then, calls other than this one wait.
   * @param signal  of the whole group: when it aborts, all slots end
   * @throws EngineError `too_many_slots`, `context_full`, `engine_crashed`
   */
  openSlots(requests: readonly SlotRequest[], signal: AbortSignal): Promise<TokenSource[]>
  /** Returns the log-probabilities (nats) of `tokens[from ..]`, each given the tokens before it, under the current policy. */
  score(tokens: readonly Token[], from: number, signal: AbortSignal): Promise<number[]>
  /**
   * Scores `tokens[from ..]`, each given the tokens before it, under the current policy. It reads the whole vocabulary for each token.
   * @param draws  the draw of each of `tokens[from ..]`, null where nothing was sampled; left out: every `logitError` is NaN
   */
  scoreTokens(
    tokens: readonly Token[],
    from: number,
    signal: AbortSignal,
    draws?: readonly (Draw | null)[],
  ): Promise<TokenScore[]>
  close(): Promise<void>
}
