import { type Engine, EngineError, type Token, type Tokenizer } from '../../rollout/engine/index.js'

/** How fast rollouts come out of an engine. */
export interface EngineSpeed {
  /** For a prompt that all rollouts of a group share, in tokens per second. */
  readonly promptPerSecond: number
  /** Of all rollouts together. */
  readonly sampledPerSecond: number
}

export interface SpeedTrial {
  /** Rollouts generated in lockstep. */
  readonly slots: number
  readonly promptTokens: number
  /** Sampled per rollout. */
  readonly sampledTokens: number
}

/** Between two turns of a trial, where the model ends one: as much as a short answer of a tool. */
const FEED_TOKENS = 12
/** Some turns that end early, and the least that the engine takes. */
const CONTEXT_BESIDE = 256
const TEXT = 'The parcel leaves the harbour on Tuesday, and the clerk writes down who has paid for it. '

/**
 * Plays a group that is about nothing: a shared prompt, and then turns until each rollout has sampled so many tokens.
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
  // Each lane's first token comes when the prompt is computed.
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
            // A model that ends turn after turn has filled its context with feeds, and done its share.
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

/** Tokens that each lane of such a trial has room for. */
export const contextFor = ({ promptTokens, sampledTokens }: SpeedTrial): number =>
  promptTokens + 2 * sampledTokens + CONTEXT_BESIDE

function promptOf(tokenizer: Tokenizer, length: number): Token[] {
  const sentence = tokenizer.tokenize(TEXT, false)
  return Array.from({ length }, (_, i) => sentence[i % sentence.length]!)
}

/** How long a group takes at a speed (s). */
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
