import { LRUCache } from 'lru-cache'
import { type Catalogue, statesAtEnd, type Task, type WorldStates } from '../../rollout/episode/index.js'
import { createWorldCache, type ServerDefinition, type WorldCache } from '../kernel/index.js'

/** What all episodes of a process share. It holds memory and nothing else. */
export interface TaskStage {
  readonly catalogue: Catalogue
  readonly worlds: WorldCache
  /** @throws EpisodeError `bad_task` when its ground truth cannot be carried out */
  statesAtEnd(task: Task): WorldStates
}

/** End states that are kept: finding one takes as long as a rollout, and a group asks for it many times. */
const KEPT_STATES = 1024

export function createTaskStage(catalogue: ReadonlyMap<string, ServerDefinition>): TaskStage {
  const worlds = createWorldCache()
  const states = new LRUCache<string, WorldStates>({ max: KEPT_STATES })
  return {
    catalogue,
    worlds,
    statesAtEnd(task) {
      let known = states.get(task.id)
      if (!known) {
        known = statesAtEnd(task, catalogue, worlds)
        states.set(task.id, known)
      }
      return known
    },
  }
}
