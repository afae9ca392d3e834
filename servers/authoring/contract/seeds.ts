import { generateWorld, type SeedWorld, type ServerDefinition, Session } from '../../kernel/index.js'

/** Seeds of the worlds that are played in. */
export const SEEDS: readonly number[] = Array.from({ length: 20 }, (_, i) => i + 1)

/** Opens sessions of the world of the n-th seed, made once. */
export function openerOf(server: ServerDefinition): (index: number) => Session {
  const worlds = new Map<number, SeedWorld>()
  return (index) => {
    const seed = SEEDS[index % SEEDS.length]!
    let world = worlds.get(seed)
    if (!world) {
      world = generateWorld(server, seed)
      worlds.set(seed, world)
    }
    return Session.open(world)
  }
}
