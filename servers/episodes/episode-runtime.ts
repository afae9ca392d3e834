import { LRUCache } from 'lru-cache'
import { type Catalogue, type EnvironmentStates, statesAtEnd, type Task } from '../../rollout/episode/index.js'
import { createSeedStateCache, type Environment, type SeedStateCache } from '../kernel/index.js'

/** What all episodes of a process share. It holds memory and nothing else. */
export interface TaskRuntime {
  readonly catalogue: Catalogue
  readonly seedStates: SeedStateCache
  /** @throws EpisodeError `bad_task` when its ground truth cannot be carried out */
  statesAtEnd(task: Task): EnvironmentStates
}

/** End states that are kept: finding one takes as long as a rollout, and a group asks for it many times. */
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
