/** Tokens per decode. It bounds how long an abort waits on a prefill, since a decode in progress cannot be interrupted. */
export const BATCH_TOKENS = 512

/** Tokens per decode when evidence is wanted: tokens near the likeliest are named for each, up to a vocabulary of 150,000. */
export const SCORED_BATCH_TOKENS = 16

/** Sequences one llama.cpp context can hold. */
export const MAX_SLOTS = 256

/** Largest temperature: far beyond it nothing is left of the policy. */
export const MAX_TEMPERATURE = 10

/** Largest sampler seed. */
export const MAX_SEED = 2 ** 32 - 1

/**
 * How long a pass waits for the next feed of a lane whose turn has ended. Tools that run in process answer within
 * milliseconds, so the batch stays full and its composition deterministic; slower ones rejoin at a later pass.
 */
export const SLOT_WAIT_MS = 250

/**
 * Adapter swaps after which the engine's process is replaced: llama.cpp frees adapters only with their model, and 30
 * adapters of 0.63 MB were measured to hold 49 MB.
 */
export const RECYCLE_AFTER_SWAPS = 16

/** For loading a base model from a slow disk; after it the process is ended and the call fails. */
export const START_TIMEOUT_MS = 180_000

/**
 * By which a device is tried. With two, the next larger prefill ended in Mesa's Vulkan driver for CPUs (22.3), also where they were
 * no trial; after 24 none did.
 */
export const TRIAL_TOKENS = 32

/** For the first tokens on a device, before which its driver may have to compile all that it computes with. */
export const TRIAL_TIMEOUT_MS = 600_000

/** For creating a context with another adapter. */
export const SWAP_TIMEOUT_MS = 60_000

/** From a cancelled call, or a closed group, to the engine being idle: one decode, so seconds at most. */
export const SETTLE_TIMEOUT_MS = 30_000

/** From asking the process to end to killing it. */
export const STOP_TIMEOUT_MS = 3_000

/** What is kept of the process's stderr, to explain a crash: a reason, and a stack after it. */
export const STDERR_TAIL_CHARS = 16_000

/** After the process has ended, for the rest of its stderr to be read. */
export const STDERR_WAIT_MS = 200
