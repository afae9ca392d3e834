import { type Engine, EngineError, type Token, type Tokenizer } from '../../rollout/engine/index.js'

/** Speed of an engine. */
export interface EngineSpeed {
  /** Tokens per second of a prompt that all rollouts of a group share. */
  readonly promptPerSecond: number
  /** Sampled tokens per second over all rollouts. */
  readonly sampledPerSecond: number
}

/** A group without a task, for a measurement. */
export interface SpeedTrial {
  /** Rollouts generated in lockstep. */
  readonly slots: number
  readonly promptTokens: number
  /** Sampled tokens per rollout. */
  readonly sampledTokens: number
}

/** Tokens between two turns of a trial: as many as in a short answer of a tool. */
const FEED_TOKENS = 12
/** Extra context for turns that end early, and for the engine's minimum. */
const EXTRA_CONTEXT = 256
const TEXT = 'The parcel leaves the harbour on Tuesday, and the clerk writes down who has paid for it. '

/**
 * Measures the speed with a shared prompt, and then turns until each rollout has sampled its tokens.
 * @throws EngineError; the signal's reason
 */
export async function measureSpeed(
  { engine, tokenizer }: { readonly engine: Pick<Engine, 'openSlots'>; readonly tokenizer: Tokenizer },
  { slots, promptTokens, sampledTokens }: SpeedTrial,
  signal: AbortSignal,
): Promise<EngineSpeed> {
  const prompt = promptOf(tokenizer, promptTokens)
  const begun = performance.now()
  const requests = Array.from({ length: slots }, (_, slot) => ({
    prompt,
    seeds: Array.from({ length: sampledTokens }, (_, turn) => slot * sampledTokens + turn),
  }))
  const sources = await engine.openSlots(requests, signal)
  // The first token of each slot shows that the prompt is computed.
  let begunSlots = 0
  let opened = begun
  const counts = await Promise.all(
    sources.map(async (source) => {
      try {
        let sampled = 0
        while (sampled < sampledTokens) {
          const feed = sampled < 2 ? [] : prompt.slice(0, FEED_TOKENS)
          const atMost = sampled === 0 ? 1 : sampledTokens - sampled
          const turn = await source.next(feed, atMost, signal).catch((error: unknown) => {
            // A model that ends every turn early fills its context, and has sampled enough.
            if (error instanceof EngineError && error.code === 'context_full') return null
            throw error
          })
          if (turn === null) break
          if (sampled === 0 && ++begunSlots === slots) opened = performance.now()
          sampled += turn.tokens.length
        }
        return sampled
      } finally {
        await source.close()
      }
    }),
  )
  const [promptSeconds, seconds] = [(opened - begun) / 1000, (performance.now() - opened) / 1000]
  const after = counts.reduce((sum, count) => sum + count, 0) - slots
  return {
    promptPerSecond: promptTokens / promptSeconds,
    sampledPerSecond: after > 0 ? after / seconds : slots / promptSeconds,
  }
}

/** Returns the context size of a trial. */
export const contextFor = ({ promptTokens, sampledTokens }: SpeedTrial): number =>
  promptTokens + 2 * sampledTokens + EXTRA_CONTEXT

function promptOf(tokenizer: Tokenizer, length: number): Token[] {
  const sentence = tokenizer.tokenize(TEXT, false)
  return Array.from({ length }, (_, i) => sentence[i % sentence.length]!)
}

/** Returns the duration of a group at a speed (s). */
export const groupSeconds = (
  { promptPerSecond, sampledPerSecond }: EngineSpeed,
  { slots, promptTokens, sampledTokens }: SpeedTrial,
): number => promptTokens / promptPerSecond + (slots * sampledTokens) / sampledPerSecond

/** A short trial of a group. */
const TRIAL = { promptTokens: 64, sampledTokens: 8 }
/** A machine that finishes groups in time samples the trial's tokens in a fraction of this. */
const TRIAL_MS = 30_000

/**
 * Measures the speed in groups of this many rollouts.
 * @returns tokens per second; null if the trial takes longer than 30 seconds
 * @throws the signal's reason
 */
export async function trySpeed(
  parts: Parameters<typeof measureSpeed>[0],
  rollouts: number,
  signal: AbortSignal,
): Promise<number | null> {
  const tooLong = AbortSignal.timeout(TRIAL_MS)
  try {
    const trial = { ...TRIAL, slots: rollouts }
    return (await measureSpeed(parts, trial, AbortSignal.any([signal, tooLong]))).sampledPerSecond
  } catch (error) {
    signal.throwIfAborted()
    if (tooLong.aborted) return null
    throw error
  }
}
