import { type Canary, LIMITS } from '../../proto/index.js'
import { type EpisodeLimits, type EpisodeRuntime, groundTruthScript, type Task } from '../../rollout/episode/index.js'
import type { TrainerStep } from '../jobs/step-folder.js'
import { fittingPrompt } from '../settings/first-prompts.js'

const CANARIES = 3
/** What the trainer is asked about each canary, in the form of `trainer.json` (docs/trainer.md). */
export interface CanaryPrompt {
  readonly prompt: readonly number[]
  readonly continuation: readonly number[]
}

/**
 * Prompts with continuations for which every publication carries the expected log-probabilities: the first turns of the
 * teacher on the first tasks of the run that fit a canary.
 * @throws ConfigError when the limits leave no room for these tasks
 */
export function canaryPrompts(tasks: readonly Task[], runtime: EpisodeRuntime, limits: EpisodeLimits): CanaryPrompt[] {
  const canaries: CanaryPrompt[] = []
  for (const task of tasks) {
    if (canaries.length === CANARIES) break
    const prompt = fittingPrompt(task, runtime, limits)
    const continuation = runtime.tokenizer.tokenize(groundTruthScript(task, runtime.toolCallFormat)[0]!, true)
    // A volunteer may have room for a rollout, and for no token more.
    if (prompt.length + continuation.length <= Math.min(LIMITS.canaryTokens.value, limits.maxRolloutTokens))
      canaries.push({ prompt, continuation })
  }
  return canaries
}

/** The canaries of a publication from what the trainer computed. */
export function canariesOf(scored: TrainerStep['canaries']): Canary[] {
  return scored.map(({ prompt, continuation, base, adapter }) => ({
    promptTokens: prompt,
    continuationTokens: continuation,
    baseLogprobs: base,
    policyLogprobs: adapter,
  }))
}
