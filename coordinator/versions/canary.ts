import { type Canary, LIMITS } from '../../proto/index.js'
import { type EpisodeLimits, type EpisodeRuntime, referenceScript, type Task } from '../../rollout/episode/index.js'
import type { CanaryTokens } from '../jobs/reference-scores.js'
import type { TrainerStep } from '../jobs/step-folder.js'
import { fittingPrompt } from '../settings/first-prompts.js'

/** Canaries of a publication. */
const CANARIES = 3

/**
 * Returns the prompts and continuations for which every publication states log-probabilities. They are the first turns of the
 * reference solutions of the first tasks that fit a canary, in the form of `trainer.json` (docs/reference/trainer.md).
 * @param count  largest number of canaries
 * @throws ConfigError when the limits are too small for these tasks
 */
export function canaryPrompts(
  tasks: readonly Task[],
  runtime: EpisodeRuntime,
  limits: EpisodeLimits,
  count = CANARIES,
): CanaryTokens[] {
  const canaries: CanaryTokens[] = []
  for (const task of tasks) {
    if (canaries.length === count) break
    const prompt = fittingPrompt(task, runtime, limits)
    const continuation = runtime.tokenizer.tokenize(referenceScript(task, runtime, limits)[0]!, true)
    // The context of a volunteer may have exactly the size of a rollout.
    if (prompt.length + continuation.length <= Math.min(LIMITS.canaryTokens.value, limits.maxRolloutTokens))
      canaries.push({ prompt, continuation })
  }
  return canaries
}

/** Converts the canaries that the trainer computed into those of a publication. */
export function canariesOf(scored: TrainerStep['canaries']): Canary[] {
  return scored.map(({ prompt, continuation, base, adapter }) => ({
    promptTokens: prompt,
    continuationTokens: continuation,
    baseLogprobs: base,
    policyLogprobs: adapter,
  }))
}
