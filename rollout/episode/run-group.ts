import type { Engine } from '../engine/types.js'
import type { EpisodeRuntime } from './episode-runtime.js'
import type { EpisodeLimits } from './limits.js'
import type { Rollout } from './rollout.js'
import { promptOf, runEpisode } from './run-episode.js'
import { samplerSeed } from './seeds.js'
import type { Task } from './task.js'

/** Returns the sampler seeds of all possible turns of a rollout. They depend only on the lease's seed, so the node cannot choose them. */
export function turnSeeds(leaseSeed: Uint8Array, rollout: number, limits: EpisodeLimits): number[] {
  return Array.from({ length: limits.maxAssistantTurns }, (_, turn) => samplerSeed(leaseSeed, rollout, turn))
}

/**
 * Generates the rollouts of one group in lockstep. If one rollout fails, the group fails.
 * @param rollouts  G, the number of rollouts
 */
export async function runGroup(
  task: Task,
  rollouts: number,
  leaseSeed: Uint8Array,
  engine: Pick<Engine, 'openSlots'>,
  runtime: EpisodeRuntime,
  limits: EpisodeLimits,
  signal: AbortSignal,
): Promise<Rollout[]> {
  const prompt = promptOf(task, runtime, limits)
  const requests = Array.from({ length: rollouts }, (_, i) => ({ prompt, seeds: turnSeeds(leaseSeed, i, limits) }))
  const sources = await engine.openSlots(requests, signal)
  return runAll(
    sources.map((source) => (inner) => runEpisode(task, source, runtime, limits, inner)),
    signal,
  )
}

/** Runs all functions concurrently. The first failure aborts the others, and is thrown after all of them have ended. */
export async function runAll<T>(
  starts: readonly ((signal: AbortSignal) => Promise<T>)[],
  signal: AbortSignal,
): Promise<T[]> {
  const failed = new AbortController()
  const joined = AbortSignal.any([signal, failed.signal])
  const settled = await Promise.allSettled(
    starts.map(async (start) => {
      try {
        return await start(joined)
      } catch (error) {
        failed.abort(error)
        throw error
      }
    }),
  )
  if (failed.signal.aborted) throw failed.signal.reason
  return settled.map((result) => (result as PromiseFulfilledResult<T>).value)
}
