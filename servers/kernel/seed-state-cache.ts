import { LRUCache } from 'lru-cache'
import type { Environment } from './define-environment.js'
import { generateSeedState, type SeedState, Session } from './session.js'

/** Opens sessions and keeps the most recently used seed environments: generating one costs far more than opening a session on it. */
export interface SeedStateCache {
  open(environment: Environment, seed: number): Session
}

export function createSeedStateCache(maxSeedStates = 256): SeedStateCache {
  const seedStates = new LRUCache<string, SeedState>({ max: maxSeedStates })
  return {
    open(environment, seed) {
      const name = `${environment.name}:${seed}`
      let seedState = seedStates.get(name)
      if (!seedState) {
        seedState = generateSeedState(environment, seed)
        seedStates.set(name, seedState)
      }
      return Session.open(seedState)
    },
  }
}
