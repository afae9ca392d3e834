import { draws } from '../../engine/sampler-draws.js'
import { type EpisodeLimits, groundTruthScript, type Stage, type Task } from '../../episode/index.js'
import { type Canary, LIMITS } from '../../proto/index.js'
import { fittingPrompt } from '../settings/first-prompts.js'
import type { TrainerStep } from '../spool/step-folder.js'

const CANARIES = 3
/** Draws the trainer may choose from: a token of probability 0.01 comes up five times. */
const CANDIDATES = 512
/** Seeds over their whole range, so that one which loses its upper bits on the way shows. Odd, hence all different. */
const SEED_STRIDE = 2_654_435_761
const SEEDS = 2 ** 32 - 1

/** What the trainer is asked about each canary, in the form of `trainer.json` (docs/trainer.md). */
export interface CanaryPrompt {
  readonly prompt: readonly number[]
  readonly continuation: readonly number[]
  /** Sampler seeds, each with the uniform number that decides the first token under it. */
  readonly draws: readonly { readonly seed: number; readonly u: number }[]
}

/**
 * Prompts with continuations for which every publication carries the expected log-probabilities: the first turns of the
 * teacher on the first tasks of the run that fit a canary.
 * @throws ConfigError when the limits leave no room for these tasks
 */
export function canaryPrompts(tasks: readonly Task[], stage: Stage, limits: EpisodeLimits): CanaryPrompt[] {
  const candidates = Array.from({ length: CANDIDATES }, (_, i) => {
    const seed = (i * SEED_STRIDE) % SEEDS
    return { seed, u: draws(seed, 1)[0]! }
  })
  const canaries: CanaryPrompt[] = []
  for (const task of tasks) {
    if (canaries.length === CANARIES) break
    const prompt = fittingPrompt(task, stage, limits)
    const continuation = stage.tokenizer.tokenize(groundTruthScript(task, stage.dialect)[0]!, true)
    // A volunteer may have room for a rollout, and for no token more.
    if (prompt.length + continuation.length <= Math.min(LIMITS.canaryTokens.value, limits.maxRolloutTokens))
      canaries.push({ prompt, continuation, draws: candidates })
  }
  return canaries
}

/**
 * The canaries of a publication from what the trainer computed. Draws come once, at the place of all where an unrelated
 * sampler would miss most of them: a volunteer pays for one more prompt, and that place shows enough.
 */
export function canariesOf(scored: TrainerStep['canaries']): Canary[] {
  const canaries = scored.map(
    ({ prompt, continuation, base, adapter }): Canary => ({
      promptTokens: prompt,
      continuationTokens: continuation,
      baseLogprobs: base,
      policyLogprobs: adapter,
      draws: [],
    }),
  )
  const [best] = scored.toSorted((a, b) => b.draws.evidence - a.draws.evidence)
  if (!best || best.draws.tokens.length === 0) return canaries
  const { after, tokens } = best.draws
  const drawn: Canary = {
    promptTokens: [...best.prompt, ...best.continuation.slice(0, after)],
    continuationTokens: best.continuation.slice(after, after + 1),
    baseLogprobs: best.base.slice(after, after + 1),
    policyLogprobs: best.adapter.slice(after, after + 1),
    draws: tokens.map(({ seed, token }) => ({ seed, firstTokens: [token] })),
  }
  return [...canaries, drawn]
}
