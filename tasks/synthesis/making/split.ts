import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Split } from '../../dataset/profile.js'
import type { Node } from '../graph.js'

/** A sequence of tools, each with an edge from the one before it. No tool occurs twice. */
export type Chain = readonly Node[]

/** The paper’s chains have two to five tools (section 3.2). */
export const SHORTEST = 2
export const LONGEST = 5
export const CHAIN_LENGTHS = [2, 3, 4, 5] as const

/** Shortest run of tools that counts as a separate chain when splits are kept apart. */
const MIN_PART = 2
/** One chain in this many is held out, and of the others one in so many is for validation. */
const HELD_OUT_EVERY = 20
const VALIDATION_EVERY = 25

/** `banking:list_accounts>freeze_card`, and `crm:show_company>maps:geocode_address` where the environment changes. */
export function chainName(chain: Chain): string {
  return chain
    .map(({ environment, tool }, i) =>
      environment === chain[i - 1]?.environment ? tool.name : `${environment.name}:${tool.name}`,
    )
    .join('>')
}

/** What was found out about names: the same few thousand are asked for again and again, and hashing took a tenth of the time. */
const known = new LRUCache<string, Split>({ max: 50_000 })

const draw = (label: string, name: string): number =>
  createHash('sha256').update(`${label} ${name}`).digest().readUInt32LE(0)

function ownSplit(name: string): Split {
  let split = known.get(name)
  if (split === undefined) {
    split = drawnSplit(name)
    known.set(name, split)
  }
  return split
}

function drawnSplit(name: string): Split {
  if (draw('prove/held-out/1', name) % HELD_OUT_EVERY === 0) return 'held-out'
  return draw('prove/validation/1', name) % VALIDATION_EVERY === 0 ? 'validation' : 'train'
}

/**
 * Returns the split that a chain belongs to for good. It depends on the names of the chain's tools alone. So it is the same for every
 * seed, data set and machine. A training chain that runs through a chain of another split belongs to none. So what is
 * held out does not occur in training, not even as a part.
 * @param chain  a name alone stands for itself
 * @param heldOutEnvironments  environments that are held out whole: every chain that touches one
 */
export function splitOf(
  chain: Chain | string,
  heldOutEnvironments: ReadonlySet<string> = new Set(),
): Split | undefined {
  if (typeof chain === 'string') return ownSplit(chain)
  if (chain.some(({ environment }) => heldOutEnvironments.has(environment.name))) return 'held-out'
  const split = ownSplit(chainName(chain))
  if (split === 'held-out') return split
  const parts = partsOf(chain).map((part) => ownSplit(chainName(part)))
  if (parts.includes('held-out')) return undefined
  return split === 'train' && parts.includes('validation') ? undefined : split
}

/** Every contiguous run of at least two tools, shorter than the chain itself. */
function partsOf(chain: Chain): Chain[] {
  return chain.flatMap((_, from) =>
    chain
      .slice(from + MIN_PART - 1)
      .map((_, more) => chain.slice(from, from + MIN_PART + more))
      .filter((part) => part.length < chain.length),
  )
}
