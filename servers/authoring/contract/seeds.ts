import { type Environment, generateSeedState, type SeedState, Session } from '../../kernel/index.js'

/** Seeds of the sessions in which calls are made. */
export const SEEDS: readonly number[] = Array.from({ length: 20 }, (_, i) => i + 1)

/** Returns a function that opens sessions of the n-th seed, whose state is made once. */
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
