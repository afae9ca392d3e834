import { type Environment, generateSeedState, type SeedState, Session } from '../../kernel/index.js'

/** Seeds of the worlds that are played in. */
export const SEEDS: readonly number[] = Array.from({ length: 20 }, (_, i) => i + 1)

/** Opens sessions of the world of the n-th seed, made once. */
export function openerOf(environment: Environment): (index: number) => Session {
  const environments = new Map<number, SeedState>()
  return (index) => {
    const seed = SEEDS[index % SEEDS.length]!
    let seedState = environments.get(seed)
    if (!seedState) {
      seedState = generateSeedState(environment, seed)
      environments.set(seed, seedState)
    }
    return Session.open(seedState)
  }
}
