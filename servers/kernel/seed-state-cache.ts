import { LRUCache } from 'lru-cache'
import type { ServerDefinition } from './define-environment.js'
import { generateWorld, type SeedWorld, Session } from './session.js'

/** Opens sessions and keeps the most recently used seed worlds: generating one costs far more than opening a session on it. */
export interface WorldCache {
  open(server: ServerDefinition, seed: number): Session
}

export function createWorldCache(maxWorlds = 256): WorldCache {
  const worlds = new LRUCache<string, SeedWorld>({ max: maxWorlds })
  return {
    open(server, seed) {
      const name = `${server.name}:${seed}`
      let world = worlds.get(name)
      if (!world) {
        world = generateWorld(server, seed)
        worlds.set(name, world)
      }
      return Session.open(world)
    },
  }
}
