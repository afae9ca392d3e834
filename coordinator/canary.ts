import { type EpisodeLimits, groundTruthScript, promptOf, type Stage, type Task } from '../episode/index.js'

const CANARIES = 3

/**
 * Prompts with continuations for which every publication carries the expected log-probabilities: the first turns of the
 * teacher on the first tasks of the run.
 */
export function canaryProbes(
  tasks: readonly Task[],
  stage: Stage,
  limits: EpisodeLimits,
): { readonly prompt: readonly number[]; readonly continuation: readonly number[] }[] {
  return tasks.slice(0, CANARIES).map((task) => ({
    prompt: promptOf(task, stage, limits),
    continuation: stage.tokenizer.tokenize(groundTruthScript(task)[0]!, true),
  }))
}
