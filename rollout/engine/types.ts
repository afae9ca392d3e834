import type { CacheType } from './backend.js'

/** A token id of the policy's vocabulary, 0 <= id < vocabularySize. */
export type Token = number

/** Text to token ids and back, for one GGUF's vocabulary. Loads no weights; safe on a coordinator without a GPU. */
export interface Tokenizer {
  readonly vocabularySize: number
  /** The Jinja chat template stored in the GGUF (`tokenizer.chat_template`). */
  readonly chatTemplate: string
  /** Tags such as `<tool_call>` that parse to one token even in plain text: untrusted text must not contain them. */
  readonly reservedTags: readonly string[]
  /**
   * NFC-normalised tokenisation.
   * @param special  `true` only for our own template text: control tokens such as `<|im_end|>` are then recognised
   */
  tokenize(text: string, special: boolean): Token[]
  detokenize(tokens: readonly Token[]): string
  isEndOfGeneration(token: Token): boolean
  close(): Promise<void>
}

/** What the policy sampled in one assistant turn. */
export interface SampledTurn {
  /** Sampled ids, in order; ends with an end-of-generation token when `stop` is `end`. Never empty. */
  readonly tokens: readonly Token[]
  /** Natural-log probability of each token under the full softmax at temperature 1; same length as `tokens`. */
  readonly logprobs: readonly number[]
  /** `end`: an end-of-generation token was sampled; `length`: the turn's token limit was reached. */
  readonly stop: 'end' | 'length'
}

/**
 * Where an episode draws its tokens from: a lane of the live engine on a node, the recorded body at the coordinator,
 * a scripted teacher when a supervised data set is written.
 */
export interface TokenSource {
  /**
   * Samples the next assistant turn.
   * @param feed       environment tokens since the previous turn (the prompt was given when the source was opened, so
   *                   the first call passes an empty array)
   * @param maxTokens  upper bound of the turn's length, >= 1
   * @param signal     an abort ends the rollout: half a turn is no rollout
   * @throws EngineError `context_full` when everything so far, `feed` and `maxTokens` exceed the lane's context; the lane
   *   is as before then
   */
  next(feed: readonly Token[], maxTokens: number, signal: AbortSignal): Promise<SampledTurn>
  /** Ends this rollout; idempotent. A group goes on without the lane. */
  close(): Promise<void>
}

/** One rollout to generate: lanes with equal prompts share one prefill. */
export interface SlotRequest {
  readonly prompt: readonly Token[]
  /** Sampler seed of each assistant turn, integers in 0 .. 2^32 - 1; as many as there may be turns. */
  readonly seeds: readonly number[]
  /** Of the draws, 0 or more; 0 takes the likeliest token. Default 1: the policy itself. Log-probabilities stay those at 1. */
  readonly temperature?: number
}

export interface EngineOptions {
  /** Path of the base GGUF. */
  readonly modelPath: string
  /** CPU threads of the engine process. */
  readonly threads: number
  /** Tokens per lane: prompt and everything after it. */
  readonly contextSize: number
  /** Rollouts generated in parallel at most; fewer where memory does not hold them. */
  readonly slots: number
  readonly gpu: 'auto' | false
  /** Of the lanes' caches; `q8_0` takes half of the memory, and flash attention. Default: `f16`. */
  readonly cacheType?: CacheType
  /** The only GPU that it may see, as CUDA and Vulkan number them. Default: all of them. */
  readonly gpuDevice?: number
  /** Share of the GPU's memory that it may take, 0 .. 1: layers that do not fit stay in main memory. Default: nearly all. */
  readonly gpuMemoryShare?: number
  /** Resident memory of the engine's process, weights included, beyond which it is killed. Default: 3/4 of the machine's. */
  readonly memoryLimitBytes?: number
}

/** What of the machine an engine may use: it can be changed while the engine runs. */
export type EngineResources = Pick<
  EngineOptions,
  'threads' | 'slots' | 'gpu' | 'gpuDevice' | 'gpuMemoryShare' | 'memoryLimitBytes'
>

/** A LoRA adapter file. The path must be named by its content hash: llama.cpp caches adapters by path for the model's life. */
export interface AdapterFile {
  readonly path: string
  readonly sha256: string
  /** What was published about it; the file must agree. */
  readonly shape?: AdapterShape
}

export interface AdapterShape {
  readonly rank: number
  readonly alpha: number
  /** As PEFT names them, for example `q_proj`. */
  readonly targetModules: readonly string[]
}

/** What decides one sampled token, see draw.ts. */
export interface Draw {
  /** Sampler seed of the turn, an integer in 0 .. 2^32 - 1. */
  readonly seed: number
  /** Of the token in the turn, from 0 on. */
  readonly position: number
}

/** What the policy's distribution says of a token, and of the draw that is said to have selected it. */
export interface TokenScore {
  /** Natural logarithm of the token's probability under the full softmax at temperature 1. */
  readonly logprob: number
  /** 1 - sum p^2: how probably an unrelated draw selects another token, and how densely near ties lie (docs/verification.md). */
  readonly expectedMismatch: number
  /** Nats: the least error of any logit with which the draw selects this token; 0: it does. NaN without a draw. */
  readonly logitError: number
}

/** The policy's inference engine: node-llama-cpp in a child process. Groups are generated together; all else runs alone, and calls queue. */
export interface Engine {
  readonly build: { readonly nodeLlamaCpp: string; readonly backend: string }
  /**
   * Puts the adapter (or, with `null`, the bare base) in force for everything that follows.
   * @throws EngineError `adapter_refused`: the policy before it stays in force
   */
  usePolicy(adapter: AdapterFile | null, signal: AbortSignal): Promise<void>
  /**
   * Opens rollouts that decode in lockstep as one batch, also with those of groups that are open already, and returns one token
   * source per request, in order. Those beyond the engine's lanes begin, in the order of coming, when an earlier one is
   * closed; until then their first turn is waited for. What is sampled does not depend on what else is open. The group is over
   * when all its sources are closed; until then calls other than this one wait.
   * @param signal  of the whole group: when it aborts, all lanes end
   * @throws EngineError `too_many_slots`, `context_full`, `engine_crashed`
   */
  openSlots(requests: readonly SlotRequest[], signal: AbortSignal): Promise<TokenSource[]>
  /** Log-probabilities (nats) of `tokens[from ..]` given what precedes each, under the policy in force. */
  score(tokens: readonly Token[], from: number, signal: AbortSignal): Promise<number[]>
  /**
   * Like `score`, with all that the distributions say of the tokens. Costs a look at the whole vocabulary per token.
   * @param draws  behind each of `tokens[from ..]`, null where nothing was sampled; left out: no `repair`
   */
  scoreTokens(
    tokens: readonly Token[],
    from: number,
    signal: AbortSignal,
    draws?: readonly (Draw | null)[],
  ): Promise<TokenScore[]>
  close(): Promise<void>
}
