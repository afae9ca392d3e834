import { LRUCache } from 'lru-cache'
import { type Catalogue, type EnvironmentStates, statesAtEnd, type Task } from '../../rollout/episode/index.js'
import { createSeedStateCache, type Environment, type SeedStateCache } from '../kernel/index.js'

/** Caches that all episodes of a process share. They need no clean-up. */
export interface TaskRuntime {
  readonly catalogue: Catalogue
  readonly seedStates: SeedStateCache
  /** Returns the states after the ground truth. @throws EpisodeError `bad_task` if a ground-truth call fails */
  statesAtEnd(task: Task): EnvironmentStates
}

/** Size of the cache of end states. Computing one takes as long as a rollout, and a group needs it many times. */
const KEPT_STATES = 1024

export function createTaskRuntime(catalogue: ReadonlyMap<string, Environment>): TaskRuntime {
  const seedStates = createSeedStateCache()
  const states = new LRUCache<string, EnvironmentStates>({ max: KEPT_STATES })
  return {
    catalogue,
    seedStates,
    statesAtEnd(task) {
      let known = states.get(task.id)
      if (!known) {
        known = statesAtEnd(task, catalogue, seedStates)
        states.set(task.id, known)
      }
      return known
    },
  }
}
