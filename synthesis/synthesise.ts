import type { Task } from '../episode/index.js'
import {
  deriveSeed,
  type SeededRandom,
  type ServerDefinition,
  seededRandom,
  type WorldCache,
} from '../servers/kernel/index.js'
import { type Chain, type Split, splitChains } from './chains.js'
import { DEFAULT_TASK_SETTINGS, makeTask, type TaskSettings } from './make-task.js'

export interface SynthesisSettings {
  readonly seed: number
  readonly split: Split
  readonly count: number
  /** Shares of chain lengths 2, 3 and 4; they need not sum to 1. */
  readonly lengthWeights?: readonly [two: number, three: number, four: number]
  readonly task?: TaskSettings
}

/** Worlds of the two splits never coincide: training worlds have even seeds, held-out worlds odd ones. */
const WORLD_SEEDS = 2 ** 31

/**
 * Attempts at tasks in one world before the next one is generated (the paper renews its sampling context every k
 * conversations, section 3.2, without saying k). Generating a world costs more than everything else here.
 */
const ATTEMPTS_PER_WORLD = 12

/** The server takes part in no chain of the split, so no task can be made from it. */
export class SynthesisError extends Error {
  override readonly name = 'SynthesisError'
  constructor(
    readonly code: 'no_chains' | 'no_yield',
    message: string,
  ) {
    super(`${code}: ${message}`)
  }
}

/**
 * Makes `count` different tasks, one after the other; the same settings and servers give the same tasks on every
 * machine. Servers take turns; chain lengths follow their weights; a chain that finds nothing in a world is tried again
 * with another world and another chain.
 * @throws SynthesisError when a server has no chains, or 2,000 attempts in a row yield nothing
 */
export function* synthesise(
  servers: readonly ServerDefinition[],
  worlds: WorldCache,
  settings: SynthesisSettings,
): Generator<Task> {
  const random = seededRandom(deriveSeed('prove/synthesis/1', settings.seed, settings.split))
  const weights = settings.lengthWeights ?? [0.45, 0.4, 0.15]
  const pools = servers.map((server) => {
    const { train, heldOut } = splitChains(server)
    const chains = settings.split === 'train' ? train : heldOut
    if (chains.length === 0) throw new SynthesisError('no_chains', `${server.name} has no ${settings.split} chains`)
    const byLength = weights.map((weight, i) => ({
      weight,
      chains: chains.filter(({ tools }) => tools.length === i + 2),
    }))
    return { byLength, worldSeed: 0, attemptsLeft: 0 }
  })
  const seen = new Set<string>()
  let barren = 0
  for (let made = 0; made < settings.count; ) {
    const pool = pools[made % pools.length]!
    if (pool.attemptsLeft-- === 0) {
      pool.worldSeed = random.int(0, WORLD_SEEDS / 2 - 1) * 2 + (settings.split === 'train' ? 0 : 1)
      pool.attemptsLeft = ATTEMPTS_PER_WORLD - 1
    }
    const chain = pickChain(pool.byLength, random)
    const task = makeTask(chain, pool.worldSeed, servers, worlds, random, settings.task ?? DEFAULT_TASK_SETTINGS)
    if (!task || seen.has(task.id)) {
      if (++barren === 2000) throw new SynthesisError('no_yield', `${chain.server.name}: nothing in 2,000 attempts`)
      continue
    }
    barren = 0
    seen.add(task.id)
    made++
    yield task
  }
}

type ChainsByLength = readonly { readonly weight: number; readonly chains: readonly Chain[] }[]

/** A length by weight, then a tool, then a chain through it: otherwise the best-connected tools would crowd out the rest. */
function pickChain(byLength: ChainsByLength, random: SeededRandom): Chain {
  const stocked = byLength.filter(({ weight, chains }) => weight > 0 && chains.length > 0)
  const total = stocked.reduce((sum, { weight }) => sum + weight, 0)
  let left = (random.int(0, 999_999) / 1_000_000) * total
  const chosen = stocked.find(({ weight }) => {
    left -= weight
    return left < 0
  })
  const { chains } = chosen ?? stocked.at(-1)!
  const tool = random.pick([...new Set(chains.flatMap(({ tools }) => tools))])
  return random.pick(chains.filter(({ tools }) => tools.includes(tool)))
}
