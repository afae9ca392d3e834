/** Tokens per decode. It bounds how long an abort waits on a prefill, since a decode in progress cannot be interrupted. */
export const BATCH_TOKENS = 512

/** Tokens per decode for token scores: each transfers the tokens near the likeliest one, up to a vocabulary of 150,000. */
export const SCORED_BATCH_TOKENS = 16

/** Sequences one llama.cpp context can hold. */
export const MAX_SLOTS = 256

/** Largest temperature: far above it, sampling no longer depends on the policy. */
export const MAX_TEMPERATURE = 10

/** Largest sampler seed. */
export const MAX_SEED = 2 ** 32 - 1

/**
 * Milliseconds that a pass waits for the next feed of a slot whose turn has ended. Tools in the same process answer within
 * milliseconds, so the batch stays full and its composition deterministic. Slower ones rejoin at a later pass.
 */
export const SLOT_WAIT_MS = 250

/**
 * Adapter swaps after which the engine's process is replaced. llama.cpp frees adapters only with their model, and 30
 * adapters of 0.63 MB used 49 MB in a measurement.
 */
export const RECYCLE_AFTER_SWAPS = 16

/** Time limit to load a base model from a slow disk. After it the process is killed and the call fails. */
export const START_TIMEOUT_MS = 180_000

/**
 * Tokens with which a device is tested. After a first decode of two tokens, the next larger prefill crashed Mesa's Vulkan driver for
 * CPUs (22.3); after 24 tokens it did not.
 */
export const TRIAL_TOKENS = 32

/** Time limit for the first tokens on a device, whose driver may compile all kernels first. */
export const TRIAL_TIMEOUT_MS = 600_000

/** Time limit to create a context with another adapter. */
export const SWAP_TIMEOUT_MS = 60_000

/** Time limit from a cancelled call, or a closed group, until the engine is idle: one decode takes seconds at most. */
export const SETTLE_TIMEOUT_MS = 30_000

/** Time that a process has to end by itself before it is killed. */
export const STOP_TIMEOUT_MS = 3_000

/** Characters of the process's stderr that are kept to explain a crash: a reason, and a stack after it. */
export const STDERR_TAIL_CHARS = 16_000

/** Time to read the rest of stderr after the process has ended. */
export const STDERR_WAIT_MS = 200
