import type { EpisodeRuntime } from './episode-runtime.js'
import type { EpisodeLimits } from './limits.js'
import { createReferenceSource, referenceScript } from './reference-source.js'
import type { Rollout } from './rollout.js'
import { runEpisode } from './run-episode.js'
import type { Task } from './task.js'

/**
 * Plays the reference solution of a task as an episode. The demonstration has the exact form of a rollout: the same prompt, the same
 * tool results, and a mask over the tokens of the assistant.
 * @throws EpisodeError for a task that cannot be played; the signal's reason
 */
export const playReference = (
  task: Task,
  runtime: EpisodeRuntime,
  limits: EpisodeLimits,
  signal: AbortSignal,
): Promise<Rollout> =>
  runEpisode(task, createReferenceSource(referenceScript(task, runtime, limits), runtime), runtime, limits, signal)
