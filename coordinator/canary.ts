import {
  EpisodeError,
  type EpisodeLimits,
  groundTruthScript,
  promptOf,
  type Stage,
  type Task,
} from '../episode/index.js'
import { ConfigError } from './config.js'

const CANARIES = 3

/**
 * Prompts with continuations for which every publication carries the expected log-probabilities: the first turns of the
 * teacher on the first tasks of the run.
 * @throws ConfigError when the limits leave no room for these tasks
 */
export function canaryProbes(
  tasks: readonly Task[],
  stage: Stage,
  limits: EpisodeLimits,
): { readonly prompt: readonly number[]; readonly continuation: readonly number[] }[] {
  return tasks.slice(0, CANARIES).map((task) => ({
    prompt: fittingPrompt(task, stage, limits),
    continuation: stage.tokenizer.tokenize(groundTruthScript(task)[0]!, true),
  }))
}

function fittingPrompt(task: Task, stage: Stage, limits: EpisodeLimits): readonly number[] {
  try {
    return promptOf(task, stage, limits)
  } catch (cause) {
    if (!(cause instanceof EpisodeError)) throw cause
    throw new ConfigError(`limits.maxRolloutTokens is too small for the tasks: ${cause.message}`, { cause })
  }
}
